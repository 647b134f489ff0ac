"""What the drives of one process ask of the database together: renewed leases and pending commands.

A thousand runs that each renew a lease and look for commands would keep a processor busy while their models write.
"""

import asyncio
import contextlib
import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings

from apps.processes.threads import from_thread, in_thread
from apps.runs.models import APART, Run, RunCommand
from apps.runs.owners.leases import leases_renew
from apps.runs.owners.shares import window_renewed

#: A renewal waits this part of the time between two of them for those of other runs.
GATHER = 0.1


@dataclass(frozen=True)
class _Renewal:
    run: Run
    seconds: float
    loop: asyncio.AbstractEventLoop
    done: "asyncio.Future[int | None]"


class Renewals:
    """Leases of runs that are renewed at about the same time, in one write."""

    def __init__(self) -> None:
        self._asked: list[_Renewal] = []
        self._lock = threading.Lock()

    async def renew(self, run: Run, seconds: float) -> int | None:
        """Renew a lease and add `seconds` of active time. The width of the run's window; None if the fence has moved."""
        loop = asyncio.get_running_loop()
        asked = _Renewal(run, seconds, loop, loop.create_future())
        with self._lock:
            self._asked.append(asked)
            is_first = len(self._asked) == 1
        if is_first:
            timer = threading.Timer(GATHER * settings.LEASE_RENEW_S, self._write)
            timer.daemon = True
            timer.start()
        return await asked.done

    def _write(self) -> None:
        with self._lock:
            asked, self._asked = self._asked, []
        try:
            found: Sequence[int | None] | Exception = from_thread(_renewed, asked)
        except Exception as error:  # Each run handles it as if it had asked alone.
            found = error
        for number, one in enumerate(asked):
            with contextlib.suppress(RuntimeError):  # The run has ended, and its loop is closed.
                one.loop.call_soon_threadsafe(_settle, one.done, found if isinstance(found, Exception) else found[number])


def _renewed(asked: Sequence[_Renewal]) -> Sequence[int | None]:
    """The windows of the runs, in their order; None for those whose fence has moved."""
    groups: dict[tuple[int, float], list[int]] = defaultdict(list)
    for one in asked:
        groups[one.run.fence, one.seconds].append(one.run.pk)
    held: set[tuple[int, int]] = set()  # Runs with their fences: a drive that lost its run may ask together with the next one.
    for (fence, seconds), runs in groups.items():
        held |= {(run, fence) for run in leases_renew(runs, fence, seconds)}
    return [_window(one.run) if (one.run.pk, one.run.fence) in held else None for one in asked]


def _window(run: Run) -> int:
    return window_renewed(run.owner_id, is_apart=run.preset in APART)


def _settle(done: "asyncio.Future[int | None]", found: int | Exception | None) -> None:
    if done.done():
        return
    if isinstance(found, Exception):
        done.set_exception(found)
    else:
        done.set_result(found)


class PendingCommands:
    """Pending commands of all runs that this process drives, read once for those that poll together.

    `watched`: the runs; `found`: those with pending commands.
    """

    def __init__(self) -> None:
        self.watched: set[int] = set()
        self.found: frozenset[int] = frozenset()
        self._read_at, self._is_reading = float("-inf"), False

    async def has(self, run_pk: int, fresh_s: float) -> bool:
        """Whether the run has pending commands, as read within the last `fresh_s` seconds."""
        if not self._is_reading and time.monotonic() - self._read_at >= fresh_s:
            self._is_reading = True
            try:
                await in_thread(self._read)
            finally:
                self._is_reading = False
        return run_pk in self.found

    def _read(self) -> None:
        at = time.monotonic()
        rows = RunCommand.objects.filter(run__in=list(self.watched), state=RunCommand.State.PENDING)
        self.found, self._read_at = frozenset(rows.values_list("run", flat=True)), at
