"""What the journal keeps of one call or one recorded decision."""

from typing import Any, Literal

from apps.reasoning.domain.generation import Final, Place, Usage
from apps.reasoning.domain.values import Value

RecordKind = Literal["call", "tool", "decision"]


class StepRecord(Value):
    """One recorded step under a structural key such as `s0/r3/verify/s0.7/2`.

    `kind` "call" has a `final` (or a `failure` where the call ended without a text), and so has "tool", a call that no model
    answered and no budget counts; "decision" has `value`, for what a replay cannot compute again (commands taken at a control
    point). A record is written once and never changed.
    `attempt` 0 marks a call that a fork took over from its parent: no model was asked, and no budget counts it.
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
        """A model call that this run made itself."""
        return self.kind == "call" and self.attempt > 0

    @property
    def was_inherited(self) -> bool:
        """A model call that the run this one was forked from had made."""
        return self.kind == "call" and self.attempt == 0

    @property
    def usage(self) -> Usage:
        return self.final.usage if self.final else Usage()


class Spent(Value):
    """What a run has used so far. `tokens` are prompt and completion tokens; `seconds` is time under a lease."""

    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0
