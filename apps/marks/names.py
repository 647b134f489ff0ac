"""Names beside results: closed until the list is signed off, then opened once by whoever may, on record.

Signed off means: somebody signed exactly the list as it is now (`office.results_sign`), in which every text has its
grade. Where a grade changes afterwards, names are not shown until the new list is signed. Each organiser with `may_reveal`
opens identities for themselves, so that the record says who knows; whoever did marks none of those papers any more.
"""

from dataclasses import dataclass

from django.db import transaction

from apps.accounts.models import Role, User
from apps.contests.access import reveal_may
from apps.contests.models import Contest, Identity
from apps.contests.opening import identities_open, papers_closed
from apps.marks.models import AuditEvent
from apps.marks.office import ResultList, result_list, signatures

NOT_SIGNED = "Identities stay closed until this list is signed off."
NOT_ALLOWED = (
    "You may not open identities. An organiser who may learn who wrote a paper can; any organiser gives that permission "
    "where coaches are added."
)
ONLY_COACHES = "Only coaches learn who wrote a paper."


class NamesRefused(Exception):
    """The identities cannot be opened now; the message says why."""


@dataclass(frozen=True)
class Names:
    """Who wrote the papers of a result list. `by_paper`: by the paper's key; `absent`: who handed nothing in, by name."""

    by_paper: dict[int, Identity]
    absent: list[Identity]


def sign_off(contest: Contest, found: ResultList) -> AuditEvent | None:
    """The newest signature under exactly this list."""
    return signatures(contest).filter(body__digest=found.digest).first()


def names_refusal(user: User, contest: Contest, found: ResultList) -> str:
    """Why this organiser cannot have names beside the results now; empty where they can open them, or have."""
    if user.role != Role.COACH:
        return ONLY_COACHES
    if not contest.is_anonymous:
        return ""
    if not reveal_may(user, contest):
        return NOT_ALLOWED
    return "" if sign_off(contest, found) is not None else NOT_SIGNED


def names_of(user: User, contest: Contest, found: ResultList) -> Names | None:
    """The names beside these results for an organiser who opened all of them; None for everybody else."""
    if names_refusal(user, contest, found) or (contest.is_anonymous and papers_closed(contest, user).exists()):
        return None
    by_paper = {identity.paper_id: identity for identity in contest.identities.order_by("name", "pk")}
    told = {row.paper.pk for row in found.rows}
    return Names(by_paper, [identity for key, identity in by_paper.items() if key not in told])


@transaction.atomic
def names_open(*, contest: Contest, by: User, digest: str) -> int:
    """Open all identities beside the list with this digest; how many were closed. Doing it again changes nothing.

    Raises `NamesRefused` where the list is another by now or not signed off, and for whoever may not; `ContestRefused` where a
    mark of the person's own can still change.
    """
    found = result_list(contest)
    if refusal := names_refusal(by, contest, found):
        raise NamesRefused(refusal)
    if found.digest != digest:
        raise NamesRefused("The results changed since you looked. No identity was opened; look at the list again.")
    return identities_open(contest=contest, by=by, digest=digest) if contest.is_anonymous else 0
