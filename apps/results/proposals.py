"""Proposed hints for coaches: requested with a rung; a coach gives, changes or declines each, or requests another."""

import uuid

from django.db import transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.marks.audit import audit
from apps.reasoning.hints.material import WRITTEN_AT_MOST
from apps.results.models import FeedbackRequest, FeedbackRules, HintOrigin, HintProposal, ProposalState, RungAsked
from apps.results.shown import results_awaited

WAITING = (ProposalState.QUEUED, ProposalState.RUNNING)
HELD = "This text is being marked. Hints continue once its results are released."


class ProposalRefused(Exception):
    """A proposal cannot be declined or requested again; the message gives the reason."""


def is_held(request: FeedbackRequest) -> bool:
    """Whether hints on a request wait for results of its text, or of a newer version that the hints are about by now."""
    version = request.version
    newest = version.submission.versions.filter(withdrawn_at=None).order_by("-number").first()
    return results_awaited(version) or (newest is not None and newest != version and results_awaited(newest))


def proposal_ask(asked: RungAsked, rules: FeedbackRules) -> HintProposal | None:
    """Queue a proposal for a rung, if the coaches chose a model and models may write this rung."""
    if not rules.writer or asked.level > WRITTEN_AT_MOST:
        return None
    values = {"writer": rules.writer, "guesser": rules.guesser}
    return HintProposal.objects.get_or_create(rung=asked, defaults=values)[0]


def proposal_of(asked: RungAsked | None) -> HintProposal | None:
    """The proposal for a rung; None if there is none."""
    return HintProposal.objects.filter(rung=asked).first() if asked is not None else None


@transaction.atomic
def proposal_decline(*, proposal: HintProposal, by: User) -> None:
    """Decline a proposal, so that the coach writes the hint. Raises `ProposalRefused`."""
    rows = HintProposal.objects.filter(pk=proposal.pk, rung__given_at=None)
    if not rows.exclude(state__in=(ProposalState.DECLINED, ProposalState.GIVEN)).update(state=ProposalState.DECLINED):
        raise ProposalRefused("This proposal was already declined or given.")
    _audited("feedback.declined", proposal, by)


@transaction.atomic
def proposal_again(*, rung: RungAsked, rules: FeedbackRules, by: User) -> HintProposal:
    """Request a new proposal from the currently chosen model. Raises `ProposalRefused`."""
    if rung.given_at is not None or rung.request.ended_at is not None:
        raise ProposalRefused("This hint was already given, or the request has ended.")
    if is_held(rung.request):
        raise ProposalRefused(HELD)
    if not rules.writer:
        raise ProposalRefused("No model is chosen for this problem. Choose one in the rules for hints.")
    if rung.level > WRITTEN_AT_MOST:
        raise ProposalRefused("Hints of this level are written by coaches only.")
    if HintProposal.objects.filter(rung=rung, state__in=WAITING).exists():
        raise ProposalRefused("The model is already writing a proposal.")
    fresh: dict[str, object] = {
        "state": ProposalState.QUEUED, "writer": rules.writer, "guesser": rules.guesser, "text": "", "level": None,
        "dropped": [], "gain": None, "reason": "", "started_at": None, "done_at": None, "public_id": uuid.uuid4(),
    }  # fmt: skip
    proposal, _ = HintProposal.objects.update_or_create(rung=rung, defaults=fresh)
    _audited("feedback.proposal", proposal, by)
    return proposal


def proposal_used(*, asked: RungAsked, text: str, used: uuid.UUID | None) -> HintOrigin:
    """Close the proposal of a rung that receives this text; returns who wrote the text.

    `used`: the proposal that was in the coach's editor; None if the editor was empty.
    """
    proposal = HintProposal.objects.filter(rung=asked).first()
    if proposal is None:
        return HintOrigin.COACH
    is_used = used == proposal.public_id and proposal.state == ProposalState.READY
    state = ProposalState.GIVEN if is_used else ProposalState.DECLINED
    HintProposal.objects.filter(pk=proposal.pk).update(state=state, done_at=proposal.done_at or timezone.now())
    if not is_used:
        return HintOrigin.COACH
    return HintOrigin.MODEL if _plain(text) == _plain(proposal.text) else HintOrigin.CHANGED


def _plain(text: str) -> str:
    """A text without the changes that a browser's text field may make."""
    return text.replace("\r\n", "\n").strip()


def _audited(verb: str, proposal: HintProposal, by: User) -> None:
    request = proposal.rung.request
    where = request.version.submission.paper.contest
    audit(verb, actor=by, contest=where, request=str(request.public_id), level=proposal.rung.level, writer=proposal.writer)
