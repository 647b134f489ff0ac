"""Find the accounts and authors that people of a table are.

A user name or an e-mail address decides on the account; if its name differs clearly, after a look. A name alone never decides:
accounts of that name are candidates to look at. Authors of the contest are found by name with school or id (`authors`).
"""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from apps.accounts.models import Role, User
from apps.accounts.selectors import people_named
from apps.contests.models import Contest, Identity
from apps.tables.authors import Match, agreeing, is_other, match_of, names_agree
from apps.tables.choices import NOT_THE_SAME, Choices, Unknown
from apps.tables.columns import folded
from apps.tables.reading import Person

CANDIDATES_AT_MOST = 10
#: Decisions on one page; the people beyond them are left out.
LOOKS_AT_MOST = 200


@dataclass
class PersonPlan:
    """What becomes of a person. One of:

    - `identity`: already in the contest; with `account`, that author gets this account;
    - `account`: an existing account that enters the contest;
    - `is_created`: a new account; otherwise entered by name.

    `reason`: why the person is left out. `candidates`: accounts to look at, of that name or of that user name; `is_sure`: no
    look is needed. `is_exact`: the author was found by account, school or id, not by the name alone. `is_denied`: the account
    of the table is not that author. `has_other_name`: the account that the table names has a clearly different name.
    """

    token: str
    person: Person
    identity: Identity | None = None
    account: User | None = None
    candidates: list[User] = field(default_factory=list)
    is_created: bool = False
    is_sure: bool = True
    is_exact: bool = False
    is_denied: bool = False
    has_other_name: bool = False
    reason: str = ""

    @property
    def is_new(self) -> bool:
        """Whether the person is added to the contest."""
        return not self.reason and self.identity is None

    @property
    def is_linked_now(self) -> bool:
        """Whether an author who is already in the contest gets an account."""
        return not self.reason and self.identity is not None and self.account is not None and self.identity.person_id is None

    @property
    def details(self) -> tuple[str, str]:
        """The school and the id that an author of the contest gets, because the contest has none; else empty."""
        if self.identity is None or self.reason:
            return "", ""
        school = "" if self.identity.school else self.person.school
        return school, "" if self.identity.external_id else self.person.external_id

    @property
    def kept(self) -> list[str]:
        """What the contest has otherwise than the table, in sentences."""
        if self.identity is None or self.reason:
            return []
        pairs = (
            ("school", self.identity.school, self.person.school),
            ("id", self.identity.external_id, self.person.external_id),
        )
        return [
            f"{self.person.shown} has the {what} “{stored}” in the contest, which stays."
            for what, stored, given in pairs
            if stored and given and folded(stored) != folded(given)
        ]

    @property
    def picked(self) -> str:
        """The choice that the page shows: the id of an account, or `NOT_THE_SAME`."""
        return NOT_THE_SAME if self.account is None or self.is_denied else str(self.account.public_id)


def token_of(key: str) -> str:
    """A short name of a person for fields of forms."""
    return hashlib.sha256(key.encode()).hexdigest()[:16]


def people_plan(
    people: dict[str, Person], contest: Contest | None, choices: Choices, *, may_create: bool, coaches: Collection[int]
) -> dict[str, PersonPlan]:
    """Plan all people of a table, by key. `coaches`: keys of users who may not enter this contest."""
    known = _Known(people.values(), contest)
    plans = {key: _plan(token_of(key), person, known, choices, may_create=may_create) for key, person in people.items()}
    for plan in [one for one in plans.values() if one.candidates and not one.is_sure][LOOKS_AT_MOST:]:
        plan.reason = plan.reason or (
            f"More than {LOOKS_AT_MOST} people need a look at their account. Import the first ones, then this table again."
        )
    _refuse_accounts(plans, coaches)
    _refuse_authors(plans)
    _refuse_names(plans, known)
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
        self.by_name: dict[str, list[Identity]] = defaultdict(list)
        for row in rows:
            self.by_name[folded(row.name)].append(row)
        self.candidates = _accounts_named({folded(one.name) for one in people if one.name and not (one.username or one.email)})

    def named(self, name: str) -> list[Identity]:
        """The authors of this name, whatever its accents and case; those with the same spelling first."""
        return sorted(self.by_name.get(folded(name), []), key=lambda row: row.name != name)

    def without_account(self, name: str) -> Identity | None:
        """The author of this name without an account; at most one can be in a contest."""
        return next((row for row in self.named(name) if row.person_id is None), None)


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
        _with_account(plan, account, known, choices)
        return plan
    if person.username in known.closed:
        plan.reason = f"The account {person.username} is closed."
        return plan
    _by_name(plan, known, choices)
    if plan.identity is None and plan.account is None and not plan.reason:
        _without_account(plan, choices, may_create=may_create)
    return plan


def _with_account(plan: PersonPlan, account: User, known: _Known, choices: Choices) -> None:
    """Set the account, and the author who was entered by name before. Where only the name agrees, that needs a look.

    An account of a clearly different name needs a look too.
    """
    plan.account, plan.identity = account, known.by_person.get(account.pk)
    plan.is_exact = True
    if _has_other_name(plan):
        plan.has_other_name, plan.is_sure, plan.candidates = True, False, [account]
        plan.is_denied = choices.people.get(plan.token) == NOT_THE_SAME
        if plan.is_denied:
            word, name = plan.person.username or plan.person.email, account.get_full_name() or account.username
            plan.reason = f"{word} is the account of {name}, not of {plan.person.name[:60]}. Correct or empty that cell."
            return
    entered = known.without_account(plan.person.name)
    if plan.identity is not None or entered is None or is_other(plan.person, entered):
        return
    if not agreeing(plan.person, entered):
        plan.is_exact, plan.is_sure, plan.candidates = False, False, [account]
        plan.is_denied = choices.people.get(plan.token) == NOT_THE_SAME
        if plan.is_denied:
            return
    plan.identity = entered


def _has_other_name(plan: PersonPlan) -> bool:
    """Whether neither the account nor its author in the contest has a name like that of the person."""
    stored = [plan.account.get_full_name() if plan.account else "", plan.identity.name if plan.identity else ""]
    names = [name for name in stored if name]
    return bool(plan.person.name and names) and not any(names_agree(plan.person.name, name) for name in names)


def _by_name(plan: PersonPlan, known: _Known, choices: Choices) -> None:
    """Set identity, account and candidates of a person whose account the table does not name."""
    person, picked = plan.person, choices.people.get(plan.token, "")
    users = known.candidates.get(folded(person.name), [])
    here = {user.pk: row for user in users if (row := known.by_person.get(user.pk))}
    plan.candidates = [one for one in users if one.pk not in here or not is_other(person, here[one.pk])][:CANDIDATES_AT_MOST]
    match = match_of(person, {row.pk: row for row in (*known.named(person.name), *here.values())}.values())
    chosen = next((user for user in plan.candidates if str(user.public_id) == picked), None)
    if chosen is not None:
        plan.account = chosen
        plan.identity = known.by_person.get(chosen.pk) or match.entered
    elif picked == NOT_THE_SAME:
        plan.identity = match.entered
    else:
        _propose(plan, match)
    plan.is_exact = match.is_exact and plan.identity == match.found
    linked = plan.identity.person_id if plan.identity else None
    is_settled = plan.identity is not None and linked == (plan.account.pk if plan.account else None)
    plan.is_sure = not plan.candidates or is_settled


def _propose(plan: PersonPlan, match: Match) -> None:
    """The author who was found, else the only account of the name."""
    if match.found is not None:
        plan.identity, plan.account = match.found, match.found.person
    elif match.is_unclear:
        plan.reason = (
            f"The contest has several students called {plan.person.name[:60]}. Add the school, the id or the user name."
        )
    elif len(plan.candidates) == 1:
        plan.account = plan.candidates[0]


def _without_account(plan: PersonPlan, choices: Choices, *, may_create: bool) -> None:
    person = plan.person
    if choices.unknown == Unknown.ACCOUNT and may_create:
        plan.is_created = True
    elif choices.unknown == Unknown.LEAVE:
        plan.reason = f"No account {person.username or person.email or f'of the name {person.name}'}; left out as chosen."
    elif not person.name:
        plan.reason = f"No account {person.shown}, and the table has no name to enter."


def _refuse_accounts(plans: dict[str, PersonPlan], coaches: Collection[int]) -> None:
    """Refuse coaches, accounts of others than students, and a second person of an account."""
    accounts: dict[int, PersonPlan] = {}
    for plan in plans.values():
        if plan.reason or plan.account is None:
            continue
        first = accounts.setdefault(plan.account.pk, plan)
        if plan.account.pk in coaches:
            plan.reason = f"{plan.account.username} is a coach of this contest."
        elif plan.account.role != Role.STUDENT and plan.identity is None:
            plan.reason = f"{plan.account.username} is not the account of a student."
        elif first is not plan:
            plan.reason = f"The account {plan.account.username} is that of {first.person.shown} in line {first.person.line}."


def _refuse_authors(plans: dict[str, PersonPlan]) -> None:
    """Refuse all but one person of the table for an author; without an agreeing school or id, all of them."""
    claims: dict[int, list[PersonPlan]] = defaultdict(list)
    for plan in plans.values():
        if plan.identity is not None and not plan.reason:
            claims[plan.identity.pk].append(plan)
    for rivals in claims.values():
        sure = next((one for one in rivals if one.is_exact), None)
        for plan in rivals if len(rivals) > 1 else ():
            if plan is not sure:
                other = sure or next(one for one in rivals if one is not plan)
                plan.reason = (
                    f"{plan.person.shown} may be the same student of the contest as {other.person.shown} in line "
                    f"{other.person.line}. Give both the school, an id or a user name."
                )


def _refuse_names(plans: dict[str, PersonPlan], known: _Known) -> None:
    """Refuse a second person without an account under one name, in the table or in the contest."""
    linked = {plan.identity.pk for plan in plans.values() if plan.identity and plan.is_linked_now}
    names: dict[str, PersonPlan] = {}
    for plan in plans.values():
        if not plan.is_new or plan.account is not None or plan.is_created:
            continue
        entered = known.without_account(plan.person.name)
        first = names.setdefault(folded(plan.person.name), plan)
        if entered is not None and entered.pk not in linked:
            where = f"The contest has another {plan.person.name}{f' ({entered.school})' if entered.school else ''}"
            plan.reason = f"{where} without an account. Give both accounts, or write their names differently."
        elif first is not plan:
            plan.reason = (
                f"{plan.person.name} in line {first.person.line} has the same name. "
                "Give both accounts, or write their names differently."
            )
