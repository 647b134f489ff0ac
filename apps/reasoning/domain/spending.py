"""What a grading spent, told apart: what is prepared once for a problem, and what every script costs."""

from collections.abc import Iterable

from apps.reasoning.domain.records import StepRecord
from apps.reasoning.domain.values import Value

#: Roles that prepare what depends on the problem and its references alone; all others are asked for every script.
OFFLINE = frozenset({"clusterer", "analyst", "designer"})


class Amount(Value):
    """Calls with the tokens of their prompts and answers."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def tokens(self) -> int:
        """Prompts and answers together."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
        )

    def __sub__(self, other: "Amount") -> "Amount":
        return Amount(
            calls=self.calls - other.calls,
            prompt_tokens=self.prompt_tokens - other.prompt_tokens,
            completion_tokens=self.completion_tokens - other.completion_tokens,
        )


class Spending(Value):
    """`prepared` was spent for the problem, once; `online` for this script."""

    online: Amount = Amount()
    prepared: Amount = Amount()

    @property
    def total(self) -> Amount:
        """Both together."""
        return self.online + self.prepared


def spending_of(spent: Iterable[tuple[str, Amount]]) -> Spending:
    """Apart by the role that spent each amount."""
    online = prepared = Amount()
    for role, amount in spent:
        if role in OFFLINE:
            prepared += amount
        else:
            online += amount
    return Spending(online=online, prepared=prepared)


def spending_recorded(records: Iterable[StepRecord]) -> Spending:
    """Of the model calls among these records that were made for them; one without an answer is a call without tokens."""
    return spending_of(
        (
            one.role,
            Amount(calls=1, prompt_tokens=one.usage.prompt, completion_tokens=one.usage.completion),
        )
        for one in records
        if one.was_asked
    )
