"""What the compared runs cost, by role: tokens, calls, money and seconds of their own calls. Unknown amounts are None."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Sum

from apps.explorations.comparing.asking import Side
from apps.explorations.words import ROLE_WORDS, role_word
from apps.reasoning.scaffolds.spec import TokenPrice
from apps.runs.models import Run, Step
from apps.runs.selectors import INHERITED


@dataclass(frozen=True)
class Cost:
    """Calls of one run with their prompt and answer tokens, money in the currency of the run's prices, and model seconds.

    `tokens` and `seconds` are None if no call reports any (imported runs); `money` is None without a price of each model.
    """

    calls: int = 0
    tokens: int | None = 0
    seconds: float | None = 0.0
    money: float | None = None


@dataclass(frozen=True)
class CostRow:
    """One role in all runs, by the order of the runs; None where the run has no call of it."""

    word: str
    costs: list[Cost | None]


@dataclass(frozen=True)
class Costs:
    """The costs by role, their sums by run, and by run the calls that a fork took over."""

    rows: list[CostRow]
    sums: list[Cost]
    taken_over: list[int]

    @property
    def any_taken_over(self) -> bool:
        return any(self.taken_over)


def costs_of(sides: Sequence[Side]) -> Costs:
    """The costs of some runs. One query for all."""
    runs = {side.run.pk: side.run for side in sides}
    calls = Step.objects.filter(run__in=runs, kind="call").order_by()
    taken = dict(calls.filter(INHERITED).values_list("run").annotate(Count("pk")))
    sums = (Count("pk"), Sum("prompt_tokens"), Sum("completion_tokens"), Sum("duration_s"))
    found: dict[tuple[int, str], list[Cost]] = defaultdict(list)
    for pk, role, alias, *amounts in calls.exclude(INHERITED).values_list("run", "role", "alias").annotate(*sums):
        found[pk, role].append(_cost(_price(runs[pk], alias), *amounts))
    order = {role: place for place, role in enumerate(ROLE_WORDS)}
    roles = sorted({role for _, role in found}, key=lambda role: (order.get(role, len(order)), role))
    rows = [CostRow(role_word(role), [_sum(found[pk, role]) if (pk, role) in found else None for pk in runs]) for role in roles]
    sums_by_run = [_sum([cost for (run, _), costs in found.items() if run == pk for cost in costs]) for pk in runs]
    return Costs(rows, sums_by_run, [taken.get(pk, 0) for pk in runs])


def _price(run: Run, alias: str) -> TokenPrice | None:
    prices: Mapping[str, dict[str, float]] = run.spec.get("prices") or {}
    return TokenPrice.model_validate(prices[alias]) if alias in prices else None


def _cost(price: TokenPrice | None, calls: int, prompt: int, answer: int, seconds: float) -> Cost:
    money = None if price is None else (price.input * prompt + price.output * answer) / 1_000_000
    return Cost(calls, (prompt + answer) or None, seconds or None, money)


def _sum(costs: Sequence[Cost]) -> Cost:
    """The sum; an amount that no part knows is unknown, and money is unknown if one part does not know it."""
    if not costs:
        return Cost()
    tokens = [cost.tokens for cost in costs if cost.tokens is not None]
    seconds = [cost.seconds for cost in costs if cost.seconds is not None]
    money = [cost.money for cost in costs if cost.money is not None]
    return Cost(
        sum(cost.calls for cost in costs),
        sum(tokens) if tokens else None,
        sum(seconds) if seconds else None,
        sum(money) if len(money) == len(costs) else None,
    )
