"""The pairs of a knock-out as pages show them, and what both orders tell about their judge."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.reasoning.scaffolds.candidates.judges import Comparison, OrderReport, order_report


@dataclass
class Duel:
    """A pair of the knock-out: who won and what decided; `orders` says for both orders who was held better."""

    round: int
    pair: tuple[str, str]
    winner: str
    by: str
    orders: list[dict[str, Any]] = field(default_factory=list)


def order_of(duels: Sequence[Duel]) -> OrderReport:
    """How far the judge of a knock-out followed the order in which pairs were shown."""
    return order_report(
        Comparison(f"{duel.round}/{'-'.join(duel.pair)}", "judge", one["first"], one["second"], one.get("better", ""))
        for duel in duels
        for one in duel.orders
    )
