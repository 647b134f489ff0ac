"""Budget limits of a run: the amounts spent, whether a call may begin, and the reserve for a later phase."""

from collections.abc import Callable, Mapping
from typing import Any

from apps.reasoning.domain.control import Command
from apps.reasoning.domain.errors import BudgetExhausted, BudgetKeptBack
from apps.reasoning.domain.events import BudgetSpent
from apps.reasoning.domain.records import StepRecord
from apps.reasoning.ports import BudgetKind, Journal
from apps.reasoning.scaffolds.spec import Budget, TokenPrice, money_of

GONE_OVER = "decision/go-over"


class BudgetWatch:
    """Decide whether a call may begin. `limits` are those of the specification plus extensions by people.

    Only calls without a record are checked. Spending never shrinks and the change of phase is recorded, so that a replay
    refuses the same calls.
    """

    def __init__(self, budget: Budget, journal: Journal, prices: Mapping[str, TokenPrice] | None = None) -> None:
        self.limits: dict[BudgetKind, float | None] = {
            "calls": budget.calls,
            "tokens": budget.tokens,
            "seconds": budget.seconds,
            "money": budget.money,
        }
        self._prices = prices or {}
        self.under_way = 0
        self.kept_back: Callable[[BudgetKind, float], float] | None = None
        self._journal = journal
        self._gone_over: dict[str, Any] | None = None

    def check(self) -> None:
        """Raise `BudgetExhausted` or `BudgetKeptBack` if no further call may begin. Calls under way count as calls."""
        spent = self._journal.spent
        used: dict[BudgetKind, float] = {
            "calls": spent.calls + self.under_way,
            "tokens": spent.tokens,
            "seconds": spent.seconds,
            "money": money_of(spent.by_alias, self._prices) if self.limits["money"] else 0.0,
        }
        if self.kept_back is not None:
            self._check_kept_back(self.kept_back, used)
        for which, limit in self.limits.items():
            if limit is not None and used[which] >= limit:
                self._journal.emit(f"budget/{which}/{limit:g}", BudgetSpent(which=which, limit=limit, spent=used[which]))
                raise BudgetExhausted(which, limit, used[which])

    def inherit(self, record: StepRecord | None) -> None:
        """Change the phase where the parent of a fork did: `record` is the parent's."""
        if record is not None and self._gone_over is None:
            self._gone_over = record.value

    def extend(self, command: Command) -> None:
        """Raise the existing limits by the amounts of a command."""
        for which, limit in self.limits.items():
            more = command.args.get(which)
            if limit is not None and isinstance(more, int | float) and more > 0:
                self.limits[which] = limit + more

    async def go_over(self, reached: BudgetKeptBack) -> BudgetKeptBack:
        """As `Context.go_over`."""
        if not self._has_gone_over():
            self._gone_over = {"which": reached.which, "limit": reached.limit, "spent": reached.spent}
            await self._journal.append(StepRecord(key=GONE_OVER, kind="decision", value=self._gone_over))
        return BudgetKeptBack(**(self._gone_over or {}))

    def _check_kept_back(self, amount: Callable[[BudgetKind, float], float], used: dict[BudgetKind, float]) -> None:
        """Check the reserve. Each call under way counts as an average call, in tokens and money."""
        if self._has_gone_over():
            raise BudgetKeptBack(**(self._gone_over or {}))
        spent = self._journal.spent
        each = self.under_way / max(1, spent.calls)
        expected = used | {"tokens": used["tokens"] * (1 + each), "money": used["money"] * (1 + each)}
        for which, limit in self.limits.items():
            if limit is not None and (kept := amount(which, limit)) and expected[which] >= limit - kept:
                raise BudgetKeptBack(which, limit, used[which])

    def _has_gone_over(self) -> bool:
        if self._gone_over is None and (record := self._journal.recorded(GONE_OVER)):
            self._gone_over = record.value
        return self._gone_over is not None
