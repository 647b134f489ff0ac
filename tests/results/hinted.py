"""A request for hints as it may lie beside a text that is being marked: one hint given, the next proposed by a model."""

from django.utils import timezone

from apps.accounts.models import User
from apps.results.models import FeedbackRequest, HintProposal, ProposalState, RungAsked
from apps.submissions.models import SubmissionVersion


def hinted(version: SubmissionVersion, by: User, given: str, proposed: str = "") -> FeedbackRequest:
    """A request on a version with a hint that somebody gave and, where it has words, a proposal that waits for a coach."""
    request = FeedbackRequest.objects.create(version=version, track="repair", words="Is step 2 right?")
    RungAsked.objects.create(request=request, level=0, text=given, author=by, given_at=timezone.now())
    if proposed:
        asked = RungAsked.objects.create(request=request, level=1, tried="I tried.")
        HintProposal.objects.create(rung=asked, writer="tutor", state=ProposalState.READY, text=proposed, level=1)
    return request
