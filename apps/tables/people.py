"""Find the accounts and authors that people of a table are.

A user name or an e-mail address decides. A name alone never does: accounts of that name are candidates to look at.
"""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from apps.accounts.models import Role, User
from apps.accounts.selectors import people_named
from apps.contests.models import Contest, Identity
from apps.tables.choices import NOT_THE_SAME, Choices, Unknown
from apps.tables.columns import folded
from apps.tables.reading import Person

CANDIDATES_AT_MOST = 10


@dataclass
class PersonPlan:
    """What becomes of a person. One of:

    - `identity`: already in the contest; with `account`, that author gets this account;
    - `account`: an existing account that enters the contest;
    - `is_created`: a new account; otherwise entered by name.

    `reason`: why the person is left out. `candidates`: accounts of that name, to look at; `is_sure`: no look is needed.
    """

    token: str
    person: Person
    identity: Identity | None = None
    account: User | None = None
    candidates: list[User] = field(default_factory=list)
    is_created: bool = False
    is_sure: bool = True
    reason: str = ""

    @property
    def is_new(self) -> bool:
        """Whether the person is added to the contest."""
        return not self.reason and self.identity is None

    @property
    def is_linked_now(self) -> bool:
        """Whether an author who is already in the contest gets an account."""
        return not self.reason and self.identity is not None and self.account is not None and self.identity.person_id is None


def token_of(key: str) -> str:
    """A short name of a person for fields of forms."""
    return hashlib.sha256(key.encode()).hexdigest()[:16]


def people_plan(
    people: dict[str, Person], contest: Contest | None, choices: Choices, *, may_create: bool, coaches: Collection[int]
) -> dict[str, PersonPlan]:
    """Plan all people of a table, by key. `coaches`: keys of users who may not enter this contest."""
    known = _Known(people.values(), contest)
    plans = {key: _plan(token_of(key), person, known, choices, may_create=may_create) for key, person in people.items()}
    _refuse_conflicts(plans, coaches)
    return plans


class _Known:
    """Accounts and authors that people of a table may be."""

    def __init__(self, people: Iterable[Person], contest: Contest | None) -> None:
        people = list(people)
        words = {word for one in people for word in (one.username, one.email) if word}
        self.accounts = people_named(words) if words else {}
        self.closed = set(User.objects.filter(username__in=words, is_active=False).values_list("username", flat=True))
        rows = list(contest.identities.select_related("person")) if contest else []
        self.by_person = {row.person_id: row for row in rows if row.person_id}
        self.by_name = {row.name: row for row in rows if row.person_id is None}
        self.candidates = _accounts_named({folded(one.name) for one in people if one.name and not (one.username or one.email)})


def _accounts_named(names: set[str]) -> dict[str, list[User]]:
    """Open student accounts by folded name: first and family name in either order, or the user name."""
    found: dict[str, list[User]] = defaultdict(list)
    if not names:
        return found
    rows = User.objects.filter(role=Role.STUDENT, is_active=True).only("pk", "public_id", "username", "first_name", "last_name")
    for user in rows.order_by("username").iterator(chunk_size=2_000):
        given, family = user.first_name, user.last_name
        spelled = {
            folded(f"{given} {family}"),
            folded(f"{family} {given}"),
            folded(f"{family}, {given}"),
            folded(user.username),
        }
        for name in spelled & names:
            found[name].append(user)
    return found


def _plan(token: str, person: Person, known: _Known, choices: Choices, *, may_create: bool) -> PersonPlan:
    plan = PersonPlan(token, person)
    account = known.accounts.get(person.username) or known.accounts.get(person.email)
    if account is not None:
        plan.account, plan.identity = account, known.by_person.get(account.pk)
        if plan.identity is None and person.name:
            plan.identity = known.by_name.get(person.name)  # Entered by name before, now with an account.
        return plan
    if person.username in known.closed:
        plan.reason = f"The account {person.username} is closed."
        return plan
    _by_name(plan, known, choices)
    if plan.identity is None and plan.account is None:
        _without_account(plan, choices, may_create=may_create)
    return plan


def _by_name(plan: PersonPlan, known: _Known, choices: Choices) -> None:
    """Set identity, account and candidates of a person whom the table only names."""
    plan.candidates = known.candidates.get(folded(plan.person.name), [])[:CANDIDATES_AT_MOST]
    entered = known.by_name.get(plan.person.name)
    here = [user for user in plan.candidates if user.pk in known.by_person]
    picked = choices.people.get(plan.token, "")
    chosen = next((user for user in plan.candidates if str(user.public_id) == picked), None)
    if chosen is None and picked != NOT_THE_SAME and entered is None:
        chosen = here[0] if len(here) == 1 else plan.candidates[0] if len(plan.candidates) == 1 else None
    plan.account = chosen
    plan.identity = (known.by_person.get(chosen.pk) if chosen else None) or entered
    is_settled = plan.identity is not None and (chosen is None or plan.identity.person_id == chosen.pk)
    plan.is_sure = not plan.candidates or is_settled


def _without_account(plan: PersonPlan, choices: Choices, *, may_create: bool) -> None:
    person = plan.person
    if choices.unknown == Unknown.ACCOUNT and may_create:
        plan.is_created = True
    elif choices.unknown == Unknown.LEAVE:
        plan.reason = f"No account {person.username or person.email or f'of the name {person.name}'}; left out as chosen."
    elif not person.name:
        plan.reason = f"No account {person.shown}, and the table has no name to enter."


def _refuse_conflicts(plans: dict[str, PersonPlan], coaches: Collection[int]) -> None:
    """Refuse coaches, a second person of an account, and a second person without an account under one name."""
    accounts: dict[int, PersonPlan] = {}
    names: dict[str, PersonPlan] = {}
    for plan in plans.values():
        if plan.reason:
            continue
        if plan.account is not None:
            first = accounts.setdefault(plan.account.pk, plan)
            if plan.account.pk in coaches:
                plan.reason = f"{plan.account.username} is a coach of this contest."
            elif plan.account.role != Role.STUDENT and plan.identity is None:
                plan.reason = f"{plan.account.username} is not the account of a student."
            elif first is not plan:
                plan.reason = (
                    f"The account {plan.account.username} is that of {first.person.shown} in line {first.person.line}."
                )
        elif not plan.is_created:
            first = names.setdefault(plan.person.name, plan)
            if first is not plan:
                plan.reason = (
                    f"{plan.person.name} in line {first.person.line} has the same name. "
                    "Give both accounts, or write their names differently."
                )
