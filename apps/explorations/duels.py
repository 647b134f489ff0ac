"""Pairs of a knock-out for pages, and the effect of the order on their judge."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.reasoning.scaffolds.candidates.judges import Comparison, OrderReport, order_report


@dataclass
class Duel:
    """A pair of the knock-out: winner and deciding rule; `orders` has the better solution in each order."""

    round: int
    pair: tuple[str, str]
    winner: str
    by: str
    orders: list[dict[str, Any]] = field(default_factory=list)


def order_of(duels: Sequence[Duel]) -> OrderReport:
    """Order effect of the judge of a knock-out."""
    return order_report(
        Comparison(f"{duel.round}/{'-'.join(duel.pair)}", "judge", one["first"], one["second"], one.get("better", ""))
        for duel in duels
        for one in duel.orders
    )
