"""A set is a fixed list of problems: versions, splits, and what a set made of the library has."""

import pytest
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError

from apps.problem_sets.importing import named_of
from apps.problem_sets.models import ProblemSetItem
from apps.problem_sets.services import Named, SetRefused, digest_of, items_of, set_create, version_add, version_split
from apps.problems.drafts import draft_of
from apps.problems.services import problem_revise
from tests.problems.factory import make_problem

pytestmark = pytest.mark.django_db


def some(count: int = 4) -> list[Named]:
    return named_of([make_problem(f"Problem {number}") for number in range(count)])


def test_a_set_keeps_the_texts_that_it_was_made_with() -> None:
    items = some()
    made = set_create(title="Four problems", items=items, by=None)
    problem = items[0].problem.problem
    problem_revise(
        problem=problem, draft=draft_of(problem, None).__class__(**{**vars(draft_of(problem)), "answer": "another"}), by=None
    )
    assert [one.problem.answer for one in items_of(made)] == [one.problem.answer for one in items]
    assert problem.current.answer == "another"


def test_equal_content_makes_no_version_and_changed_content_makes_the_next() -> None:
    items = some()
    made = set_create(title="Four problems", items=items, by=None)
    assert version_add(problem_set=made.problem_set, items=items, by=None) == made
    longer = version_add(problem_set=made.problem_set, items=[*items, *named_of([make_problem("One more")])], by=None)
    assert (longer.number, longer.items.count(), made.items.count()) == (2, 5, 4)
    assert longer.digest != made.digest


def test_the_digest_follows_names_splits_and_texts_and_not_titles_or_places_in_the_database() -> None:
    items = some(2)
    twins = [Named(one.name, one.problem, one.split) for one in items]
    assert digest_of(items) == digest_of(twins)
    assert digest_of(items) != digest_of(items[::-1])
    assert digest_of(items) != digest_of([items[0], Named(items[1].name, items[1].problem, "test")])


@pytest.mark.parametrize(
    ("title", "count", "reason"),
    [
        ("Four problems", 1, "already a set"),
        ("  four   PROBLEMS ", 1, "already a set"),
        ("—", 1, "letter"),
        ("New", 0, "at least one"),
    ],
)
def test_a_used_or_empty_title_and_no_problems_are_refused(title: str, count: int, reason: str) -> None:
    set_create(title="Four problems", items=some(), by=None)
    with pytest.raises(SetRefused, match=reason):
        set_create(title=title, items=named_of([make_problem("Other")])[:count], by=None)


def test_a_title_in_another_script_has_an_address_too() -> None:
    made = set_create(title="Задачи", items=some(1), by=None)
    assert made.problem_set.slug.startswith("set-")


def test_splits_have_their_shares_depend_on_the_seed_alone_and_are_a_new_version() -> None:
    made = set_create(title="Ten problems", items=some(10), by=None)
    split = version_split(version=made, shares={"train": 70, "test": 30}, seed=3, by=None)
    found = {one.name: one.split for one in items_of(split)}
    assert (split.number, sorted(found.values())) == (2, ["test"] * 3 + ["train"] * 7)
    again = set_create(title="In another order", items=items_of(made)[::-1], by=None)
    assert {
        one.name: one.split for one in items_of(version_split(version=again, shares={"train": 70, "test": 30}, seed=3, by=None))
    } == found
    other = version_split(version=made, shares={"train": 70, "test": 30}, seed=4, by=None)
    assert {one.name: one.split for one in items_of(other)} != found


@pytest.mark.parametrize("shares", [{"train": 80}, {"train": 120, "test": -20}, {}])
def test_shares_that_are_no_partition_are_refused(shares: dict[str, int]) -> None:
    made = set_create(title="Ten problems", items=some(2), by=None)
    with pytest.raises(SetRefused, match="add up to 100"):
        version_split(version=made, shares=shares, seed=0, by=None)
    assert made.problem_set.versions.count() == 1


def test_a_problem_of_a_set_cannot_be_deleted_and_a_name_occurs_once() -> None:
    made = set_create(title="Four problems", items=some(), by=None)
    item = made.items.all()[0]
    with pytest.raises(ProtectedError):
        item.problem.problem.delete()
    with pytest.raises(IntegrityError), transaction.atomic():
        ProblemSetItem.objects.create(version=made, position=9, name=item.name, problem=item.problem)
