"""What the processes of a job know of one another, with torch's store in memory."""

import os
import subprocess
import sys
import threading

import pytest
from torch.distributed import HashStore

from tests.training.factory import rows
from workers.training.measuring.held_out import HeldOutRows
from workers.training.measuring.watching import StopAsked
from workers.training.problems import ProcessLost
from workers.training.processes.peers import Peers

KILLED = "It was killed, or the machine had no memory left."


def killed_process() -> int:
    """Number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def a_world(monkeypatch: pytest.MonkeyPatch, *, dead: tuple[int, ...], size: int = 4) -> list[Peers]:
    """Processes that share a store; those in `dead` have ended."""
    store = HashStore()
    found = []
    for rank in range(size):
        with monkeypatch.context() as patched:
            if rank in dead:
                patched.setattr(os, "getpid", killed_process)
            found.append(Peers(store, rank, size))
    return found


def test_while_all_are_alive_there_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    assert a_world(monkeypatch, dead=())[0].failure() is None


def test_a_killed_process_is_named_before_those_whose_connection_broke(monkeypatch: pytest.MonkeyPatch) -> None:
    world = a_world(monkeypatch, dead=(2,))
    world[1].report("crashed", "RuntimeError: Connection closed by peer")
    assert world[0].failure() == ("process_lost", f"Process 3 of 4 ended. {KILLED}")


def test_a_reason_of_its_own_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    world = a_world(monkeypatch, dead=(1,))
    world[3].report("out_of_memory", "Out of memory.")
    assert world[0].failure_soon(0) == ("out_of_memory", "Process 4 of 4 ended. Out of memory.")


def test_a_request_to_stop_reaches_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workers.training.processes.peers.EVERY_S", 0.01)
    world = a_world(monkeypatch, dead=(), size=2)
    stops = [StopAsked(), StopAsked()]
    for peers, stop in zip(world, stops, strict=True):
        peers.watch(stop, lambda found: None)
    stops[1].ask()
    assert stops[0]._asked.wait(10)
    for peers in world:
        peers.end()


ORPHAN = """
import time
from torch.distributed import HashStore
from workers.training.measuring.watching import StopAsked
from workers.training.processes.peers import Peers
Peers(HashStore(), 0, 2).watch(StopAsked(), print)
print("watching", flush=True)
time.sleep(60)
"""


def test_a_process_ends_with_its_launcher() -> None:
    """Launchers start processes in sessions of their own, so a kill of the launcher's group does not reach them."""
    launcher = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]])"
    process = subprocess.Popen([sys.executable, "-c", launcher, ORPHAN], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process.stdout as output:
        assert output.readline() == "watching\n"
        process.kill()
        assert output.read() == "", "the pipe closes when the process ends"
    process.wait()


def test_waiting_for_the_main_process_ends_with_its_word_or_its_death(monkeypatch: pytest.MonkeyPatch) -> None:
    main, other = a_world(monkeypatch, dead=(), size=2)
    threading.Timer(0.1, main.announce, ["rows/3"]).start()
    other.wait_for("rows/3")
    with pytest.raises(ProcessLost):
        a_world(monkeypatch, dead=(0,), size=2)[1].wait_for("rows/3")


@pytest.mark.parametrize(("count", "world"), [(7, 2), (8, 3), (1, 4), (5, 1)])
def test_held_out_rows_are_shared_and_each_is_measured_once(count: int, world: int) -> None:
    """Every process makes as many passes, because all must take part in each where weights are divided."""
    kept = rows(count)
    shares = [HeldOutRows(kept, at_once=2)._pieces(world, rank) for rank in range(world)]
    assert sorted(place for share in shares for piece in share for place in piece) == list(range(count))
    assert len({len(share) for share in shares}) == 1
