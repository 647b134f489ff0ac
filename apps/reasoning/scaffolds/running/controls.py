"""Fakes of the `Controls` port: without commands, or with scripted ones."""

from collections.abc import Mapping, Sequence

from apps.reasoning.domain.control import Command


class NoControls:
    """A run without commands."""

    async def take(self) -> Sequence[Command]:
        return ()


class ScriptedControls:
    """Return scripted commands at the n-th live control point (from 0), or raise a scripted exception."""

    def __init__(self, script: Mapping[int, Sequence[Command] | Exception]) -> None:
        self._script = dict(script)
        self.points = 0

    async def take(self) -> Sequence[Command]:
        here, self.points = self.points, self.points + 1
        due = self._script.pop(here, ())
        if isinstance(due, Exception):
            raise due
        return due
