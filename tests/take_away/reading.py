"""What the programs in .venv-readers find in our files."""

import json
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-readers" / "bin" / "python"
SCRIPTS = Path(__file__).parent / "readers"


def read_by(script: str, path: Path) -> Any:
    """The last line that a script prints, as JSON."""
    done = subprocess.run([PYTHON, SCRIPTS / script, path], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-4_000:]
    return json.loads(done.stdout.strip().splitlines()[-1].lstrip("."))
