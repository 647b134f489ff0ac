"""Events of scaffolds whose models act in turns: actions, responses of tools, and stored memories.

Part of the one vocabulary of events.py.
"""

from typing import Literal

from pydantic import Field

from apps.reasoning.domain.event_base import Event, Kind
from apps.reasoning.domain.tools import LemmaOrigin
from apps.reasoning.domain.values import Value

ActionKind = Literal["python_code", "local_rag", "check_formulas", "answer", "report", "claim", "none"]


class Lookup(Value):
    """A documentation lookup: the question, the search query and the sources found.

    `calls` are the keys of its model calls and of its tool call. `lemmas` are the found lemmas of earlier runs.
    """

    library: str
    query: str
    rewritten: str
    sources: tuple[str, ...]
    calls: tuple[str, ...]
    lemmas: tuple[LemmaOrigin, ...] = Field(default=(), exclude_if=lambda lemmas: not lemmas)


class TurnTaken(Event):
    """Turn `turn` of `of` in a conversation with the environment.

    `about` is the candidate that a solver writes or an evaluator examines. `content` is the code or the query, shortened.
    `succeeded` is None if no tool was requested; an unreadable action is a failed tool call. `repairs` are the corrections
    made to the code before it ran.
    """

    kind = Kind.TURN_TAKEN
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
    """A solution enters the long-term memory, with a summary of the reports on it.

    `correct` is the majority of the valid reports; None if no report is readable or the vote is tied.
    """

    kind = Kind.MEMORY_STORED
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
