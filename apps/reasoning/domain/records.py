"""The journal's records of calls and decisions."""

from typing import Any, Literal

from apps.reasoning.domain.generation import Final, Place, Usage
from apps.reasoning.domain.values import Value

RecordKind = Literal["call", "tool", "decision"]


class StepRecord(Value):
    """One recorded step under a structural key such as `s0/r3/verify/s0.7/2`.

    `kind` "call" has a `final`, or a `failure` if the call ended without a text; so has "tool", which no budget counts.
    "decision" has a `value` that a replay cannot recompute, such as commands taken at a control point. A record is written
    once and never changed.
    `attempt` 0 marks a call that a fork inherited from its parent, without a model call; no budget counts it.
    """

    key: str
    kind: RecordKind = "call"
    request_hash: str = ""
    role: str = ""
    alias: str = ""
    place: Place = Place()
    attempt: int = 1
    prompt_shas: tuple[str, ...] = ()
    final: Final | None = None
    failure: str = ""
    value: dict[str, Any] | None = None

    @property
    def was_asked(self) -> bool:
        """Whether this run made the model call itself."""
        return self.kind == "call" and self.attempt > 0

    @property
    def was_inherited(self) -> bool:
        """Whether the model call was inherited from the run that this one was forked from."""
        return self.kind == "call" and self.attempt == 0

    @property
    def usage(self) -> Usage:
        return self.final.usage if self.final else Usage()


class Spent(Value):
    """The budget that a run has used. `tokens` are prompt and completion tokens; `seconds` is time under a lease.

    `by_alias`: calls, prompt tokens and completion tokens of each model; complete if the run has a limit in money.
    """

    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0
    by_alias: dict[str, tuple[int, int, int]] = {}

    def use_with(self, record: "StepRecord") -> dict[str, tuple[int, int, int]]:
        """`by_alias` with one more call."""
        calls, prompt, completion = self.by_alias.get(record.alias, (0, 0, 0))
        return self.by_alias | {record.alias: (calls + 1, prompt + record.usage.prompt, completion + record.usage.completion)}
