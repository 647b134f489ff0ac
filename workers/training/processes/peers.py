"""Processes of one job: agreement on a stop, and the end of a job of which one process has died.

They share torch's key-value store, which needs no collective operation. So a thread can use it while the main thread waits
inside one, perhaps for a process that no longer exists.
"""

import json
import os
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import torch
from torch.distributed.distributed_c10d import _get_default_store

from workers.training.problems import ProcessLost, Reason

#: Seconds between two looks at the other processes.
EVERY_S = 0.5
#: Seconds in which the main thread may end by itself after another process has died, before the process is ended.
GRACE_S = 8.0
Failure = tuple[Reason, str]


class Peers:
    """The other processes of this job, as this process sees them. `store`: torch's, or one for tests."""

    def __init__(self, store: Any, rank: int, world: int) -> None:
        self._store, self.rank, self.world = store, rank, world
        self._ended = threading.Event()
        self._parent = os.getppid()
        store.set(f"process/{rank}", json.dumps([socket.gethostname(), os.getpid()]))
        self._processes: dict[int, tuple[str, int]] = {}

    @property
    def is_main(self) -> bool:
        """Whether this process writes the folder."""
        return self.rank == 0

    def report(self, reason: Reason, message: str) -> None:
        """Record why this process ends, for the main one."""
        self._store.set(f"failure/{self.rank}", json.dumps([reason, message]))

    def failure(self) -> Failure | None:
        """Why another process has failed or died; None while all are alive.

        A process that gave a reason of its own comes first, then one that was killed: the others fail because of it.
        """
        found: list[tuple[int, Failure]] = []
        for rank in range(self.world):
            if rank == self.rank:
                continue
            if self._has(f"failure/{rank}"):
                reason, message = json.loads(self._store.get(f"failure/{rank}"))
                found.append((2 if reason == "crashed" else 0, (reason, self._of(rank, message))))
            elif not self._is_alive(rank):
                found.append((1, (ProcessLost.reason, self._of(rank, "It was killed, or the machine had no memory left."))))
        return min(found)[1] if found else None

    def failure_soon(self, seconds: float) -> Failure | None:
        """`failure`, for which this waits: a broken connection is noticed before the process is gone."""
        until = time.monotonic() + seconds
        while (found := self.failure()) is None and time.monotonic() < until:
            time.sleep(0.1)
        return found

    def _of(self, rank: int, message: str) -> str:
        return f"Process {rank + 1} of {self.world} ended. {message}"

    def _has(self, key: str) -> bool:
        return bool(self._store.check([key]))

    def _is_alive(self, rank: int) -> bool:
        """Whether a process exists. One that has not begun, or is on another machine, counts as alive."""
        if rank not in self._processes:
            if not self._has(f"process/{rank}"):
                return True
            host, pid = json.loads(self._store.get(f"process/{rank}"))
            self._processes[rank] = host, pid
        host, pid = self._processes[rank]
        if host != socket.gethostname():
            return True
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True

    def watch(self, stop: Any, on_lost: Callable[[Failure], None]) -> None:
        """Share requests to stop with the others, and end this process after the death of another or of the launcher.

        `stop` has `asked` and `ask()`. `on_lost(failure)` is called in the main process, shortly before it ends.
        """
        threading.Thread(target=self._watch, args=(stop, on_lost), name="peers", daemon=True).start()

    def _watch(self, stop: Any, on_lost: Callable[[Failure], None]) -> None:
        while not self._ended.wait(EVERY_S):
            if os.getppid() != self._parent:
                os._exit(1)  # The launcher was killed, so no signal would end this process.
            try:
                if stop.asked:
                    self._store.set("stop", "1")
                elif self._has("stop"):
                    stop.ask()
                found = self.failure()
            except RuntimeError:  # The store ended with the process that held it.
                found = None
            if found is not None and not self._ended.wait(GRACE_S):
                sys.stderr.write(f"{found[1]}\n")
                sys.stderr.flush()
                if self.is_main:
                    on_lost(found)
                os._exit(1)

    def wait_for(self, key: str) -> None:
        """Wait until the main process has announced something, however long; a collective operation would time out.

        Raises `ProcessLost` where the main process has died.
        """
        while not self._has(f"said/{key}"):
            if not self._is_alive(0):
                raise ProcessLost("The main process ended.")
            time.sleep(0.05)

    def announce(self, key: str) -> None:
        """End the others' `wait_for`."""
        self._store.set(f"said/{key}", "1")

    def end(self) -> None:
        """Stop watching."""
        self._ended.set()


def peers_of_this_process() -> Peers | None:
    """The other processes; None for a job in one process."""
    if not torch.distributed.is_initialized() or torch.distributed.get_world_size() == 1:
        return None
    store = _get_default_store().clone()  # A connection of its own: the main thread may wait inside the other.
    return Peers(store, torch.distributed.get_rank(), torch.distributed.get_world_size())
