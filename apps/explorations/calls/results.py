"""Results of calls in words, from the events that name the calls: solutions, decisions, scores, choices, turns."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from apps.explorations.words import scaffold_word
from apps.reasoning.domain.agent_events import MemoryStored
from apps.reasoning.domain.event_base import Kind
from apps.reasoning.programs.registry import PROGRAMS
from apps.reasoning.reading.proofs import WAY_WORDS
from apps.reasoning.story.candidates import memory_verdict
from apps.reasoning.story.talks import ACTION_WORDS
from apps.runs.models import Run

_TRIED = {
    "at once": "read at once",
    "again": "read from the second answer",
    "declined": "read as a refusal",
    "unread": "not read",
    "failed": "no answer",
}
_ATTEMPTS = {"right": "a right solution", "gap": "a solution with a gap", "wrong": "a wrong solution"}


@dataclass(frozen=True)
class CallReading:
    """One result read from a call. `noun` names it in a sentence (`the decision on c1.1`), `words` give its value.

    `state`, for the badge, is good, bad, warn (not read) or empty. `href` links to the result, `call` to a related call.
    """

    noun: str
    words: str
    state: str = ""
    text: str = ""
    href: str = ""
    call: str = ""

    @property
    def title(self) -> str:
        return self.noun.removeprefix("the ")[:1].upper() + self.noun.removeprefix("the ")[1:]

    @property
    def badge(self) -> str:
        """The words before the reason."""
        return self.words.partition(": ")[0]

    @property
    def reason(self) -> str:
        return self.words.partition(": ")[2]


def _solution_href(run: Run, name: str) -> str:
    return f"{reverse('explorations:run_detail', args=[run.public_id])}#{name}"


def _drafted(run: Run, key: str, body: dict[str, Any]) -> list[CallReading]:
    name, count = body["candidate"], len(body["steps"])
    way = WAY_WORDS.get(body.get("read_as", "tags"), "")
    words = f"{count} step{'s' * (count != 1)}" + (f", {way}" if way else "")
    return [CallReading(f"the solution {name}", words, href=_solution_href(run, name))]


def _judged(run: Run, key: str, body: dict[str, Any]) -> list[CallReading]:
    noun, href = f"the decision on {body['candidate']}", _solution_href(run, body["candidate"])
    if body["passed"] is None:
        return [CallReading(noun, f"not read: {body['unscored']}", "warn", href=href)]
    word, state = ("pass", "good") if body["passed"] else ("fail", "bad")
    count = len(body["issues"])
    issues = f", {count} issue{'s' * (count != 1)}" if count else ""
    overruled = " (“pass” next to a critical error or gap)" if body.get("overruled") else ""
    return [CallReading(noun, f"{word}{issues}{overruled}", state, body["summary"], href)]


def _scored(run: Run, key: str, body: dict[str, Any]) -> list[CallReading]:
    noun, href = f"the score of {body['candidate']}", _solution_href(run, body["candidate"])
    if body.get("score") is None:
        return [CallReading(noun, f"not read: {body['unscored']}", "warn", href=href)]
    state = "good" if body["score"] == body["scale"] else "" if body["score"] else "bad"
    return [CallReading(noun, f"{body['score']:g} of {body['scale']:g}", state, body["report"], href)]


def _dropped(run: Run, key: str, body: dict[str, Any]) -> list[CallReading]:
    noun = f"the check of report {body['index']} on {body['candidate']}"
    words = "the report is unfounded; its score no longer counts"
    return [CallReading(noun, words, "bad", body["reason"], _solution_href(run, body["candidate"]))]


def _grouped(run: Run, key: str, body: dict[str, Any]) -> list[CallReading]:
    count = len(body["groups"])
    likeliest = ", ".join(body["groups"][body["chosen"]]) if count else ""
    words = f"{count} group{'s' * (count != 1)}" + (f"; most likely right: {likeliest}" if likeliest else "")
    return [CallReading("the grouping of the solutions", words, text=body.get("reason", ""))]


def _compared(run: Run, key: str, body: dict[str, Any]) -> list[CallReading]:
    noun = f"the better of {body['first']} and {body['second']}"
    if not body["better"]:
        return [CallReading(noun, f"not read: {body['unscored']}", "warn")]
    return [CallReading(noun, body["better"], text=body["reason"], href=_solution_href(run, body["better"]))]


def _state(run: Run, key: str, body: dict[str, Any]) -> list[CallReading]:
    return [CallReading(f"the state after turn {body['turn']}", f"{len(body['text']):,} characters", text=body["text"])]


def _turn(run: Run, key: str, body: dict[str, Any]) -> list[CallReading]:
    words = ACTION_WORDS.get(body["action"], body["action"])
    noun = f"the action of turn {body['turn']} of {body['of']} on {body['about']}"
    return [CallReading(noun, f"{words}: {body['problem']}" if body["problem"] else words, "warn" if body["problem"] else "")]


def _stored(run: Run, key: str, body: dict[str, Any]) -> list[CallReading]:
    name, found = body["candidate"], list[CallReading]()
    href = _solution_href(run, name)
    if body["condensed_by"] == key:
        length = f"{len(body['condensed']):,} characters"
        found.append(CallReading(f"the condensed form of {name}", length, "", body["condensed"], href))
    if body["judged_by"] == key:
        words = memory_verdict(MemoryStored.model_validate(body))
        found.append(CallReading(f"the sum of the reports on {name}", words, "", body["judgement"], href))
    return found


def _prepared(run: Run, key: str, body: dict[str, Any]) -> list[CallReading]:
    names = {"clusters": "the groups of references", "analysis": "the analysis of a reference", "rubric": "the rubric"}
    return [CallReading(names.get(body["what"], f"the {body['what']}"), "prepared for the grading")]


def _matched(run: Run, key: str, body: dict[str, Any]) -> list[CallReading]:
    return [CallReading("the group of references to compare with", body["cluster"], text=body["reason"])]


def _tried(run: Run, key: str, body: dict[str, Any]) -> list[CallReading]:
    program = PROGRAMS.get(body["method"])
    roles = {role.name: role.title for role in program.roles} if program else {}
    role = f"{roles.get(body['role'], body['role'])} of {scaffold_word(body['method'])}"
    noun = f"the answer as {role} to {_ATTEMPTS[body['attempt']]}"
    words = _TRIED[body["reading"]]
    if body["accepts"] is not None:
        words += "; it accepts the solution" if body["accepts"] else "; it rejects the solution"
    other = body["call"] if body["again"] == key else body["again"]
    state = "warn" if body["reading"] in ("unread", "failed") else ""
    return [CallReading(noun, words, state, body["reason"], call=other)]


#: Functions by event kind that describe the result of a call.
WORDS: dict[str, Callable[[Run, str, dict[str, Any]], list[CallReading]]] = {
    Kind.CANDIDATE_DRAFTED: _drafted,
    Kind.CANDIDATE_JUDGED: _judged,
    Kind.CANDIDATE_SCORED: _scored,
    Kind.CANDIDATE_SCORE_DROPPED: _dropped,
    Kind.POOL_GROUPED: _grouped,
    Kind.PAIR_JUDGED: _compared,
    Kind.STATE_WRITTEN: _state,
    Kind.TURN_TAKEN: _turn,
    Kind.MEMORY_STORED: _stored,
    Kind.GRADING_PREPARED: _prepared,
    Kind.GRADING_MATCHED: _matched,
    Kind.ROLE_TRIED: _tried,
}
