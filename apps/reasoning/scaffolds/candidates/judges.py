"""Position bias and self-preference of judges of pairs. Pure.

Source: the usual checks of models as judges; every pair of a knock-out is judged in both orders (tournament.py). Shares have
Wilson's 95 % interval; without data there is no share.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from apps.reasoning.domain.values import Value
from apps.reasoning.domain.verdicts import wilson_interval


class Comparison(NamedTuple):
    """One comparison: `first` was shown before `second`; `better` is one of them, or empty if the judge was unreadable.

    `pair` identifies the pair, of which this is one order. `authors` are the models that wrote the two texts.
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
        """The share in percent, rounded."""
        return round(100 * self.count / self.of)

    @property
    def words(self) -> str:
        """`9 of 12 (75 %, 47 to 91)`."""
        return f"{self.count} of {self.of} ({self.percent} %, {round(100 * self.low)} to {round(100 * self.high)})"


class OrderReport(Value):
    """Position bias of a judge.

    `first_won`: how often the text shown first won; one half without bias. `agreed`: readable pairs in which both orders named
    the same winner. `followed_first`, `followed_second`: other pairs, in which the first (or second) text won in both orders.
    """

    comparisons: int
    unread: int
    first_won: Share | None
    agreed: Share | None
    followed_first: int
    followed_second: int

    @property
    def is_led(self) -> bool:
        """Whether inconsistent pairs follow one position more often than chance: their interval excludes one half.

        Pairs with the same winner in both orders are ignored: each position won once, so they carry no information on bias.
        """
        share = _share(self.followed_first, self.followed_first + self.followed_second)
        return share is not None and not share.low <= 0.5 <= share.high


class OwnReport(Value):
    """How often a judge prefers its own model's text to another model's, consistently in both orders.

    `others`: verdicts on the same pairs by models that wrote neither text; without them, a high share may simply be merit.
    """

    judge: str
    own_won: Share | None
    others: Share | None


def order_report(comparisons: Iterable[Comparison]) -> OrderReport:
    """Report the position bias over all given comparisons; pass those of a single judge to examine one."""
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
    """Report self-preference per judge, over consistent pairs in which exactly one text is by its own model."""
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
    """The author of the better text."""
    return one.authors[0] if one.better == one.first else one.authors[1]


def _share(count: int, of: int) -> Share | None:
    if not of:
        return None
    low, high = wilson_interval(count, of)
    return Share(count=count, of=of, low=low, high=high)
