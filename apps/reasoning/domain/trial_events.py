"""Events of trials of a model: the result of one answer in one role.

Part of the one vocabulary of events.py.
"""

from typing import Literal

from apps.reasoning.domain.event_base import Event, Kind

AttemptKind = Literal["right", "gap", "wrong"]
#: Read from the first answer, from the second one, read as a refusal, unreadable in both, or the call failed.
Reading = Literal["at once", "again", "declined", "unread", "failed"]


class RoleTried(Event):
    """One answer of the model on trial, in the role `role` of the program `method`, about an authored attempt.

    `call` is the first call, shared by roles with the same prompt; `again` is the second one. `accepts`, for judges only:
    whether the judge accepts the attempt. `tokens` are the completion tokens of all calls, `seconds` their time.
    """

    kind = Kind.ROLE_TRIED
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
