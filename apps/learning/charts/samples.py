"""Sample rows that a trainer stores as text in `samples.jsonl`, indexed by step."""

import json
import re
import threading
from bisect import bisect_left
from collections import OrderedDict
from pathlib import Path
from typing import Any

KEPT_JOBS = 8
_HEAD = re.compile(rb'\{"step": (\d+), "attempt": (\d+)')


class Samples:
    """Index of `samples.jsonl`. Where a resumed attempt repeats a step, its lines replace the older ones."""

    def __init__(self, path: Path) -> None:
        self.path, self.lock = path, threading.Lock()
        self._offset = 0
        self._places: dict[int, tuple[int, list[tuple[int, int]]]] = {}

    def read(self) -> None:
        """Index the appended lines."""
        try:
            with self.path.open("rb") as file:
                if file.seek(0, 2) < self._offset:
                    self._offset, self._places = 0, {}
                file.seek(self._offset)
                for line in file:
                    if not line.endswith(b"\n"):
                        return  # The trainer is still writing this line.
                    self._note(line)
                    self._offset += len(line)
        except OSError:
            return

    def _note(self, line: bytes) -> None:
        head = _HEAD.match(line)
        if head is None:
            return
        step, attempt = int(head[1]), int(head[2])
        known = self._places.get(step)
        if known is None or known[0] < attempt:
            known = self._places[step] = (attempt, [])
        known[1].append((self._offset, len(line)))

    def near(self, step: int) -> int | None:
        """Nearest step with samples; None without samples."""
        steps = sorted(self._places)
        if not steps:
            return None
        place = bisect_left(steps, step)
        return min(steps[max(0, place - 1) : place + 1], key=lambda one: abs(one - step))

    def neighbours(self, step: int) -> tuple[int | None, int | None]:
        """Previous and next step with samples."""
        steps = sorted(self._places)
        place = bisect_left(steps, step)
        after = place + (place < len(steps) and steps[place] == step)
        return (steps[place - 1] if place else None), (steps[after] if after < len(steps) else None)

    def at(self, step: int) -> list[dict[str, Any]]:
        """Rows of a step."""
        found = []
        with self.path.open("rb") as file:
            for offset, length in self._places.get(step, (0, []))[1]:
                file.seek(offset)
                try:
                    found.append(json.loads(file.read(length)))
                except ValueError:
                    continue
        return found


_kept: "OrderedDict[Path, Samples]" = OrderedDict()
_keeping = threading.Lock()


def samples_of(folder: Path) -> Samples:
    """Current samples of a job's folder."""
    path = folder / "samples.jsonl"
    with _keeping:
        found = _kept.pop(path, None) or Samples(path)
        _kept[path] = found
        while len(_kept) > KEPT_JOBS:
            _kept.popitem(last=False)
    with found.lock:
        found.read()
    return found
