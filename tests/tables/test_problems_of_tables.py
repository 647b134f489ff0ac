"""A table names problems: labels come before other names, one name for one problem, and numbers find nothing in the library."""

from collections.abc import Callable

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.problems.models import Problem
from apps.tables.models import TablePoints
from tests.contests.factory import make_contest
from tests.problems.factory import make_problem
from tests.tables.factory import import_all, page_of, upload

ClientFor = Callable[[User | None], Client]


@pytest.fixture
def bobs(bob: User, client_for: ClientFor) -> Client:
    return client_for(bob)


def test_a_label_comes_before_the_id_of_another_problem(bob: User, bobs: Client) -> None:
    first, second = make_problem("First"), make_problem("Second")
    Problem.objects.filter(pk=first.pk).update(external_id="2")
    import_all(bobs, make_contest(bob, first, second), b"Name,P2 (7)\nAnna,5\n")
    assert TablePoints.objects.get().problem.problem == second


def test_two_names_of_one_problem_are_refused_with_a_sentence(bob: User, bobs: Client) -> None:
    contest = make_contest(bob, make_problem("First"))
    record = import_all(bobs, contest, b"Name,Problem,Points,Max\nAnna,1,5,7\nAnna,First,6,7\nBen,First,7,7\n")
    sentence = "“First” is the same problem as “1”. Use one name for it in the table."
    assert [row[:2] for row in record.left_out] == [[3, sentence], [4, sentence]]
    assert TablePoints.objects.count() == 1


@pytest.mark.parametrize("name", ["9", "P9", "A2", "B"])
def test_a_number_or_label_finds_nothing_in_the_library(bob: User, bobs: Client, name: str) -> None:
    for number, word in enumerate({name, "9"}):
        Problem.objects.filter(pk=make_problem(f"Other {number}").pk).update(external_id=word)
    contest = make_contest(bob)
    record = import_all(bobs, contest, f"Name,Problem,Points,Max\nAnna,{name},5,7\n".encode())
    assert record.left_out[0][1] == f"The contest has no problem {name}, and the table has no statement of it."
    assert contest.problems.count() == 1


def test_a_problem_of_the_library_is_shown_with_its_title(bob: User, bobs: Client) -> None:
    slug = make_problem("Sums of squares").slug
    file = upload(bobs, make_contest(bob), f"Name,Problem,Points,Max\nAnna,{slug},5,7\n".encode())
    assert ": Sums of squares from the library" in page_of(bobs, file)
