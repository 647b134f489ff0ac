"""Open identities and refuse it to users who judge the paper.

Higher apps register their rules at startup (`AppConfig.ready`). In a contest that is not anonymous, coaches read the names
anyway, and opening an identity has no consequences.
"""

from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from apps.accounts.models import User
from apps.contests.models import AFTER_SIGN_OFF, Contest, ContestCoach, Identity, IdentityReveal, Paper
from apps.contests.record_keepers import event_publish
from apps.contests.services import ContestRefused

#: Returns why the user cannot open the identity of a paper now, or an empty text.
Rule = Callable[[Paper, User], str]
_RULES: list[Rule] = []


def opening_register(rule: Rule) -> None:
    """Register a rule that keeps identities closed. Duplicates are ignored."""
    if rule not in _RULES:
        _RULES.append(rule)


def opening_refusal(paper: Paper, user: User) -> str:
    """Why the user cannot open the identity of a paper now; empty if they can."""
    if not paper.contest.is_anonymous:
        return ""
    return next((why for rule in _RULES if (why := rule(paper, user))), "")


def openings() -> QuerySet[IdentityReveal]:
    """Opened identities of anonymous contests whose opener still has an account."""
    return IdentityReveal.objects.filter(paper__contest__is_anonymous=True, by__isnull=False)


@transaction.atomic
def identity_open(*, paper: Paper, by: User, reason: str) -> Identity:
    """Open the identity of a paper and record the user and the reason. The caller has checked `access.reveal_may`.

    Raises `ContestRefused` without a reason and if a rule keeps the identity closed for this user.
    """
    # Serialise with claims of the same user: no claim may fall between the check and the opening.
    ContestCoach.objects.select_for_update().filter(contest=paper.contest_id, person=by).first()
    if refusal := opening_refusal(paper, by):
        raise ContestRefused(refusal)
    reason = " ".join(reason.split())
    if not reason:
        raise ContestRefused("Enter a reason; the record keeps it.")
    if reason.casefold() == AFTER_SIGN_OFF.casefold():  # This text marks the opening of all identities.
        raise ContestRefused("Enter another reason: this text is reserved for opening all identities after sign-off.")
    reveal = IdentityReveal(paper=paper, by=by, reason=reason)
    reveal.full_clean()
    reveal.save()
    event_publish(paper.contest, "contest.identity", by, number=paper.number)
    return Identity.objects.get(paper=paper)


def papers_closed(contest: Contest, user: User) -> QuerySet[Paper]:
    """Papers of a contest whose identities the user has not opened."""
    return contest.papers.exclude(pk__in=IdentityReveal.objects.filter(paper__contest=contest, by=user).values("paper"))


@transaction.atomic
def identities_open(*, contest: Contest, by: User, **body: Any) -> int:
    """Open all identities of a contest for one user. Returns the number of newly opened identities; a repeat opens none.

    The caller has checked `access.reveal_may` and that the results are signed off. `body` is added to the record. Raises
    `ContestRefused` if a rule keeps an identity closed for this user; then none is opened.
    """
    ContestCoach.objects.select_for_update().filter(contest=contest, person=by).first()
    closed = list(papers_closed(contest, by).select_related("contest"))
    for paper in closed:
        if refusal := opening_refusal(paper, by):
            raise ContestRefused(f"Paper {paper.number}: {refusal} No identity was opened.")
    IdentityReveal.objects.bulk_create(IdentityReveal(paper=paper, by=by, reason=AFTER_SIGN_OFF) for paper in closed)
    if closed:
        event_publish(contest, "contest.identities", by, papers=len(closed), **body)
    return len(closed)
