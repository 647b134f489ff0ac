"""Scaffolds whose models act in turns: conversations with tools, memory entries of solutions, and rates of tool calls.

A fold over failed and refused calls, `turn.taken` and `memory.stored` (apps/reasoning/domain/agent_events.py).
"""

import re
from dataclasses import dataclass, field
from typing import Any

from apps.reasoning.domain.kinds import Kind
from apps.runs.models import Run

KINDS = (Kind.TURN_TAKEN, Kind.MEMORY_STORED, Kind.CALL_FAILED, Kind.PROMPT_REFUSED)
_CALL_OF_TURN = re.compile(r"(.+)/turn/(\d+)")
ACTION_WORDS = {
    "python_code": "runs code",
    "local_rag": "looks something up",
    "answer": "hands in a solution",
    "report": "hands in a report",
    "none": "no action",
    "failed": "failed",
}


@dataclass(frozen=True)
class Turn:
    """One turn; `succeeded` is None for a turn without a tool call."""

    number: int
    call: str
    action: str
    problem: str
    content: str
    repairs: list[str]
    tool: str
    response: str
    succeeded: bool | None
    lookup: dict[str, Any] | None

    @property
    def word(self) -> str:
        return ACTION_WORDS.get(self.action, self.action)

    @property
    def state(self) -> str:
        """Class of the badge: good, bad or empty."""
        return {True: "good", False: "bad", None: ""}[self.succeeded]

    @property
    def outcome(self) -> str:
        if self.succeeded is None:
            return ""
        return "worked" if self.succeeded else "failed"


@dataclass
class Talk:
    """A conversation so far. `most` is its limit of turns."""

    id: str
    role: str
    about: str
    round: int
    index: int
    most: int
    turns: list[Turn] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        return bool(self.turns) and (self.turns[-1].action in ("answer", "report", "failed") or len(self.turns) == self.most)

    @property
    def title(self) -> str:
        return f"Evaluator {self.index}" if self.role == "evaluator" else f"Solver {self.index}"


def memory_verdict(correct: bool | None, ayes: int, valid: int) -> str:
    """Combined verdict of the reports on a solution in the memory, in words."""
    if not valid:
        return "no report could be read"
    word = {True: "judged correct", False: "judged incorrect", None: "undecided"}[correct]
    return f"{word}, {ayes} of {valid}"


@dataclass(frozen=True)
class Memory:
    """The entry of a solution in the memory, as shown to later solvers."""

    condensed: str
    condensed_by: str
    judgement: str
    judged_by: str
    ayes: int
    valid: int
    of: int
    correct: bool | None

    @property
    def verdict(self) -> str:
        return memory_verdict(self.correct, self.ayes, self.valid)

    @property
    def state(self) -> str:
        return {True: "good", False: "bad", None: ""}[self.correct]


@dataclass
class Conversations:
    """Conversations of a run: `solving` by round, `judging` and `memories` by candidate."""

    solving: dict[int, list[Talk]] = field(default_factory=dict)
    judging: dict[str, list[Talk]] = field(default_factory=dict)
    memories: dict[str, Memory] = field(default_factory=dict)
    wanted: int = 0
    worked: int = 0
    repaired: int = 0

    @property
    def rate(self) -> float | None:
        """Per cent of tool calls that worked. Unreadable actions count as failed calls."""
        return 100 * self.worked / self.wanted if self.wanted else None


def conversations(run: Run) -> Conversations:
    """Conversations of `run`, with one query."""
    found = Conversations()
    talks: dict[str, Talk] = {}
    rows = run.events.filter(kind__in=KINDS).order_by("seq").values_list("kind", "body")
    for kind, body in rows.iterator(chunk_size=500):
        if kind == Kind.MEMORY_STORED:
            names = ("condensed", "condensed_by", "judgement", "judged_by", "ayes", "valid", "of", "correct")
            found.memories[body["candidate"]] = Memory(**{name: body[name] for name in names})
        elif kind == Kind.TURN_TAKEN:
            _take_turn(found, talks, body)
        else:
            _take_failure(talks, body)
    return found


def _take_failure(talks: dict[str, Talk], body: dict[str, Any]) -> None:
    """End the conversation of a call that failed or was not made. Conversations without a turn are not shown."""
    match = _CALL_OF_TURN.fullmatch(body["call"])
    if match is None or (talk := talks.get(match[1])) is None:
        return
    reason = str(body.get("reason") or "The call failed").rstrip(".")
    talk.turns.append(Turn(int(match[2]), body["call"], "failed", reason, "", [], "", "", None, None))


def _take_turn(found: Conversations, talks: dict[str, Talk], body: dict[str, Any]) -> None:
    name = body["conversation"]
    talk = talks.get(name)
    if talk is None:
        talk = talks[name] = Talk(name, body["role"], body["about"], body["round"], body["index"], body["of"])
        if talk.role == "evaluator":
            found.judging.setdefault(talk.about, []).append(talk)
            found.judging[talk.about].sort(key=lambda one: one.index)
        else:
            found.solving.setdefault(talk.round, []).append(talk)
            found.solving[talk.round].sort(key=lambda one: one.index)
    turn = Turn(
        number=body["turn"],
        call=body["call"],
        action=body["action"],
        problem=body["problem"],
        content=body["content"],
        repairs=list(body["repairs"]),
        tool=body["tool"],
        response=body["response"],
        succeeded=body["succeeded"],
        lookup=body["lookup"],
    )
    talk.turns.append(turn)
    if turn.succeeded is not None:
        found.wanted += 1
        found.worked += turn.succeeded
    found.repaired += bool(turn.repairs)
