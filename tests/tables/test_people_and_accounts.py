"""People of a table and accounts: a name alone decides nothing without a look, and unknown people stop nothing."""

from collections.abc import Callable

import pytest
from django.test import Client
from pytest_django import Settings

from apps.accounts.models import GroupMember, Role, User
from apps.contests.models import AuthorKind, Contest
from apps.contests.services import author_add
from apps.tables.models import TableImport, TablePoints
from tests.contests.factory import enter, make_contest
from tests.tables.factory import import_all, page_of, post, upload

ClientFor = Callable[[User | None], Client]


@pytest.fixture
def bobs(bob: User, client_for: ClientFor) -> Client:
    return client_for(bob)


@pytest.fixture
def contest(bob: User) -> Contest:
    return make_contest(bob)


@pytest.fixture
def anna(db: None) -> User:
    return student("anna.k", "Anna", "Kovács")


def student(username: str, given: str, family: str) -> User:
    return User.objects.create_user(username, role=Role.STUDENT, first_name=given, last_name=family)


def roster(contest: Contest) -> list[tuple[str, str | None]]:
    return sorted(contest.identities.values_list("name", "person__username"))


def token(client: Client, file: object) -> str:
    page = client.get(f"/contests/tables/{file.public_id}/").content.decode()  # type: ignore[attr-defined]
    return page.partition('name="who_')[2][:16]


def test_user_names_and_addresses_decide(contest: Contest, bobs: Client, anna: User, charlie: User) -> None:
    import_all(bobs, contest, b"User name,Name\nanna.k,Anna K.\n,Noemi\n")
    import_all(bobs, contest, b"E-mail,School\ncharlie@example.org,North\n")
    assert roster(contest) == [("Anna K.", "anna.k"), ("Charlie", "charlie"), ("Noemi", None)]


@pytest.mark.parametrize("name", ["Anna Kovács", "Kovács Anna", '"KOVACS, Anna"'])
def test_an_account_of_the_name_is_linked_only_after_a_look(contest: Contest, bobs: Client, anna: User, name: str) -> None:
    file = upload(bobs, contest, f"Name,School\n{name},North\n".encode())
    assert "Is it the same person?" in page_of(bobs, file)
    assert "Nothing was imported yet. Look at the accounts of the people below" in post(bobs, file)
    assert roster(contest) == []
    post(bobs, file, looked="on")
    assert [person for _, person in roster(contest)] == ["anna.k"]


def test_not_the_same_person_is_entered_by_name_and_may_be_linked_later(contest: Contest, bobs: Client, anna: User) -> None:
    table = "Name,School\nAnna Kovács,North\n".encode()
    file = upload(bobs, contest, table)
    who = f"who_{token(bobs, file)}"
    post(bobs, file, "preview", **{who: "none"})
    post(bobs, file, looked="on", **{who: "none"})
    assert roster(contest) == [("Anna Kovács", None)]

    file = upload(bobs, contest, table)
    assert "Nothing new" in page_of(bobs, file)
    assert "1 linked to an account" in post(bobs, file, "preview", **{who: str(anna.public_id)})
    post(bobs, file, looked="on")
    assert roster(contest) == [("Anna Kovács", "anna.k")]
    assert "Nothing new" in page_of(bobs, upload(bobs, contest, table))


def test_an_author_who_was_imported_before_is_linked_by_a_user_name(contest: Contest, bobs: Client, anna: User) -> None:
    paper = author_add(contest=contest, name="Anna Kovács", kind=AuthorKind.STUDENT)
    import_all(bobs, contest, "User name,Name\nanna.k,Anna Kovács\n".encode())
    identity = contest.identities.get()
    assert (identity.person, identity.paper) == (anna, paper)


def test_two_accounts_of_one_name_are_both_offered_and_none_is_chosen(contest: Contest, bobs: Client, anna: User) -> None:
    student("anna.k2", "Anna", "Kovács")
    file = upload(bobs, contest, "Name,School\nAnna Kovács,North\n".encode())
    page = page_of(bobs, file)
    assert "anna.k: Anna Kovács anna.k2: Anna Kovács Not the same person" in page
    post(bobs, file, looked="on")
    assert roster(contest) == [("Anna Kovács", None)]


def test_two_people_of_one_name_are_kept_apart_by_their_schools(contest: Contest, bobs: Client) -> None:
    table = b"Name,School,P1 (7)\nAnna,North,5\nAnna,South,6\n"
    page = page_of(bobs, upload(bobs, contest, table))
    assert "3 Anna in line 2 has the same name. Give both accounts, or write their names differently." in page
    file = upload(bobs, contest, table)
    post(bobs, file, "preview", unknown="account")
    post(bobs, file, unknown="account")
    assert sorted(contest.identities.values_list("name", "school", "person__username")) == [
        ("Anna", "North", "anna"), ("Anna", "South", "anna2"),
    ]  # fmt: skip
    assert TablePoints.objects.count() == 2


def test_two_rows_of_one_name_without_details_are_not_merged_silently(contest: Contest, bobs: Client) -> None:
    page = page_of(bobs, upload(bobs, contest, b"Name,P1 (7)\nAnna,5\nAnna,6\n"))
    assert "3 Anna has other points for problem 1 in line 2. If these are two people, add a column with the school" in page


def test_new_accounts_get_passwords_that_are_shown_once(contest: Contest, bobs: Client, client_for: ClientFor) -> None:
    file = upload(bobs, contest, "First name,Last name,E-mail,Group\nÁgi,Nagy,agi@example.org,Camp\n".encode())
    page = post(bobs, file, "preview", unknown="account")
    assert "1 with a new account" in page
    page = post(bobs, file)
    assert "The passwords are shown only now" in page
    assert "Students added 1, 1 with a new account Problems" in page
    user = User.objects.get(username="agi.nagy")
    assert (user.get_full_name(), user.email, user.role) == ("Ági Nagy", "agi@example.org", Role.STUDENT)
    password = page.partition("agi.nagy Ági Nagy ")[2].split()[0]
    assert Client().login(username="agi.nagy", password=password)
    assert GroupMember.objects.get().group.name == "Camp"
    again = bobs.get(f"/contests/tables/imports/{TableImport.objects.get().public_id}/").content.decode()
    assert password not in again


def test_who_may_not_create_accounts_is_not_offered_it(contest: Contest, bobs: Client, settings: Settings) -> None:
    settings.COACHES_CREATE_ACCOUNTS = False
    file = upload(bobs, contest, b"User name,Name\nnew.one,New One\n")
    assert "Create accounts for them" not in page_of(bobs, file)
    post(bobs, file, "preview", unknown="account")
    post(bobs, file, unknown="account")
    assert not User.objects.filter(username="new.one").exists()
    assert roster(contest) == [("New One", None)]


def test_unknown_people_can_be_left_out_and_the_rest_is_imported(contest: Contest, bobs: Client, charlie: User) -> None:
    record = import_all(bobs, contest, b"User name,School\ncharlie,North\nunknown,South\n", unknown="leave")
    assert roster(contest) == [("Charlie", "charlie")]
    assert record.left_out == [[3, "No account unknown; left out as chosen.", "unknown", "South"]]


def test_coaches_closed_accounts_and_bad_addresses_are_refused_one_by_one(
    contest: Contest, bob: User, bobs: Client, charlie: User
) -> None:
    User.objects.filter(pk=charlie.pk).update(is_active=False)
    table = b"User name,E-mail,Name\nbob,,Bob\ncharlie,,Charlie\n,not-an-address,Ed\nbad name,,Fay\ngina,,Gina\n"
    record = import_all(bobs, contest, table, unknown="account")
    assert [reason for _, reason, *_ in record.left_out] == [
        "bob is a coach of this contest.",
        "The account charlie is closed.",
        "“not-an-address” is no e-mail address.",
        "“bad name” is no user name: use letters, digits and @ . + - _ only.",
    ]
    assert roster(contest) == [("Gina", "gina")]


def test_a_student_of_the_contest_is_known(contest: Contest, bobs: Client, charlie: User) -> None:
    paper, _ = enter(contest, charlie)
    import_all(bobs, contest, b"User name,P1 (7)\ncharlie,5\n")
    assert TablePoints.objects.get().paper == paper


def test_a_user_name_in_other_case_is_listed_and_the_rest_is_imported(contest: Contest, bobs: Client, anna: User) -> None:
    record = import_all(bobs, contest, b"User name,Name\nAnna.K,Anna\nben.k,Ben\nBEN.K,Ben B\n", unknown="account")
    assert [row[:2] for row in record.left_out] == [
        [2, "The user name Anna.K is taken, perhaps in other case. Correct it."],
        [4, "The user name BEN.K is taken, perhaps in other case. Correct it."],
    ]
    assert roster(contest) == [("Ben", "ben.k")]


def test_a_name_that_is_twice_in_a_roster_is_listed(contest: Contest, bobs: Client) -> None:
    record = import_all(bobs, contest, b"Name,School\nAnna,North\nAnna,North\nBen,\n")
    reason = (
        "Anna is in line 2 already, so this row is left out. If these are two people, add a column with the school or an id."
    )
    assert [row[:2] for row in record.left_out] == [[3, reason]]
    assert roster(contest) == [("Anna", None), ("Ben", None)]


@pytest.mark.parametrize("column", ["User name,Name\nanna.k", "E-mail,Name\nanna@example.org"])
def test_an_account_of_a_clearly_different_name_is_listed_for_a_look(
    contest: Contest, bobs: Client, anna: User, column: str
) -> None:
    User.objects.filter(pk=anna.pk).update(email="anna@example.org")
    file = upload(bobs, contest, f"{column},Béla Nagy\n".encode())
    page = page_of(bobs, file)
    word = column.partition("\n")[2]
    assert f"Béla Nagy line 2, {word}: the account has another name — anna.k: Anna Kovács Not the same person" in page
    assert "Nothing was imported yet. Look at the accounts of the people below" in post(bobs, file)
    assert roster(contest) == []
    post(bobs, file, looked="on")
    assert roster(contest) == [("Béla Nagy", "anna.k")]
    assert "Nothing new" in page_of(bobs, upload(bobs, contest, f"{column},Béla Nagy\n".encode()))


def test_an_account_that_is_not_the_person_leaves_the_row_out(contest: Contest, bobs: Client, anna: User) -> None:
    file = upload(bobs, contest, "User name,Name\nanna.k,Béla Nagy\n,Noemi\n".encode())
    who = {f"who_{token(bobs, file)}": "none"}
    assert "Not the same person" in post(bobs, file, "preview", **who)
    post(bobs, file, looked="on", **who)
    assert roster(contest) == [("Noemi", None)]
    reason = "anna.k is the account of Anna Kovács, not of Béla Nagy. Correct or empty that cell."
    assert [row[:2] for row in TableImport.objects.latest("pk").left_out] == [[2, reason]]


@pytest.mark.parametrize("name", ["Kovács Anna", "KOVACS A.", "Ana Kovacs", "Anna", "Anna Mária Kovács-Szabó"])
def test_an_account_of_a_like_name_needs_no_look(contest: Contest, bobs: Client, anna: User, name: str) -> None:
    file = upload(bobs, contest, f"User name,Name\nanna.k,{name}\n".encode())
    assert "Is it the same person?" not in page_of(bobs, file)
    post(bobs, file)
    assert roster(contest) == [(name, "anna.k")]
