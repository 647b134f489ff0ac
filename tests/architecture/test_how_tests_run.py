"""The Makefile runs what it says: a test that no target runs, or a group that is split, fails no build by itself."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_test_for_vllm_lies_where_make_test_vllm_looks() -> None:
    command = re.search(r"^test-vllm:.*\n\t(.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert command is not None
    folders = tuple(word + "/" for word in command.group(1).split() if word.startswith("tests/"))
    marked = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "tests").rglob("test_*.py")
        if re.search(r"mark\.vllm|\bVLLM\b", path.read_text()) and path != Path(__file__)
    }
    assert len(marked) >= 5
    assert {path for path in marked if not path.startswith(folders)} == set()


def test_tests_of_one_group_run_in_one_process(tmp_path: Path) -> None:
    """Groups share what takes a minute to start. pytest 9.2 with xdist 3.8 forgets them and says nothing."""
    lines = ["import os, pathlib, pytest", "pytestmark = pytest.mark.xdist_group('together')"]
    lines += [f"def test_{n}() -> None: pathlib.Path(str(os.getpid())).touch()" for n in range(6)]
    (tmp_path / "test_group.py").write_text("\n".join(lines))
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        "2",
        "--dist",
        "loadgroup",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:django",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len([path for path in tmp_path.iterdir() if path.name.isdecimal()]) == 1
