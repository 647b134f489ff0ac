"""Whose identity was opened by whom, and what keeps one shut for somebody: who judges a paper does not know whose it is.

The apps above register what keeps an identity shut when they start (`AppConfig.ready`). Where a contest is not anonymous its
coaches read the names anyway, and nothing follows from opening one.
"""

from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from apps.accounts.models import User
from apps.contests.models import AFTER_SIGN_OFF, Contest, ContestCoach, Identity, IdentityReveal, Paper
from apps.contests.services import ContestRefused
from apps.contests.telling import told

#: Why this person cannot learn now who wrote a paper; empty where they can.
Rule = Callable[[Paper, User], str]
_RULES: list[Rule] = []


def opening_register(rule: Rule) -> None:
    """Let `rule` keep identities shut. The same rule twice counts once."""
    if rule not in _RULES:
        _RULES.append(rule)


def opening_refusal(paper: Paper, user: User) -> str:
    """Why this person cannot learn now who wrote a paper; empty where they can."""
    if not paper.contest.is_anonymous:
        return ""
    return next((why for rule in _RULES if (why := rule(paper, user))), "")


def openings() -> QuerySet[IdentityReveal]:
    """Who opened which identity of an anonymous contest, and is still known."""
    return IdentityReveal.objects.filter(paper__contest__is_anonymous=True, by__isnull=False)


@transaction.atomic
def identity_open(*, paper: Paper, by: User, reason: str) -> Identity:
    """Who wrote a paper. That it was asked, by whom and why, is kept. The caller has asked `access.reveal_may`.

    Raises `ContestRefused` without a reason, and where something keeps it shut for this person.
    """
    # A claim of the same person in another window comes before or after, never between the question and its answer.
    ContestCoach.objects.select_for_update().filter(contest=paper.contest_id, person=by).first()
    if refusal := opening_refusal(paper, by):
        raise ContestRefused(refusal)
    reason = " ".join(reason.split())
    if not reason:
        raise ContestRefused("Say why you need to know; the reason is kept.")
    if reason.casefold() == AFTER_SIGN_OFF.casefold():  # By these words the record knows the opening of all.
        raise ContestRefused("Give a reason of your own: these words stand for the opening of all identities after sign-off.")
    reveal = IdentityReveal(paper=paper, by=by, reason=reason)
    reveal.full_clean()
    reveal.save()
    told(paper.contest, "contest.identity", by, number=paper.number)
    return Identity.objects.get(paper=paper)


def papers_closed(contest: Contest, user: User) -> QuerySet[Paper]:
    """The papers of a contest whose identities this person has not opened."""
    return contest.papers.exclude(pk__in=IdentityReveal.objects.filter(paper__contest=contest, by=user).values("paper"))


@transaction.atomic
def identities_open(*, contest: Contest, by: User, **body: Any) -> int:
    """Open all identities of a contest for one person; how many were closed to them. Again, it changes and records nothing.

    The caller has asked `access.reveal_may`, and that the results are signed off. `body` goes into the record. Raises
    `ContestRefused` where something keeps one of them shut for this person; then none is opened.
    """
    ContestCoach.objects.select_for_update().filter(contest=contest, person=by).first()
    closed = list(papers_closed(contest, by).select_related("contest"))
    for paper in closed:
        if refusal := opening_refusal(paper, by):
            raise ContestRefused(f"Paper {paper.number}: {refusal} No identity was opened.")
    IdentityReveal.objects.bulk_create(IdentityReveal(paper=paper, by=by, reason=AFTER_SIGN_OFF) for paper in closed)
    if closed:
        told(contest, "contest.identities", by, papers=len(closed), **body)
    return len(closed)
