"""Whose identity was opened by whom, and what keeps one shut for somebody: who judges a paper does not know whose it is.

The apps above register what keeps an identity shut when they start (`AppConfig.ready`). Where a contest is not anonymous its
coaches read the names anyway, and nothing follows from opening one.
"""

from collections.abc import Callable

from django.db import transaction
from django.db.models import QuerySet

from apps.accounts.models import User
from apps.contests.models import ContestCoach, Identity, IdentityReveal, Paper
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
    reveal = IdentityReveal(paper=paper, by=by, reason=reason)
    reveal.full_clean()
    reveal.save()
    told(paper.contest, "contest.identity", by, number=paper.number)
    return Identity.objects.get(paper=paper)
