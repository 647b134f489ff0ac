"""One call and the results read from it. Lemmas, proofs and votes come from their own tables, other results from events."""

from dataclasses import dataclass, field, replace
from typing import Any

from django.db.models import Q

from apps.explorations.calls.prompts import Section, sections
from apps.explorations.calls.results import WORDS, CallReading
from apps.explorations.run_warnings import fitted_words
from apps.lemmas.models import Lemma, ProofVersion, Verdict
from apps.lemmas.selectors import votes
from apps.reasoning.domain.event_base import Kind
from apps.reasoning.domain.generation import Final, Usage
from apps.reasoning.domain.tools import Execution, LemmaOrigin, ToolAnswer, read_execution, read_hits
from apps.reasoning.domain.values import Unscored
from apps.reasoning.reading.proofs import read_claim, read_claim_again
from apps.reasoning.scaffolds.running.hearing import AGAIN, IN_WORDS, asked_before
from apps.reasoning.story.run_story import fold
from apps.reasoning.story.vocabulary import event_from
from apps.runs.models import Run, RunEvent, Step
from apps.runs.selectors import step_get, step_texts

#: Events that name the first call, even if the result came from the second answer.
_OF_FIRST = (Kind.GRADING_PREPARED, Kind.GRADING_MATCHED)
#: Reasons why a readable call of a role may have no results.
_WHY_NOTHING = {
    "reasoner": "The summarizer reads the lemmas from a reasoner’s text.",
    "meta_verifier": "A check of a report is recorded only where it finds the report unfounded.",
    "summarizer": "A summary without a lemma adds nothing to the run.",
}
#: Uses of an unreadable text by role.
_STILL = {"reasoner": "No claim is taken from it; the summarizer still reads its text."}


@dataclass
class CallReadings:
    """All results read from one call."""

    lemmas: list[Lemma] = field(default_factory=list)
    proofs: list[ProofVersion] = field(default_factory=list)
    votes: list[Verdict] = field(default_factory=list)
    others: list[CallReading] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.lemmas or self.proofs or self.votes or self.others)

    @property
    def counts(self) -> bool:
        """Whether any result could be read; the other entries give reasons."""
        others = any(one.state != "warn" for one in self.others)
        return others or bool(self.lemmas or self.proofs) or any(not vote.unscored for vote in self.votes)

    @property
    def nouns(self) -> list[str]:
        """Names of the requested results without duplicates, including results that could not be read."""
        named = [one.noun for one in self.others]
        named += [f"the vote on {vote.subject}" for vote in self.votes]
        return list(dict.fromkeys([*named, *(["the lemmas"] if self.lemmas else []), *(["the proof"] if self.proofs else [])]))


@dataclass(frozen=True)
class SecondCall:
    """The call that repeats a request. `state`: read, unread, failed, open (running), or missing (not made)."""

    key: str
    state: str
    reason: str
    read: CallReadings

    @property
    def has_page(self) -> bool:
        return self.state != "missing"


def why_nothing(role: str) -> str:
    """Reason why a readable call of this role may have no results; empty if only its text explains it."""
    return _WHY_NOTHING.get(role, "")


def why_unread(role: str) -> str:
    """Consequence of an unreadable call of this role."""
    return _STILL.get(role, "It does not count.")


def second_call(run: Run, key: str, role: str) -> SecondCall:
    """The call that repeats the request of the unreadable call `key`: the last one made of its two forms."""
    second = f"{key}/{AGAIN}"
    keys = (f"{second}/{IN_WORDS}", second)
    steps = {step.key: step for step in run.steps.filter(key__in=keys)}
    rows = run.events.filter(key__startswith=f"{second}/").order_by("seq")
    bodies = {(event.key, event.kind): event.body for event in rows}
    began = [one for one in keys if one in steps or (f"{one}/began", Kind.CALL_BEGAN) in bodies]
    if not began:
        refused = next((body["reason"] for (_, kind), body in bodies.items() if kind == Kind.PROMPT_REFUSED), "")
        return SecondCall(second, "missing", refused, CallReadings())
    last = began[0]
    step = steps.get(last)
    if step is None:
        return SecondCall(last, "open", "", CallReadings())
    if step.failure:
        return SecondCall(last, "failed", step.failure, CallReadings())
    lost = bodies.get((f"{last}/unread", Kind.OUTPUT_UNREAD), {})
    unread = "" if lost.get("part") else str(lost.get("reason", ""))
    read = call_readings(run, last, role, step_texts(step)[1], is_unread=bool(unread))
    return SecondCall(last, "unread" if unread else "read", unread, read)


def call_readings(run: Run, key: str, role: str, text: str, *, is_unread: bool) -> CallReadings:
    """Results of the call `key` of `role` with this text; `is_unread` if its own text gave none."""
    first = asked_before(key)
    by_call = Q(body__call=key) | Q(body__again=key) | Q(body__condensed_by=key) | Q(body__judged_by=key)
    if first:
        by_call |= Q(body__call=first, kind__in=_OF_FIRST)
    events = list(RunEvent.objects.filter(by_call, run=run, kind__in=WORDS).order_by("seq"))
    if is_unread:
        events = [event for event in events if event.kind not in _OF_FIRST]
    others = [one for event in events for one in WORDS[event.kind](run, key, event.body)]
    if role == "reasoner" and not is_unread:
        others += _claim(key, text)
    if not others and not is_unread:
        others += _graded(run, key, role)
    return CallReadings(
        lemmas=list(Lemma.objects.filter(run=run, call=key)),
        proofs=list(ProofVersion.objects.filter(run=run, call=key)),
        votes=votes(run, call=key),
        others=others,
    )


def _claim(key: str, text: str) -> list[CallReading]:
    """The claim at the end of a reasoner's text. No event records it, so it is parsed again."""
    final = Final(text=text, finish_reason="stop", usage=Usage())
    claim = read_claim_again(final, "") if asked_before(key) else read_claim(final)
    return [] if isinstance(claim, Unscored) else [CallReading("the reasoner’s claim", f"{claim} solution")]


def _graded(run: Run, key: str, role: str) -> list[CallReading]:
    """Points of a grader's call: those of the grading with its name, else those of the whole run."""
    if not (run.is_grading or run.is_about_problem):
        return []
    gradings = {body["name"]: body for body in run.events.filter(kind=Kind.GRADING_REACHED).values_list("body", flat=True)}
    stem = asked_before(key) or key
    last = stem.rpartition("/")[2]
    own = next((gradings[name] for name in _names(stem, last, gradings) if name in gradings), None)
    if own is not None:
        return [_points("the points", own)]
    final = gradings.get("final")
    if final is None:
        return []
    alone = run.steps.filter(kind="call", role=role).exclude(key__endswith=f"/{AGAIN}").exclude(key__contains=f"/{AGAIN}/")
    return [_points("the points" if alone.count() == 1 else "the result of the run, to which this call contributes", final)]


def _names(stem: str, last: str, gradings: dict[str, Any]) -> list[str]:
    within = [name for name in gradings if stem.startswith(f"{name}/grade")]
    return [stem, f"run/{last}", f"member/{last}", *within]


def _points(noun: str, body: dict[str, Any]) -> CallReading:
    if body.get("points") is None:
        return CallReading(noun, f"none: {body['unscored']}", "warn")
    return CallReading(noun, f"{body['points']:g} of {float(body['grading'].get('scale', 7)):g}")


@dataclass(frozen=True)
class CallDetail:
    """One call: its record if it has ended, else the body of its first event.

    `unread` is the reason why it could not be read, `partly` lists unreadable parts, `fitted` text left out of its prompt.
    `read` has the results of its text; a tool call has its `execution` instead. `second` is the call that repeats the request;
    in that call, `objection` is the reason why the first answer could not be read.
    """

    key: str
    step: Step | None
    began: dict[str, Any]
    prompt: list[Section]
    text: str
    reasoning: str
    unread: str
    events: list[RunEvent]
    read: CallReadings = field(default_factory=CallReadings)
    second: SecondCall | None = None
    objection: str = ""
    execution: Execution | None = None
    fitted: str = ""
    partly: list[str] = field(default_factory=list)

    @property
    def first(self) -> str:
        """The unreadable call whose request this call repeats; "" for other calls."""
        return asked_before(self.key)

    @property
    def role(self) -> str:
        return self.step.role if self.step else str(self.began.get("role") or self.began.get("job", ""))

    @property
    def lemmas(self) -> list[LemmaOrigin]:
        """The lemmas of earlier runs that a search found."""
        hits = read_hits(ToolAnswer(job="search", execution=self.execution)) if self.role == "search" else ()
        return [] if isinstance(hits, Unscored) else [hit.origin for hit in hits if hit.origin]

    @property
    def why_nothing(self) -> str:
        return why_nothing(self.role)

    @property
    def why_unread(self) -> str:
        return why_unread(self.role)


def call_detail(run: Run, key: str) -> CallDetail | None:
    """A call by its key with everything recorded about it; None if the run has no such call."""
    step = step_get(run, key)
    if step is not None and step.kind not in ("call", "tool"):
        return None
    events = list(RunEvent.objects.filter(run=run, key__startswith=f"{key}/").order_by("seq")[:50])
    own = [event for event in events if event.body.get("call") == key]
    began = next((event.body for event in own if event.kind in (Kind.CALL_BEGAN, Kind.TOOL_BEGAN)), {})
    if step is None and not began:
        return None
    prompts, text, reasoning = step_texts(step) if step is not None else ([], "", "")
    calls = fold((event.seq, event_from(event.kind, event.body)) for event in own).calls
    unread = [one for _, one in calls.unread]
    lost = next((one for one in unread if not one.part), None)
    first, role = asked_before(key), step.role if step is not None else ""
    detail = CallDetail(
        key,
        step,
        began,
        sections(prompts, is_second=bool(first)),
        text,
        reasoning,
        lost.reason if lost else "",
        events,
        second=second_call(run, key, role) if lost and lost.again else None,
        objection=_objection(run, first) if first else "",
        fitted=fitted_words(calls.fitted[0]) if calls.fitted else "",
        partly=[one.reason for one in unread if one.part],
    )
    if step is None:
        return detail
    if step.kind == "tool":
        return replace(detail, execution=read_execution(text))
    return replace(detail, read=call_readings(run, key, role, text, is_unread=bool(lost) or bool(step.failure)))


def _objection(run: Run, first: str) -> str:
    """Reason why the answer of the call `first` could not be read."""
    event = run.events.filter(key=f"{first}/unread", kind=Kind.OUTPUT_UNREAD).first()
    return str(event.body["reason"]) if event else ""
