"""A request for hints on a text in marking: one hint given, the next one proposed by a model."""

from django.utils import timezone

from apps.accounts.models import User
from apps.results.models import FeedbackRequest, HintProposal, ProposalState, RungAsked
from apps.submissions.models import SubmissionVersion


def hinted(version: SubmissionVersion, by: User, given: str, proposed: str = "") -> FeedbackRequest:
    """Open a request with a hint given by a coach and, if `proposed` has words, a proposal ready for a coach."""
    request = FeedbackRequest.objects.create(version=version, track="repair", words="Is step 2 right?")
    RungAsked.objects.create(request=request, level=0, text=given, author=by, given_at=timezone.now())
    if proposed:
        asked = RungAsked.objects.create(request=request, level=1, tried="I tried.")
        HintProposal.objects.create(rung=asked, writer="tutor", state=ProposalState.READY, text=proposed, level=1)
    return request
