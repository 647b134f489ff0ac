"""A call with what was read from it: by the events that name it; lemmas, proofs and votes come from their own tables."""

from dataclasses import dataclass, field, replace
from typing import Any

from django.db.models import Q

from apps.explorations.call_words import WORDS, CallReading
from apps.explorations.prompts import Section, sections
from apps.explorations.unheard import fitted_words
from apps.lemmas.models import Lemma, ProofVersion, Verdict
from apps.lemmas.selectors import votes
from apps.reasoning.domain.generation import Final, Usage
from apps.reasoning.domain.tools import Execution, read_execution
from apps.reasoning.domain.values import Unscored
from apps.reasoning.reading.proofs import read_claim, read_claim_again
from apps.reasoning.scaffolds.hearing import AGAIN, IN_WORDS, asked_before
from apps.runs.models import Run, RunEvent, Step
from apps.runs.selectors import step_get, step_texts

#: Events that name the call that something was asked in first, also where the second answer gave it.
_OF_FIRST = ("grading.prepared", "grading.matched")
#: Why nothing may have been read from a call of a role, whatever it says.
_WHY_NOTHING = {
    "reasoner": "The summarizer reads the lemmas from a reasoner’s text.",
    "meta_verifier": "A check of a report is recorded only where it finds the report unfounded.",
    "summarizer": "A summary without a lemma adds nothing to the run.",
}
#: What still happens to the text of a role of which nothing could be read.
_STILL = {"reasoner": "No claim is taken from it; the summarizer still reads its text."}


@dataclass
class CallReadings:
    """Everything that was read from one call."""

    lemmas: list[Lemma] = field(default_factory=list)
    proofs: list[ProofVersion] = field(default_factory=list)
    votes: list[Verdict] = field(default_factory=list)
    others: list[CallReading] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.lemmas or self.proofs or self.votes or self.others)

    @property
    def counts(self) -> bool:
        """Whether any of it was read; the others say why not."""
        others = any(one.state != "warn" for one in self.others)
        return others or bool(self.lemmas or self.proofs) or any(not vote.unscored for vote in self.votes)

    @property
    def nouns(self) -> list[str]:
        """What was asked for, each once; things that could not be read have a name too."""
        named = [one.noun for one in self.others]
        named += [f"the vote on {vote.subject}" for vote in self.votes]
        return list(dict.fromkeys([*named, *(["the lemmas"] if self.lemmas else []), *(["the proof"] if self.proofs else [])]))


@dataclass(frozen=True)
class SecondCall:
    """The call that asks once more. `state`: read, unread, failed, open (under way), or missing (it was not made)."""

    key: str
    state: str
    reason: str
    read: CallReadings

    @property
    def has_page(self) -> bool:
        return self.state != "missing"


def why_nothing(role: str) -> str:
    """Why nothing may have been read from a call of this role; empty where only its text can say."""
    return _WHY_NOTHING.get(role, "")


def why_unread(role: str) -> str:
    """What it means that nothing could be read from a call of this role."""
    return _STILL.get(role, "Nothing of it counts.")


def second_call(run: Run, key: str, role: str) -> SecondCall:
    """The call that asks once more for what could not be read of `key`: the last that was made of its two forms."""
    second = f"{key}/{AGAIN}"
    keys = (f"{second}/{IN_WORDS}", second)
    steps = {step.key: step for step in run.steps.filter(key__in=keys)}
    told = {(event.key, event.kind): event.body for event in run.events.filter(key__startswith=f"{second}/").order_by("seq")}
    began = [one for one in keys if one in steps or (f"{one}/began", "call.began") in told]
    if not began:
        refused = next((body["reason"] for (_, kind), body in told.items() if kind == "prompt.refused"), "")
        return SecondCall(second, "missing", refused, CallReadings())
    last = began[0]
    step = steps.get(last)
    if step is None:
        return SecondCall(last, "open", "", CallReadings())
    if step.failure:
        return SecondCall(last, "failed", step.failure, CallReadings())
    lost = told.get((f"{last}/unread", "output.unread"), {})
    unread = "" if lost.get("part") else str(lost.get("reason", ""))
    read = call_readings(run, last, role, step_texts(step)[1], is_unread=bool(unread))
    return SecondCall(last, "unread" if unread else "read", unread, read)


def call_readings(run: Run, key: str, role: str, text: str, *, is_unread: bool) -> CallReadings:
    """What was read from the call `key` of `role` with this text; `is_unread` where its own text gave nothing."""
    first = asked_before(key)
    by_call = Q(body__call=key) | Q(body__again=key) | Q(body__condensed_by=key) | Q(body__judged_by=key)
    if first:
        by_call |= Q(body__call=first, kind__in=_OF_FIRST)
    told = list(RunEvent.objects.filter(by_call, run=run, kind__in=WORDS).order_by("seq"))
    if is_unread:
        told = [event for event in told if event.kind not in _OF_FIRST]
    others = [one for event in told for one in WORDS[event.kind](run, key, event.body)]
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
    """The claim that a reasoner's text ends with; no event records it, so it is read again."""
    final = Final(text=text, finish_reason="stop", usage=Usage())
    said = read_claim_again(final, "") if asked_before(key) else read_claim(final)
    return [] if isinstance(said, Unscored) else [CallReading("the reasoner’s claim", f"{said} solution")]


def _graded(run: Run, key: str, role: str) -> list[CallReading]:
    """The points behind a grader's call: the grading that is named like it, else that of the whole run."""
    if not (run.is_grading or run.is_about_problem):
        return []
    gradings = {body["name"]: body for body in run.events.filter(kind="grading.reached").values_list("body", flat=True)}
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
    """One call: the record if it has ended, else the body of the event that began it. `unread` says why it was not read,
    `partly` what of it was not, `fitted` what its prompt lacks so that it fits the context.

    `read` is what was read from its text; a tool call has the `execution` behind it instead. `second` asks once more for what
    could not be read; `objection` is, in that second call, why the first answer could not be read.
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
        """The call whose answer could not be read, where this one asks once more; else ""."""
        return asked_before(self.key)

    @property
    def role(self) -> str:
        return self.step.role if self.step else str(self.began.get("role") or self.began.get("job", ""))

    @property
    def why_nothing(self) -> str:
        return why_nothing(self.role)

    @property
    def why_unread(self) -> str:
        return why_unread(self.role)


def call_detail(run: Run, key: str) -> CallDetail | None:
    """A call by its key with all that is recorded about it; None where the run has no such call."""
    step = step_get(run, key)
    if step is not None and step.kind not in ("call", "tool"):
        return None
    events = list(RunEvent.objects.filter(run=run, key__startswith=f"{key}/").order_by("seq")[:50])
    own = [event for event in events if event.body.get("call") == key]
    began = next((event.body for event in own if event.kind in ("call.began", "tool.began")), {})
    if step is None and not began:
        return None
    prompts, text, reasoning = step_texts(step) if step is not None else ([], "", "")
    told = [event.body for event in own if event.kind == "output.unread"]
    lost = next((body for body in told if not body.get("part")), {})
    fitted = next((event.body for event in own if event.kind == "prompt.fitted"), None)
    first, role = asked_before(key), step.role if step is not None else ""
    detail = CallDetail(
        key,
        step,
        began,
        sections(prompts, is_second=bool(first)),
        text,
        reasoning,
        lost.get("reason", ""),
        events,
        second=second_call(run, key, role) if lost.get("again") else None,
        objection=_objection(run, first) if first else "",
        fitted=fitted_words(fitted) if fitted else "",
        partly=[body["reason"] for body in told if body.get("part")],
    )
    if step is None:
        return detail
    if step.kind == "tool":
        return replace(detail, execution=read_execution(text))
    return replace(detail, read=call_readings(run, key, role, text, is_unread=bool(lost) or bool(step.failure)))


def _objection(run: Run, first: str) -> str:
    """Why the answer of the call `first` could not be read."""
    told = run.events.filter(key=f"{first}/unread", kind="output.unread").first()
    return str(told.body["reason"]) if told else ""
