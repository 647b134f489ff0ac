"""Feedback on a version, one rung at a time: asking, the gates, what a coach gives, the test that it does not tell too much.

Rungs are written by coaches, or proposed by a model (`proposals`) and given by a coach. What a student reads is a rung that was
given; everything else of a request is the coaches'.
"""

import uuid
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import Contest, ContestProblem, ContestState
from apps.marks.audit import audit
from apps.marks.models import EarlyReveal, MarkingCase, Reveal, RevealKind
from apps.reasoning.feedback.ladder import RUNGS, TOP, Gate, Rules, Rung, Source, Track, gate, sources_at
from apps.reasoning.feedback.leaks import Leak, leaks_of
from apps.results.access import texts_marked
from apps.results.hint_material import secret_of
from apps.results.models import FeedbackRequest, FeedbackRules, HintProposal, ProposalState, RungAsked
from apps.results.proposals import HELD, is_held, proposal_ask, proposal_used
from apps.results.shown import results_awaited
from apps.submissions.models import SubmissionVersion


class FeedbackRefused(Exception):
    """Feedback cannot be asked for or given now; the message says why."""


class TellsTooMuch(Exception):
    """A hint tells what must not be told on its rung; `leaks` say what. A coach may give it all the same, by saying so."""

    def __init__(self, leaks: tuple[Leak, ...]) -> None:
        super().__init__("; ".join(leak.words for leak in leaks))
        self.leaks = leaks


@dataclass(frozen=True)
class RungShown:
    """A rung of the ladder for its author: its number and, where it was given, its text. What is above stays unknown."""

    level: int
    asked: RungAsked | None


@dataclass(frozen=True)
class Ladder:
    """A request as its author sees it. `revision`: a newer version handed in since the last hint, which answers it."""

    request: FeedbackRequest
    rungs: list[RungShown]
    gate: Gate
    revision: SubmissionVersion | None


def rules_of(problem: ContestProblem) -> FeedbackRules:
    """How far hints go on a problem; rules that are off where nobody chose any."""
    return FeedbackRules.objects.filter(problem=problem).first() or FeedbackRules(problem=problem)


@transaction.atomic
def rules_save(
    *, problem: ContestProblem, is_on: bool, rules: Rules, by: User, writer: str = "", guesser: str = ""
) -> FeedbackRules:
    """Choose whether and how far students may ask for hints, and which models propose and test them; "" is none."""
    values = {"is_on": is_on, **rules.model_dump(), "writer": writer, "guesser": guesser}
    saved, _ = FeedbackRules.objects.update_or_create(problem=problem, defaults=values)
    audit("feedback.rules", actor=by, contest=problem.contest, problem=str(problem.public_id), **values)
    return saved


def request_refusal(version: SubmissionVersion) -> str:
    """Why no feedback can be asked for on a version; empty where it can."""
    if not rules_of(version.submission.problem).is_on:
        return "Your coaches do not offer hints for this problem."
    if version.withdrawn_at is not None:
        return "This version was withdrawn."
    if version.submission.versions.filter(number__gt=version.number).exists():
        return "Ask on the newest version."
    if results_awaited(version):
        return "It is being marked; you get comments with the results."
    return ""


@transaction.atomic
def request_open(*, version: SubmissionVersion, track: str, words: str) -> FeedbackRequest:
    """Ask for feedback: the first rung is asked for at once. Raises `FeedbackRefused`.

    An open request on an older version of the same text ends; its hints stay.
    """
    SubmissionVersion.objects.select_for_update().get(pk=version.pk)
    if refusal := request_refusal(version):
        raise FeedbackRefused(refusal)
    if FeedbackRequest.objects.filter(version=version, ended_at=None).exists():
        raise FeedbackRefused("You have asked already.")
    if track not in {one.value for one in Track}:
        raise FeedbackRefused("Choose what you need.")
    first = gate((), rules_of(version.submission.problem).rules, spent=spent(version), now=timezone.now(), is_over=False)
    if first.refusal:
        raise FeedbackRefused(first.refusal)
    FeedbackRequest.objects.filter(version__submission=version.submission, ended_at=None).update(ended_at=timezone.now())
    request = FeedbackRequest.objects.create(version=version, track=track, words=" ".join(words.split()))
    proposal_ask(RungAsked.objects.create(request=request, level=0), rules_of(version.submission.problem))
    return request


def ladder_of(request: FeedbackRequest) -> Ladder:
    """A request with the state of its next gate."""
    version = request.version
    asked = list(request.asked.all())
    problem = version.submission.problem
    rules = rules_of(problem)
    state = gate(
        [one.value for one in asked],
        rules.rules,
        spent=spent(version),
        now=timezone.now(),
        is_over=is_over(problem.contest),
    )
    if request.ended_at is not None:
        state = Gate(level=None, refusal="This request has ended.")
    elif not rules.is_on:
        state = Gate(level=None, refusal="Your coaches do not offer hints for this problem any more.")
    elif is_held(request):
        state = Gate(level=state.level, refusal="Your text is being marked; you get comments with the results.")
    by_level = {one.level: one for one in asked}
    height = max([rules.highest, *by_level])
    return Ladder(request, [RungShown(n, by_level.get(n)) for n in range(height + 1)], state, _revision(request, asked))


@transaction.atomic
def rung_ask(*, request: FeedbackRequest, level: int, tried: str, argues: bool = False) -> RungAsked:
    """Ask for the next rung. `level` is the one that its author saw; asking twice asks once. Raises `FeedbackRefused`."""
    rows = FeedbackRequest.objects.select_for_update(of=("self",))
    request = rows.select_related("version__submission__problem__contest").get(pk=request.pk)
    ladder = ladder_of(request)
    if any(one.asked is not None and one.level == level for one in ladder.rungs):
        return request.asked.get(level=level)
    if ladder.gate.refusal or ladder.gate.level != level:
        raise FeedbackRefused(ladder.gate.refusal or "Look at the hints as they are now.")
    tried = tried.strip()
    if ladder.gate.needs_answer and not tried and ladder.revision is None:
        raise FeedbackRefused("Say in a sentence what you tried, or hand in a newer version first.")
    asked = RungAsked.objects.create(
        request=request, level=level, tried=tried, argues=argues and bool(tried), revision=ladder.revision
    )
    proposal_ask(asked, rules_of(request.version.submission.problem))
    return asked


@transaction.atomic
def rung_give(*, asked: RungAsked, text: str, by: User, confirms: bool = False, proposal: uuid.UUID | None = None) -> RungAsked:
    """Give the text of a rung that was asked for. Raises `FeedbackRefused`, and `TellsTooMuch` unless `confirms`.

    Not while the text is being marked: what a coach gives then would tell of marks before the results do.
    `proposal`: the one that the coach had before them, which then labels the hint.
    """
    text = text.strip()
    if not text:
        raise FeedbackRefused("Write the hint first.")
    if is_held(asked.request):
        raise FeedbackRefused(HELD)
    found = leaks_in(asked, text)
    if found and not confirms:
        raise TellsTooMuch(found)
    values = {"text": text, "author": by, "given_at": timezone.now(), "leaks": [one.words for one in found]}
    if not RungAsked.objects.filter(pk=asked.pk, given_at=None, request__ended_at=None).update(**values):
        raise FeedbackRefused("This hint was given meanwhile, or is not wanted any more.")
    origin = proposal_used(asked=asked, text=text, used=proposal)
    RungAsked.objects.filter(pk=asked.pk).update(origin=origin)
    where = asked.request.version.submission.paper.contest
    key = str(asked.request.public_id)
    audit("feedback.given", actor=by, contest=where, request=key, level=asked.level, leaks=len(found), origin=str(origin))
    asked.refresh_from_db()
    return asked


def leaks_in(asked: RungAsked, text: str) -> tuple[Leak, ...]:
    """What a text tells too early on this rung: of solutions and a scheme that are not released, and of the answer."""
    secret = secret_of(asked)
    return leaks_of(text, level=asked.level, secrets=secret.texts_at(asked.level), answer=secret.answer, known=secret.known)


def requests_open(contest: Contest, user: User) -> list[RungAsked]:
    """The rungs that wait for this coach, in the order of problems, longest waiting first.

    Not those of texts that are being marked, nor of texts on which a mark of the coach's own can still change.
    """
    rows = RungAsked.objects.filter(given_at=None, request__ended_at=None, request__version__submission__paper__contest=contest)
    rows = rows.select_related(
        "request__version__submission__paper", "request__version__submission__problem__problem", "proposal"
    )
    rows = rows.exclude(request__version__submission__in=texts_marked(user, contest))
    rows = rows.order_by("request__version__submission__problem__position", "asked_at", "pk")
    return [one for one in rows if not is_held(one.request)]


@transaction.atomic
def hints_shown(*, request: FeedbackRequest, to: User) -> None:
    """Keep in the ledger that a coach was shown what colleagues or a model say about a text: once for each of its cases, and
    once for the text where its newest version has not come to marking.

    What they gave themselves, and where nobody else said anything, leaves no row.
    """
    said = request.asked.filter(given_at__isnull=False).exclude(author=to).exists()
    proposed = HintProposal.objects.filter(rung__request=request, rung__given_at=None, state=ProposalState.READY)
    if said or (proposed.exists() and not is_held(request)):
        told: dict[str, Any] = {"person": to, "kind": RevealKind.HINTS, "defaults": {"trigger": "hints"}}
        text = request.version.submission
        for case in MarkingCase.objects.filter(version__submission=text):
            Reveal.objects.get_or_create(case=case, **told)
        newest = text.versions.filter(withdrawn_at=None).order_by("-number").first()
        if newest is None or not MarkingCase.objects.filter(version=newest).exists():
            EarlyReveal.objects.get_or_create(submission=text, **told)


def requests_of(version: SubmissionVersion) -> QuerySet[FeedbackRequest]:
    """The requests on all versions of a text, newest first."""
    rows = FeedbackRequest.objects.filter(version__submission=version.submission).select_related("version")
    return rows.order_by("-at", "-pk")


def hints_used(contest: Contest) -> dict[tuple[str, str], int]:
    """How many hints were given, by paper number and problem label: a fact for coaches, no penalty."""
    rows = RungAsked.objects.filter(given_at__isnull=False, request__version__submission__paper__contest=contest)
    used: dict[tuple[str, str], int] = {}
    keys = rows.values_list("request__version__submission__paper__number", "request__version__submission__problem__label")
    for key in keys:
        used[key] = used.get(key, 0) + 1
    return dict(sorted(used.items(), key=lambda pair: (pair[0][1], pair[0][0])))


def spent(version: SubmissionVersion) -> int:
    """How many rungs an author asked for on a problem, on all versions."""
    return RungAsked.objects.filter(request__version__submission=version.submission).count()


def is_over(contest: Contest) -> bool:
    """Whether a full solution may be told: the time for handing in is past, or solutions were released."""
    if contest.state == ContestState.OPEN:
        return contest.closes_at is not None and timezone.now() >= contest.closes_at
    return contest.state in (ContestState.MARKING, ContestState.CLOSED)


def rung_of(asked: RungAsked) -> Rung:
    """What belongs on a rung."""
    return RUNGS[Track(asked.request.track)][asked.level]


def sources_of(asked: RungAsked) -> tuple[Source, ...]:
    """What a rung may be written from."""
    return sources_at(min(asked.level, TOP))


def _revision(request: FeedbackRequest, asked: list[RungAsked]) -> SubmissionVersion | None:
    """The newest version handed in since the last hint was given."""
    last = asked[-1] if asked else None
    if last is None or last.given_at is None:
        return None
    newer = request.version.submission.versions.filter(number__gt=request.version.number, handed_in_at__gt=last.given_at)
    return newer.filter(withdrawn_at=None).order_by("-number").first()
