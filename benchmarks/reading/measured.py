"""What became of answers, and the shares of a source with their intervals."""

from collections import Counter
from collections.abc import Iterable
from typing import Literal, NamedTuple

from apps.reasoning.domain.verdicts import wilson_interval

Outcome = Literal["equal", "unread", "wrong", "either", "unrecorded"]


class Measured(NamedTuple):
    """One answer of a source: what became of it, and what was read, or why nothing was."""

    source: str
    name: str
    outcome: Outcome
    said: str = ""
    is_lost: bool = False


class Tally(NamedTuple):
    """Counts of a source. What may be read either way, and what a program would have asked for again, is not among `of`."""

    source: str
    equal: int
    unread: int
    wrong: int
    either: int
    unrecorded: int
    lost: int

    @property
    def of(self) -> int:
        return self.equal + self.unread + self.wrong

    @property
    def share(self) -> float:
        return self.equal / self.of if self.of else 1.0

    @property
    def interval(self) -> tuple[float, float]:
        """At 95 %, by Wilson."""
        return wilson_interval(self.equal, self.of) if self.of else (0.0, 1.0)


def tallied(source: str, measured: Iterable[Measured]) -> Tally:
    """The counts of all that was measured."""
    found = list(measured)
    count = Counter(one.outcome for one in found)
    lost = sum(one.is_lost for one in found)
    return Tally(source, count["equal"], count["unread"], count["wrong"], count["either"], count["unrecorded"], lost)


def by_source(measured: Iterable[Measured]) -> list[Tally]:
    """The counts of each source, in the order in which they came."""
    sources: dict[str, list[Measured]] = {}
    for one in measured:
        sources.setdefault(one.source, []).append(one)
    return [tallied(source, found) for source, found in sources.items()]
