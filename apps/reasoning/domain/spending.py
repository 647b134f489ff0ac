"""The calls and tokens of a grading, split into one-time preparation for a problem and the cost per script."""

from collections.abc import Iterable

from apps.reasoning.domain.records import StepRecord
from apps.reasoning.domain.values import Value

#: Roles that prepare pieces which depend only on the problem and its references; all other roles work on each script.
OFFLINE = frozenset({"clusterer", "analyst", "designer"})


class Amount(Value):
    """A number of calls with the tokens of their prompts and answers."""

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
    """`prepared` is the one-time cost of the problem, `online` the cost of this script."""

    online: Amount = Amount()
    prepared: Amount = Amount()

    @property
    def total(self) -> Amount:
        """Both together."""
        return self.online + self.prepared


def spending_of(spent: Iterable[tuple[str, Amount]]) -> Spending:
    """Split amounts by the role that spent them."""
    online = prepared = Amount()
    for role, amount in spent:
        if role in OFFLINE:
            prepared += amount
        else:
            online += amount
    return Spending(online=online, prepared=prepared)


def spending_recorded(records: Iterable[StepRecord]) -> Spending:
    """The spending of these records' own model calls; a failed call counts as a call without tokens."""
    return spending_of(
        (
            one.role,
            Amount(calls=1, prompt_tokens=one.usage.prompt, completion_tokens=one.usage.completion),
        )
        for one in records
        if one.was_asked
    )
