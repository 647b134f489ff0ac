"""Runs a script beside this file in Node: JSON in on stdin, JSON out on stdout."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent


def run_script(script: str, given: Any) -> Any:
    """What `script` answers to `given`. Skips clearly where there is no Node."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs Node (the set-up fetches it for the front-end packages)")
    done = subprocess.run(
        [node, str(HERE / script)], input=json.dumps(given), capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
