"""Feedback on a version, one rung at a time: requests, gates, hints by coaches, and the test for leaks.

Hints are written by coaches, or proposed by a model (`proposals`) and given by a coach. Students see given hints only;
everything else of a request is for coaches.
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
    """Feedback cannot be requested or given now; the message gives the reason."""


class HintLeaks(Exception):
    """A hint reveals what must stay hidden on its rung; `leaks` lists it. A coach may give it after confirming."""

    def __init__(self, leaks: tuple[Leak, ...]) -> None:
        super().__init__("; ".join(leak.words for leak in leaks))
        self.leaks = leaks


@dataclass(frozen=True)
class RungShown:
    """A rung of the ladder for the author: number, and text once given. Higher rungs stay hidden."""

    level: int
    asked: RungAsked | None


@dataclass(frozen=True)
class Ladder:
    """A request as its author sees it. `revision`: a newer version, handed in since the last hint, that answers it."""

    request: FeedbackRequest
    rungs: list[RungShown]
    gate: Gate
    revision: SubmissionVersion | None


def rules_of(problem: ContestProblem) -> FeedbackRules:
    """The hint rules of a problem; off by default."""
    return FeedbackRules.objects.filter(problem=problem).first() or FeedbackRules(problem=problem)


@transaction.atomic
def rules_save(
    *, problem: ContestProblem, is_on: bool, rules: Rules, by: User, writer: str = "", guesser: str = ""
) -> FeedbackRules:
    """Save whether and how far students may ask for hints, and the models that propose and test them ("" for none)."""
    values = {"is_on": is_on, **rules.model_dump(), "writer": writer, "guesser": guesser}
    saved, _ = FeedbackRules.objects.update_or_create(problem=problem, defaults=values)
    audit("feedback.rules", actor=by, contest=problem.contest, problem=str(problem.public_id), **values)
    return saved


def request_refusal(version: SubmissionVersion) -> str:
    """Why feedback on a version cannot be requested; empty if it can."""
    if not rules_of(version.submission.problem).is_on:
        return "Your coaches do not offer hints for this problem."
    if version.withdrawn_at is not None:
        return "This version was withdrawn."
    if version.submission.versions.filter(number__gt=version.number).exists():
        return "There is a newer version. Ask for hints on the newest one."
    if results_awaited(version):
        return "This text is being marked. You get comments with the results."
    return ""


@transaction.atomic
def request_open(*, version: SubmissionVersion, track: str, words: str) -> FeedbackRequest:
    """Request feedback; asks for the first rung at once. Raises `FeedbackRefused`.

    Ends an open request on an older version of the same text; its hints stay.
    """
    SubmissionVersion.objects.select_for_update().get(pk=version.pk)
    if refusal := request_refusal(version):
        raise FeedbackRefused(refusal)
    if FeedbackRequest.objects.filter(version=version, ended_at=None).exists():
        raise FeedbackRefused("You have already asked for hints on this version.")
    if track not in {one.value for one in Track}:
        raise FeedbackRefused("Choose the kind of help that you need.")
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
        state = Gate(level=None, refusal="Your coaches no longer offer hints for this problem.")
    elif is_held(request):
        state = Gate(level=state.level, refusal="Your text is being marked. You get comments with the results.")
    by_level = {one.level: one for one in asked}
    height = max([rules.highest, *by_level])
    return Ladder(request, [RungShown(n, by_level.get(n)) for n in range(height + 1)], state, _revision(request, asked))


@transaction.atomic
def rung_ask(*, request: FeedbackRequest, level: int, tried: str, argues: bool = False) -> RungAsked:
    """Ask for the next rung. `level` is the one that the author saw; repeats have no effect. Raises `FeedbackRefused`."""
    rows = FeedbackRequest.objects.select_for_update(of=("self",))
    request = rows.select_related("version__submission__problem__contest").get(pk=request.pk)
    ladder = ladder_of(request)
    if any(one.asked is not None and one.level == level for one in ladder.rungs):
        return request.asked.get(level=level)
    if ladder.gate.refusal or ladder.gate.level != level:
        raise FeedbackRefused(ladder.gate.refusal or "The hints have changed meanwhile. Check the current ones first.")
    tried = tried.strip()
    if ladder.gate.needs_answer and not tried and ladder.revision is None:
        raise FeedbackRefused("Describe in a sentence what you tried, or hand in a newer version first.")
    asked = RungAsked.objects.create(
        request=request, level=level, tried=tried, argues=argues and bool(tried), revision=ladder.revision
    )
    proposal_ask(asked, rules_of(request.version.submission.problem))
    return asked


@transaction.atomic
def rung_give(*, asked: RungAsked, text: str, by: User, confirms: bool = False, proposal: uuid.UUID | None = None) -> RungAsked:
    """Give the text of a requested rung. Raises `FeedbackRefused`, and `HintLeaks` unless `confirms`.

    Refused while the text is being marked, because a hint would reveal marks before the results. `proposal`: the proposal in
    the coach's editor, which then labels the hint.
    """
    text = text.strip()
    if not text:
        raise FeedbackRefused("Enter the hint first.")
    if is_held(asked.request):
        raise FeedbackRefused(HELD)
    found = leaks_in(asked, text)
    if found and not confirms:
        raise HintLeaks(found)
    values = {"text": text, "author": by, "given_at": timezone.now(), "leaks": [one.words for one in found]}
    if not RungAsked.objects.filter(pk=asked.pk, given_at=None, request__ended_at=None).update(**values):
        raise FeedbackRefused("This hint was not saved: it was given meanwhile, or the request has ended.")
    origin = proposal_used(asked=asked, text=text, used=proposal)
    RungAsked.objects.filter(pk=asked.pk).update(origin=origin)
    where = asked.request.version.submission.paper.contest
    key = str(asked.request.public_id)
    audit("feedback.given", actor=by, contest=where, request=key, level=asked.level, leaks=len(found), origin=str(origin))
    asked.refresh_from_db()
    return asked


def leaks_in(asked: RungAsked, text: str) -> tuple[Leak, ...]:
    """What a text reveals too early on this rung: unreleased solutions and scheme, and the final answer."""
    secret = secret_of(asked)
    return leaks_of(text, level=asked.level, secrets=secret.texts_at(asked.level), answer=secret.answer, known=secret.known)


def requests_open(contest: Contest, user: User) -> list[RungAsked]:
    """Rungs that wait for this coach, by problem, longest waiting first.

    Excludes texts that are being marked, and texts on which the coach's own mark can still change.
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
    """Record in the ledger that a coach was shown statements by colleagues or a model about a text.

    Recorded once per case of the text, and once for the text if its newest version has not come to marking. The coach's own
    hints are not recorded.
    """
    is_given = request.asked.filter(given_at__isnull=False).exclude(author=to).exists()
    proposals = HintProposal.objects.filter(rung__request=request, rung__given_at=None, state=ProposalState.READY)
    if is_given or (proposals.exists() and not is_held(request)):
        values: dict[str, Any] = {"person": to, "kind": RevealKind.HINTS, "defaults": {"trigger": "hints"}}
        text = request.version.submission
        for case in MarkingCase.objects.filter(version__submission=text):
            Reveal.objects.get_or_create(case=case, **values)
        newest = text.versions.filter(withdrawn_at=None).order_by("-number").first()
        if newest is None or not MarkingCase.objects.filter(version=newest).exists():
            EarlyReveal.objects.get_or_create(submission=text, **values)


def requests_of(version: SubmissionVersion) -> QuerySet[FeedbackRequest]:
    """The requests on all versions of a text, newest first."""
    rows = FeedbackRequest.objects.filter(version__submission=version.submission).select_related("version")
    return rows.order_by("-at", "-pk")


def hints_used(contest: Contest) -> dict[tuple[str, str], int]:
    """Number of given hints, by paper number and problem label; information for coaches, not a penalty."""
    rows = RungAsked.objects.filter(given_at__isnull=False, request__version__submission__paper__contest=contest)
    used: dict[tuple[str, str], int] = {}
    keys = rows.values_list("request__version__submission__paper__number", "request__version__submission__problem__label")
    for key in keys:
        used[key] = used.get(key, 0) + 1
    return dict(sorted(used.items(), key=lambda pair: (pair[0][1], pair[0][0])))


def spent(version: SubmissionVersion) -> int:
    """Number of rungs an author asked for on a problem, over all versions."""
    return RungAsked.objects.filter(request__version__submission=version.submission).count()


def is_over(contest: Contest) -> bool:
    """Whether a full solution may be shown: the time for handing in is over."""
    if contest.state == ContestState.OPEN:
        return contest.closes_at is not None and timezone.now() >= contest.closes_at
    return contest.state in (ContestState.MARKING, ContestState.CLOSED)


def rung_of(asked: RungAsked) -> Rung:
    """The definition of a rung."""
    return RUNGS[Track(asked.request.track)][asked.level]


def sources_of(asked: RungAsked) -> tuple[Source, ...]:
    """The sources that a hint of this rung may use."""
    return sources_at(min(asked.level, TOP))


def _revision(request: FeedbackRequest, asked: list[RungAsked]) -> SubmissionVersion | None:
    """The newest version handed in since the last hint was given."""
    last = asked[-1] if asked else None
    if last is None or last.given_at is None:
        return None
    newer = request.version.submission.versions.filter(number__gt=request.version.number, handed_in_at__gt=last.given_at)
    return newer.filter(withdrawn_at=None).order_by("-number").first()
