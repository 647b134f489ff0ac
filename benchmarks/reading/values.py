"""What was read of an answer, from the events of a play, as one small JSON value of the answer's kind.

| kind | value |
|---|---|
| proof | `{"text": …}` |
| turn | `{"action": "python_code" or "local_rag"}`, `{"action": "answer", "text": …}`, `{"action": "report", "correct": …}` |
| decision | `{"passed": …}` |
| score | `{"score": …}`: of a solution, or the points of a grader |
| founded | `{"founded": …}`: what a check says of a report |
| vote | `{"first_fault": …}` (-1: none, 0: at no step), or `{"wrong_lemma": …}` |
| choice | `{"better": "A"}` |
| groups | `{"groups": [["c1.1", …], …], "chosen": 0}` |
| claim | `{"claim": "complete"}` |
| lemmas | `{"lemmas": [statement, …]}` |
| text | `{"text": …}`: a state, a condensed solution, reports summed up |
| piece | `{"piece": …}`: what a grader prepares or matches |
"""

import re
from collections.abc import Iterator
from typing import Any

from apps.reasoning.domain.agent_events import MemoryStored, TurnTaken
from apps.reasoning.domain.candidate_events import (
    CandidateDrafted,
    CandidateJudged,
    CandidateScored,
    GroupsFormed,
    PairJudged,
    ScoreDropped,
    StateWritten,
)
from apps.reasoning.domain.events import Event, LemmaProposed, OutputUnread, ProofDrafted, RoundEnded, VoteCast
from apps.reasoning.domain.grading_events import GradingMatched, GradingPrepared, GradingReached
from apps.reasoning.graders.registry import GRADERS
from apps.reasoning.trying.stage import Stage

Read = dict[str, Any]
_OF_A_KIND = re.compile(r"_\d\Z")
_KINDS = {
    **dict.fromkeys(("solver", "improver", "corrector", "aggregator", "refiner", "writer", "reviser"), "proof"),
    **dict.fromkeys(("theorem_verifier", "process_verifier"), "vote"),
    **dict.fromkeys(("judge_a", "judge_b", "judge_c", "grader", "evaluator"), "score"),
    **dict.fromkeys(("clusterer", "analyst", "designer", "matcher"), "piece"),
    **dict.fromkeys(("abstractor", "summarizer", "rewriter", "librarian"), "text"),
    "verifier": "decision",
    "meta_verifier": "founded",
    "judge": "choice",
    "consolidator": "groups",
    "reasoner": "claim",
}  # fmt: skip
UNFOUNDED = "its report was found unfounded"
#: The examinations of the DeepSeek verifier go from 0 to 1, its points to 7.
SEVEN = 7


def kind_of(method: str, role: str) -> str:
    """The kind of value that a role's answers hold."""
    plain = _OF_A_KIND.sub("", role)
    if method == "alpha_apollo" and plain in ("solver", "evaluator"):
        return "turn"
    return "lemmas" if (method, plain) == ("intern_s1_mo", "summarizer") else _KINDS[plain]


def _unread(stage: Stage) -> str:
    """Why the last answer on trial could not be read; "" where it was."""
    last = stage.finals[-1][0] if stage.finals else stage.key
    unread = {event.call: event.reason for event in stage.events if isinstance(event, OutputUnread)}
    return unread.get(last, "" if stage.finals else "there is no answer")


def value_read(kind: str, stage: Stage) -> tuple[Read | None, str]:
    """The value that the program took from the answers on trial; None where it took none, with the reason."""
    calls, reason = {key for key, _, _ in stage.finals}, _unread(stage)
    # Of a proof that was read, a note may say what in it was not; of all else a program may tell what it does without it.
    if reason and kind != "proof":
        return None, reason
    value = _value(kind, stage, calls)
    return value, "" if value else reason or "no event has what was read"


def _value(kind: str, stage: Stage, calls: set[str]) -> Read | None:
    if kind == "claim":
        return {"claim": _claim(stage)}
    if kind == "founded":
        return {"founded": not any(_drops(event, calls) for event in stage.events)}
    if kind == "lemmas":
        proposed = [event for event in stage.events if isinstance(event, LemmaProposed) and event.call in calls]
        return {"lemmas": [event.statement for event in proposed]}
    return next((value for event in stage.events for value in _values(event, kind, stage, calls)), None)


def _values(event: Event, kind: str, stage: Stage, calls: set[str]) -> Iterator[Read]:
    if isinstance(event, GradingReached) and kind == "score" and stage.method in GRADERS:
        points = _first_pass(event, stage.role)
        yield from [{"score": points}] if points is not None else []
    elif isinstance(event, MemoryStored) and kind == "text":
        yield from ({"text": event.condensed} for _ in [0] if event.condensed_by in calls)
        yield from ({"text": event.judgement} for _ in [0] if event.judged_by in calls)
    elif getattr(event, "call", "") in calls:
        yield from _of_a_call(event, kind)


def _first_pass(event: GradingReached, role: str) -> float | None:
    """The points that the answer on trial gave: those of a grader, or what the first of several passes says."""
    if role.startswith("judge_") and not event.name.startswith(role):
        return None
    if role != "evaluator":
        return event.points
    first = event.grading["passes"][0]
    return None if first["points"] is None else float(first["points"]) / SEVEN


def _of_a_call(event: Event, kind: str) -> Iterator[Read]:
    match event:
        case CandidateDrafted() | ProofDrafted():
            if event.read_as == "unchanged":
                return
            yield {"text": event.text} if kind == "proof" else {"action": "answer", "text": event.text}
        case TurnTaken() if event.action in ("python_code", "local_rag"):
            yield {"action": event.action}
        case CandidateScored() if event.score is not None:
            yield {"score": event.score} if kind == "score" else {"action": "report", "correct": event.score == event.scale}
        case CandidateJudged() if event.passed is not None:
            yield {"passed": event.passed}
        case VoteCast() if not event.unscored:
            yield {"wrong_lemma": event.wrong_lemma} if event.wrong_lemma else {"first_fault": event.first_fault}
        case PairJudged() if event.better:
            yield {"better": "A" if event.better == event.first else "B"}
        case GroupsFormed():
            yield {"groups": [list(group) for group in event.groups], "chosen": event.chosen}
        case StateWritten():
            yield {"text": event.text}
        case GradingPrepared() if not event.is_cached:
            yield {"piece": event.value}
        case GradingMatched():
            yield {"piece": {"cluster": event.cluster, "prefix": event.prefix, "common": event.common}}
        case _:
            return


def _claim(stage: Stage) -> str:
    """A claim has no event of its own: rounds end with it where their lemmas hold, and authored ones do."""
    stops = [event.stop for event in stage.events if isinstance(event, RoundEnded)]
    return "complete" if stops and stops[0].startswith("it claims a complete solution") else "partial"


def _drops(event: Event, calls: set[str]) -> bool:
    """Whether the event says that a report on trial was found unfounded; the first check is that of the first pass."""
    if isinstance(event, ScoreDropped):
        return event.call in calls
    passes = event.grading["passes"] if isinstance(event, GradingReached) else ()
    return any(one["unscored"] == UNFOUNDED for one in passes[:1])
