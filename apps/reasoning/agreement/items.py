"""Whether a grader ticks the items of a marking scheme that a person ticks: counts with their denominators, item by item."""

from collections.abc import Collection, Sequence

from apps.reasoning.domain.values import Unscored, Value


class TickedPair(Value):
    """A script with the items that a person and a grader tick, under one and the same version of the scheme."""

    paper: str
    human: frozenset[str]
    grader: frozenset[str]


class ItemFound(Value):
    """One item over `of` scripts. The lists part them: both tick it, neither, the grader alone, the person alone."""

    code: str
    of: int
    both: tuple[str, ...]
    neither: tuple[str, ...]
    grader_only: tuple[str, ...]
    human_only: tuple[str, ...]

    @property
    def prevalence(self) -> float | Unscored:
        """The share of the scripts in which the person ticks it."""
        return self._share(len(self.both) + len(self.human_only))

    @property
    def agreement(self) -> float | Unscored:
        """The share of the scripts on which both agree."""
        return self._share(len(self.both) + len(self.neither))

    def _share(self, count: int) -> float | Unscored:
        return count / self.of if self.of else Unscored(reason="no script was judged by this item")


def items_found(codes: Sequence[str], pairs: Collection[TickedPair]) -> tuple[ItemFound, ...]:
    """The items in the order of their codes in the scheme. Ticks on other codes are left out."""
    return tuple(_item(code, pairs) for code in codes)


def _item(code: str, pairs: Collection[TickedPair]) -> ItemFound:
    parts: dict[tuple[bool, bool], list[str]] = {(human, grader): [] for human in (True, False) for grader in (True, False)}
    for pair in pairs:
        parts[code in pair.human, code in pair.grader].append(pair.paper)
    return ItemFound(
        code=code,
        of=len(pairs),
        both=tuple(parts[True, True]),
        neither=tuple(parts[False, False]),
        grader_only=tuple(parts[False, True]),
        human_only=tuple(parts[True, False]),
    )
