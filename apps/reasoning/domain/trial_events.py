"""Events of trying a model: what became of one answer in one role.

Part of the one vocabulary of events.py.
"""

from typing import Literal

from apps.reasoning.domain.event_base import Event

AttemptKind = Literal["right", "gap", "wrong"]
#: Read from the first answer; from the second one; a refusal that was read; from neither; the call was never answered.
Reading = Literal["at once", "again", "declined", "unread", "failed"]


class RoleTried(Event):
    """One answer of the model on trial, in the role `role` of the program `method`, about an authored attempt.

    `call` holds the first answer, which roles with the same prompt share; `again` what was asked once more. `accepts` is
    a judge's: whether it lets the attempt stand. `tokens` are completion tokens of all calls, `seconds` their time.
    """

    kind = "role.tried"
    method: str
    role: str
    attempt: AttemptKind
    reading: Reading
    reason: str = ""
    call: str = ""
    again: str = ""
    is_cut: bool = False
    accepts: bool | None = None
    tokens: int = 0
    seconds: float = 0.0


CLASSES = (RoleTried,)
