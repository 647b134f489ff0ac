"""Names next to results: hidden until the list is signed off and an organiser opens the identities, on record.

A list is signed off if its current content was signed (`office.results_sign`), which requires a grade for every text. After
a later change of a grade, names are hidden until the new list is signed. Each organiser with `may_reveal` opens identities
for themselves, so that the record shows who knows them. From then on they mark none of those papers.
"""

from dataclasses import dataclass

from django.db import transaction

from apps.accounts.models import Role, User
from apps.contests.access import reveal_may
from apps.contests.models import Contest, Identity
from apps.contests.opening import identities_open, papers_closed
from apps.marks.models import AuditEvent
from apps.marks.office.office import ResultList, result_list, signatures

NOT_SIGNED = "Identities stay closed until this list is signed off."
NOT_ALLOWED = (
    "You may not open identities. An organiser with permission to learn who wrote a paper can do it; any organiser can grant "
    "this permission where coaches are added."
)
ONLY_COACHES = "Only coaches can learn who wrote a paper."


class NamesRefused(Exception):
    """The identities cannot be opened now; the message gives the reason."""


@dataclass(frozen=True)
class Names:
    """The authors in a result list. `by_paper`: by key of the paper; `absent`: people without a submission, by name."""

    by_paper: dict[int, Identity]
    absent: list[Identity]


def sign_off(contest: Contest, found: ResultList) -> AuditEvent | None:
    """The newest signature under exactly this list; None while a script has no grade."""
    return None if found.missing else signatures(contest).filter(body__digest=found.digest).first()


def names_refusal(user: User, contest: Contest, found: ResultList) -> str:
    """Why this organiser may not see names now; empty if they can open them or have opened them."""
    if user.role != Role.COACH:
        return ONLY_COACHES
    if not contest.is_anonymous:
        return ""
    if not reveal_may(user, contest):
        return NOT_ALLOWED
    return "" if sign_off(contest, found) is not None else NOT_SIGNED


def names_of(user: User, contest: Contest, found: ResultList) -> Names | None:
    """The names for an organiser who opened all identities; None for other users."""
    if names_refusal(user, contest, found) or (contest.is_anonymous and papers_closed(contest, user).exists()):
        return None
    by_paper = {identity.paper_id: identity for identity in contest.identities.order_by("name", "pk")}
    listed = {row.paper.pk for row in found.rows}
    return Names(by_paper, [identity for key, identity in by_paper.items() if key not in listed])


@transaction.atomic
def names_open(*, contest: Contest, by: User, digest: str) -> int:
    """Open all identities for the list with this digest; returns how many were closed. Repeating it has no effect.

    Raises `NamesRefused` if the list has changed, is not signed off, or the user lacks permission. Raises `ContestRefused`
    while a mark of the user can still change.
    """
    found = result_list(contest)
    if refusal := names_refusal(by, contest, found):
        raise NamesRefused(refusal)
    if found.digest != digest:
        raise NamesRefused("The results changed since you looked, so no identity was opened. Check the new list first.")
    return identities_open(contest=contest, by=by, digest=digest) if contest.is_anonymous else 0
