"""`python -m apps.explorations.worked_example` rewrites script.json after a change of the texts."""

import json

from apps.explorations.worked_example import script
from apps.explorations.worked_example.authored import HERE

(HERE / "script.json").write_text(json.dumps(script(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
