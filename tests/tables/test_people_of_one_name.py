"""People of a table and authors of the contest who have one name: school and id tell them apart, and a name needs a look."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import Role, User
from apps.contests.models import AuthorKind, Contest
from apps.contests.services import author_add
from apps.tables.models import TableImport
from tests.contests.factory import make_contest
from tests.tables.factory import accounts_shown, import_all, page_of, post, upload

ClientFor = Callable[[User | None], Client]


@pytest.fixture
def bobs(bob: User, client_for: ClientFor) -> Client:
    return client_for(bob)


@pytest.fixture
def contest(bob: User) -> Contest:
    return make_contest(bob)


@pytest.fixture
def anna(db: None) -> User:
    return User.objects.create_user("anna.k", role=Role.STUDENT, first_name="Anna", last_name="Nagy")


def author(contest: Contest, **details: str) -> None:
    author_add(contest=contest, name="Anna Nagy", kind=AuthorKind.STUDENT, **details)


def roster(contest: Contest) -> list[tuple[str, str, str | None]]:
    return sorted(contest.identities.values_list("school", "external_id", "person__username"))


@pytest.mark.parametrize("table", ["Name,School\nAnna Nagy,South\n", "Name,School,Id\nAnna Nagy,North,18\n"])
def test_another_school_or_id_is_another_person(contest: Contest, bobs: Client, table: str) -> None:
    author(contest, school="North", external_id="17")
    file = upload(bobs, contest, table.encode())
    reason = "2 The contest has another Anna Nagy (North) without an account. Give both accounts, or write their names"
    assert reason in page_of(bobs, file)
    assert "1 with a new account" in post(bobs, file, "preview", unknown="account")
    post(bobs, file)
    assert roster(contest)[0] == ("North", "17", None)
    assert [person for *_, person in roster(contest)] == [None, "anna.nagy"]


def test_the_student_of_another_school_gets_no_account_of_the_table(contest: Contest, bobs: Client, anna: User) -> None:
    author(contest, school="North")
    import_all(bobs, contest, b"User name,Name,School\nanna.k,Anna Nagy,South\n")
    assert roster(contest) == [("North", "", None), ("South", "", "anna.k")]


def test_an_author_found_only_by_name_gets_an_account_after_a_look(contest: Contest, bobs: Client, anna: User) -> None:
    author(contest)
    file = upload(bobs, contest, b"User name,Name\nanna.k,Anna Nagy\n")
    assert "Is it the same person?" in page_of(bobs, file)
    assert "Nothing was imported yet. Look at the accounts of the people below" in post(bobs, file)
    assert roster(contest) == [("", "", None)]
    post(bobs, file, looked="on")
    assert roster(contest) == [("", "", "anna.k")]


def test_the_look_can_find_that_it_is_another_person(contest: Contest, bobs: Client, anna: User) -> None:
    author(contest)
    file = upload(bobs, contest, b"User name,Name\nanna.k,Anna Nagy\n")
    who = next(iter(accounts_shown(bobs.get(reverse("tables:review", args=[file.public_id])).content.decode())))
    assert "Students to add 1, 1 linked" in post(bobs, file, "preview", **{who: "none"})
    post(bobs, file, looked="on")
    assert sorted(map(str, contest.identities.values_list("person__username", flat=True))) == ["None", "anna.k"]


def test_an_author_with_the_same_school_gets_the_account_of_the_table(contest: Contest, bobs: Client, anna: User) -> None:
    author(contest, school="North")
    file = upload(bobs, contest, b"User name,Name,School\nanna.k,Anna Nagy,NORTH\n")
    assert "Is it the same person?" not in page_of(bobs, file)
    post(bobs, file)
    assert roster(contest) == [("North", "", "anna.k")]


def test_an_empty_school_and_id_are_filled_in_and_others_stay(contest: Contest, bobs: Client) -> None:
    author(contest)
    page = page_of(bobs, upload(bobs, contest, b"Name,School,Id\nAnna Nagy,North,17\n"))
    assert "Schools and ids to fill in 1 student of the contest" in page
    import_all(bobs, contest, b"Name,School,Id\nAnna Nagy,North,17\n")
    assert roster(contest) == [("North", "17", None)]
    record = import_all(bobs, contest, b"Name,School,Id,P1 (7)\nAnna Nagy,East,17,5\n")
    assert [reason for _, reason, *_ in record.left_out] == ["Anna Nagy has the school “North” in the contest, which stays."]
    assert record.counts["points"] == 1
    assert roster(contest) == [("North", "17", None)]


def test_two_rows_that_may_be_one_author_are_left_out(contest: Contest, bobs: Client) -> None:
    author(contest)
    page = page_of(bobs, upload(bobs, contest, b"Name,School\nAnna Nagy,North\nAnna Nagy,South\n"))
    assert "2 Anna Nagy may be the same student of the contest as Anna Nagy in line 3." in page
    assert "3 Anna Nagy may be the same student of the contest as Anna Nagy in line 2." in page


def test_a_proposal_that_is_sent_back_is_no_change(contest: Contest, bobs: Client, anna: User) -> None:
    file = upload(bobs, contest, b"Name,School\nAnna Nagy,North\n")
    assert "You changed something" not in post(bobs, file, looked="on")
    assert roster(contest) == [("North", "", "anna.k")]


def test_an_account_that_was_not_on_the_page_is_not_linked(contest: Contest, bobs: Client) -> None:
    file = upload(bobs, contest, b"Name,School\nAnna Nagy,North\n")
    page_of(bobs, file)
    User.objects.create_user("anna.k", role=Role.STUDENT, first_name="Anna", last_name="Nagy")
    answer = bobs.post(reverse("tables:review", args=[file.public_id]), {"do": "import", "looked": "on"}, follow=True)
    assert "Nothing was imported yet. Look at the accounts" in answer.content.decode()
    assert not TableImport.objects.exists()


def test_people_beyond_those_that_a_page_shows_are_left_out(contest: Contest, bobs: Client) -> None:
    people = [User(username=f"kid{n}", role=Role.STUDENT, first_name=f"Kid{n}", last_name="Nagy") for n in range(202)]
    User.objects.bulk_create(people)
    table = "Name,School\n" + "".join(f"Kid{n} Nagy,North\n" for n in range(202))
    file = upload(bobs, contest, table.encode())
    assert len(accounts_shown(bobs.get(reverse("tables:review", args=[file.public_id])).content.decode())) == 200
    post(bobs, file, looked="on")
    record = TableImport.objects.get()
    assert [line for line, *_ in record.left_out] == [202, 203]
    assert contest.identities.count() == 200
    import_all(bobs, contest, table.encode())
    assert contest.identities.exclude(person=None).count() == 202


def test_a_name_without_its_accents_is_the_same_person(contest: Contest, bobs: Client) -> None:
    author_add(contest=contest, name="Anna Kovács", kind=AuthorKind.STUDENT, school="North")
    file = upload(bobs, contest, b"Name,School\nanna Kovacs,North\n")
    assert "Nothing new" in page_of(bobs, file)
    other = upload(bobs, contest, b"Name,School\nAnna Kovacs,South\n")
    assert "The contest has another Anna Kovacs (North) without an account." in page_of(bobs, other)
