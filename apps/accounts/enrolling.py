"""Create accounts of many students at once, each with a random password that is shown once.

Hashing takes most of the time, so that passwords are prepared before the transaction that stores the accounts.
"""

import re
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from django.contrib.auth.hashers import make_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.text import slugify

from apps.accounts.models import Role, User
from apps.accounts.services import AccountRefused
from apps.files.csv_files import csv_lines

ACCOUNTS_AT_ONCE = 500
USERNAME_LENGTH = 150
#: For passwords on paper: without look-alikes. A first letter keeps spreadsheets from reading a formula or a number.
_LETTERS = "abcdefghjkmnpqrstuvwxyz"
_SIGNS = f"{_LETTERS}23456789"
_PASSWORD_LENGTH = 14
_USERNAME = re.compile(r"[\w.@+-]+")


@dataclass(frozen=True)
class NewStudent:
    """A student without an account. An empty user name is made from the name or the e-mail address."""

    username: str = ""
    given: str = ""
    family: str = ""
    email: str = ""

    @property
    def fault(self) -> str:
        """Why no account can be created; empty if one can."""
        if self.username and not (_USERNAME.fullmatch(self.username) and len(self.username) <= USERNAME_LENGTH):
            return f"“{self.username[:60]}” is no user name: use letters, digits and @ . + - _ only."
        if len(self.given) > 150 or len(self.family) > 150:
            return "The name is too long for an account."
        if self.email:
            try:
                validate_email(self.email)
            except ValidationError:
                return f"“{self.email[:60]}” is no e-mail address."
        return ""


@dataclass(frozen=True)
class Password:
    """A random password and its hash."""

    text: str
    encoded: str


def student_named(word: str) -> NewStudent:
    """The student that a line of a list means: a user name, an e-mail address, or a name."""
    word = " ".join(word.split())
    if "@" in word and not word.startswith("@"):
        return NewStudent(email=word)
    if _USERNAME.fullmatch(word):
        return NewStudent(username=word)
    given, family = name_parts(word)
    return NewStudent(given=given, family=family)


def name_parts(name: str) -> tuple[str, str]:
    """First and family name of `Anna Kovács` and of `Kovács, Anna`."""
    if "," in name:
        family, _, given = name.partition(",")
        return given.strip(), family.strip()
    given, _, family = name.rpartition(" ")
    return given.strip(), family.strip()


def password_address(created: Sequence[tuple[User, str]]) -> str:
    """A `data:` address of new accounts and their passwords as CSV, for a link on the only page that shows them."""
    rows = ({"user name": user.username, "name": user.get_full_name(), "password": password} for user, password in created)
    return f"data:text/csv;charset=utf-8,{quote(''.join(csv_lines(('user name', 'name', 'password'), rows)))}"


def passwords_prepare(count: int) -> list[Password]:
    """Random passwords with hashes; about 0.1 s each. Call it outside a transaction. Raises `AccountRefused` for too many."""
    if count > ACCOUNTS_AT_ONCE:
        raise AccountRefused(f"At most {ACCOUNTS_AT_ONCE} accounts can be created at once. Split the list.")
    texts = [_password_draw() for _ in range(count)]
    return [Password(text, make_password(text)) for text in texts]


@transaction.atomic
def students_create(*, students: Sequence[NewStudent], passwords: Sequence[Password]) -> list[tuple[User, str]]:
    """Create the accounts, all or none, and return each with its password, in the same order.

    Raises `AccountRefused` for a fault, for a taken user name, also one that another process takes meanwhile, and with fewer
    passwords than students.
    """
    if fault := next((one.fault for one in students if one.fault), ""):
        raise AccountRefused(fault)
    if len(passwords) < len(students):
        raise AccountRefused("Accounts changed meanwhile, so none was created. Try again.")
    wanted = [one.username or _username_base(one) for one in students]
    taken = usernames_taken()
    given = {one.username.casefold() for one in students}
    made = []
    for one, base, password in zip(students, wanted, passwords, strict=False):
        name, number = base, 2
        while name.casefold() in taken or (name.casefold() in given and not one.username):
            if one.username:
                raise AccountRefused(f"The user name {one.username} is taken. Choose another one.")
            name, number = f"{base}{number}", number + 1
        taken.add(name.casefold())
        user = User(username=name, first_name=one.given, last_name=one.family, email=one.email, role=Role.STUDENT)
        user.password = password.encoded
        made.append((user, password.text))
    try:
        with transaction.atomic():
            User.objects.bulk_create([user for user, _ in made], batch_size=200)
    except IntegrityError as error:
        raise AccountRefused("Another user created an account of one of these names meanwhile. Try again.") from error
    return made


@transaction.atomic
def passwords_replace(*, accounts: Collection[int], passwords: Sequence[Password]) -> list[tuple[User, str]]:
    """Give students who never signed in new passwords; return each with its password, by user name.

    `accounts`: primary keys; those of other users are left alone. Raises `AccountRefused` with fewer passwords than students.
    """
    users = list(never_signed_in(accounts).select_for_update())
    if len(passwords) < len(users):
        raise AccountRefused("Accounts changed meanwhile, so no password was drawn. Try again.")
    for user, password in zip(users, passwords, strict=False):
        user.password = password.encoded
    User.objects.bulk_update(users, ["password"], batch_size=200)
    return [(user, password.text) for user, password in zip(users, passwords, strict=False)]


def never_signed_in(accounts: Collection[int]) -> QuerySet[User]:
    """Those of the accounts (primary keys) that are open, belong to students, and were never signed in to, by user name."""
    students = User.objects.filter(pk__in=accounts, role=Role.STUDENT, is_active=True, is_staff=False, is_superuser=False)
    return students.filter(last_login=None).order_by("username")


def usernames_taken() -> set[str]:
    """All user names in lower case: two names that differ in case only would be confused."""
    return {name.casefold() for name in User.objects.values_list("username", flat=True).iterator()}


def _password_draw() -> str:
    return secrets.choice(_LETTERS) + "".join(secrets.choice(_SIGNS) for _ in range(_PASSWORD_LENGTH - 1))


def _username_base(student: NewStudent) -> str:
    parts = [slugify(part) for part in (student.given, student.family)]
    name = ".".join(part for part in parts if part) or slugify(student.email.partition("@")[0].replace(".", "-"))
    return name[: USERNAME_LENGTH - 6] or "student"
