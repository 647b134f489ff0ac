"""Runs a small script in Node and reads the facts it prints."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent


def facts(script: str, *args: str) -> Any:
    """What `script` (a file beside this one) prints as JSON. Skips clearly where there is no Node."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs Node (the set-up fetches it for the front-end packages)")
    done = subprocess.run([node, str(HERE / script), *args], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
