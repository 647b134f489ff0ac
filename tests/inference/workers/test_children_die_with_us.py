"""A child started by `tied_children` ends with its parent, however the parent ends. An ordinary child does not."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.kill,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a child with its parent"),
]

PARENT = """
import contextlib, multiprocessing, pathlib, sys, threading, time
from tests.inference.workers.test_children_die_with_us import child
from workers.engines.tied_children import tied_children

def start():
    folder = pathlib.Path(sys.argv[1])
    with tied_children(folder) if sys.argv[2] == "tied" else contextlib.nullcontext():
        multiprocessing.get_context("spawn").Process(target=child, args=(str(folder / "pid"),)).start()
    time.sleep(60)

if __name__ == "__main__":
    threading.Thread(target=start).start()
"""


def child(path: str) -> None:
    """Start a grandchild and wait."""
    multiprocessing.get_context("spawn").Process(target=grandchild, args=(path, os.getpid())).start()
    time.sleep(60)


def grandchild(path: str, parent: int) -> None:
    """Write both process ids and wait."""
    Path(path).write_text(f"{parent} {os.getpid()}\n")
    time.sleep(60)


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("how", ["tied", "loose"])
def test_a_tied_child_is_gone_after_a_kill_and_a_loose_one_is_not(tmp_path: Path, how: str) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    parent = subprocess.Popen(
        [sys.executable, str(script), str(tmp_path), how], env={**os.environ, "PYTHONPATH": str(Path.cwd())}
    )
    written = tmp_path / "pid"
    while not (written.exists() and written.read_text().endswith("\n")):
        assert parent.poll() is None
        time.sleep(0.02)
    pids = [int(word) for word in written.read_text().split()]
    assert all(map(_is_alive, pids))
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    until = time.monotonic() + 3
    while any(map(_is_alive, pids)) and time.monotonic() < until:
        time.sleep(0.02)
    survivors = [pid for pid in pids if _is_alive(pid)]
    for pid in survivors:
        os.kill(pid, signal.SIGKILL)
    assert survivors == (pids if how == "loose" else [])


def test_a_signal_to_the_whole_group_does_not_reach_a_tied_child(tmp_path: Path) -> None:
    """Terminals and supervisors signal the group. The worker lets calls end first, so their engine must survive."""
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    environment = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    parent = subprocess.Popen([sys.executable, str(script), str(tmp_path), "tied"], env=environment, start_new_session=True)
    written = tmp_path / "pid"
    while not (written.exists() and written.read_text().endswith("\n")):
        assert parent.poll() is None
        time.sleep(0.02)
    pids = [int(word) for word in written.read_text().split()]
    groups = {os.getpgid(pid) for pid in pids}
    parent.kill()
    parent.wait()
    assert parent.pid not in groups
