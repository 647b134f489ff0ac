"""Events of scaffolds whose models act in turns: what was done, what came back, and what is remembered.

Part of the one vocabulary of events.py.
"""

from typing import Literal

from apps.reasoning.domain.event_base import Event
from apps.reasoning.domain.values import Value

ActionKind = Literal["python_code", "local_rag", "answer", "report", "none"]


class Lookup(Value):
    """A look into documentation: what was asked, what was searched for, where something was found, what the model was told.

    `calls` are the keys of the calls and of the tool call behind it.
    """

    library: str
    query: str
    rewritten: str
    sources: tuple[str, ...]
    calls: tuple[str, ...]


class TurnTaken(Event):
    """Turn `turn` of `of` in a conversation with the environment.

    `about` is the candidate that it writes (a solver) or examines (an evaluator). `content` is the code or the query, cut where
    it is long. `succeeded` is None where no tool was wanted; an action that could not be read is a tool call that failed.
    `repairs` are what was mended in the code before it ran.
    """

    kind = "turn.taken"
    conversation: str
    role: str
    about: str
    round: int
    index: int
    turn: int
    of: int
    call: str
    action: ActionKind
    problem: str = ""
    content: str = ""
    repairs: tuple[str, ...] = ()
    tool: str = ""
    response: str = ""
    succeeded: bool | None = None
    lookup: Lookup | None = None


class MemoryStored(Event):
    """A solution goes into the long-term memory, with what was made of the reports on it.

    `correct` is what most of the valid reports say, None where none could be read or as many say yes as no.
    """

    kind = "memory.stored"
    candidate: str
    round: int
    condensed: str
    condensed_by: str
    judgement: str
    judged_by: str
    ayes: int
    valid: int
    of: int
    correct: bool | None


CLASSES: tuple[type[Event], ...] = (TurnTaken, MemoryStored)
