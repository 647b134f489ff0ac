"""`python -m apps.explorations.worked_example` writes script.json anew after a text was changed."""

import json

from apps.explorations.worked_example import script
from apps.explorations.worked_example.authored import HERE

(HERE / "script.json").write_text(json.dumps(script(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
