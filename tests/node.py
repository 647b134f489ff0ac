"""Runs a script in Node: optional JSON on stdin, JSON on stdout."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent


def _run(script: Path, args: tuple[str, ...], given: str) -> Any:
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs Node (the set-up fetches it for the front-end packages)")
    done = subprocess.run([node, str(script), *args], input=given, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def run_script(script: str, given: Any) -> Any:
    """The answer of `script` (a file of tests/maths) to `given`. Skips the test without Node."""
    return _run(HERE / "maths" / script, (), json.dumps(given))


def facts(script: str, *args: str) -> Any:
    """The JSON that `script` (a file of tests/graph_js, or a full path) prints. Skips the test without Node."""
    return _run(HERE / "graph_js" / script, args, "")
