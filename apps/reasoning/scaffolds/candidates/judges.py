"""Whether a judge of pairs is led by the order in which a pair is shown, or prefers what its own model wrote. Pure.

Source: the usual checks of models as judges; every pair of a knock-out is judged in both orders (tournament.py). Shares come
with Wilson's 95 % interval; where there is nothing to count there is no share.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from apps.reasoning.domain.values import Value
from apps.reasoning.domain.verdicts import wilson_interval


class Comparison(NamedTuple):
    """`first` was shown before `second`; `better` is one of them, or empty where the judge could not be read.

    `pair` names the comparison of which this is one order. `authors` are the models that wrote the two.
    """

    pair: str
    judge: str
    first: str
    second: str
    better: str
    authors: tuple[str, str] = ("", "")


class Share(Value):
    """`count` of `of`, with its interval from 0 to 1."""

    count: int
    of: int
    low: float
    high: float

    @property
    def percent(self) -> int:
        """The share in whole per cent."""
        return round(100 * self.count / self.of)

    @property
    def words(self) -> str:
        """`9 of 12 (75 %, 47 to 91)`."""
        return f"{self.count} of {self.of} ({self.percent} %, {round(100 * self.low)} to {round(100 * self.high)})"


class OrderReport(Value):
    """How a judge stands to the order of pairs.

    `first_won`: how often the one shown first was held better; half of all where order plays no part. `agreed`: pairs of which
    both orders could be read and named the same. `followed_first`, `followed_second`: of the others, those in which both times
    the one shown first, or second, won.
    """

    comparisons: int
    unread: int
    first_won: Share | None
    agreed: Share | None
    followed_first: int
    followed_second: int

    @property
    def is_led(self) -> bool:
        """Whether the pairs on which the judge differs from itself follow one place more often than chance would have it.

        Where both orders name the same text the one shown first won exactly once: such pairs say nothing of order, and would
        hide what the others say. Of these the interval must leave out one half.
        """
        share = _share(self.followed_first, self.followed_first + self.followed_second)
        return share is not None and not share.low <= 0.5 <= share.high


class OwnReport(Value):
    """How often a judge held the text of its own model better, against one of another model, in both orders alike.

    `others`: the same pairs as judged by models that wrote neither; without them the share may as well be merit.
    """

    judge: str
    own_won: Share | None
    others: Share | None


def order_report(comparisons: Iterable[Comparison]) -> OrderReport:
    """The order effects of all comparisons together; give those of one judge to look at one."""
    rows = list(comparisons)
    read = [one for one in rows if one.better]
    pairs: dict[tuple[str, str], list[Comparison]] = defaultdict(list)
    for one in read:
        pairs[(one.pair, one.judge)].append(one)
    both = [orders[:2] for orders in pairs.values() if _is_both(orders)]
    same = [orders for orders in both if orders[0].better == orders[1].better]
    split = [orders for orders in both if orders[0].better != orders[1].better]
    first = sum(all(one.better == one.first for one in orders) for orders in split)
    return OrderReport(
        comparisons=len(rows),
        unread=len(rows) - len(read),
        first_won=_share(sum(one.better == one.first for one in read), len(read)),
        agreed=_share(len(same), len(both)),
        followed_first=first,
        followed_second=len(split) - first,
    )


def own_reports(comparisons: Iterable[Comparison]) -> list[OwnReport]:
    """For each judge the pairs in which exactly one text is of its own model, by what both orders name alike."""
    pairs: dict[tuple[str, str], list[Comparison]] = defaultdict(list)
    for one in comparisons:
        if one.better:
            pairs[(one.pair, one.judge)].append(one)
    settled = {key: orders[0] for key, orders in pairs.items() if _is_both(orders) and orders[0].better == orders[1].better}
    reports = []
    for judge in sorted({judge for _, judge in settled}):
        mine = {pair: one for (pair, by), one in settled.items() if by == judge and (one.authors.count(judge) == 1)}
        won = sum(_author(one) == judge for one in mine.values())
        other = [
            _author(one) == judge
            for (pair, by), one in settled.items()
            if pair in mine and by != judge and by not in one.authors
        ]
        reports.append(OwnReport(judge=judge, own_won=_share(won, len(mine)), others=_share(sum(other), len(other))))
    return reports


def _is_both(orders: Sequence[Comparison]) -> bool:
    return len(orders) > 1 and (orders[0].first, orders[0].second) == (orders[1].second, orders[1].first)


def _author(one: Comparison) -> str:
    """Who wrote the better one."""
    return one.authors[0] if one.better == one.first else one.authors[1]


def _share(count: int, of: int) -> Share | None:
    if not of:
        return None
    low, high = wilson_interval(count, of)
    return Share(count=count, of=of, low=low, high=high)
