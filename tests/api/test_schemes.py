"""Marking schemes over the API; students cannot read them."""

import uuid

import pytest

from apps.accounts.models import User
from apps.problems.models import Problem
from apps.reasoning.marking.schemes.json_form import json_scheme
from apps.reasoning.marking.schemes.text_form import text_read
from apps.schemes.models import MarkingScheme
from apps.schemes.services import scheme_activate, scheme_create, scheme_save
from tests.api.conftest import Ask

FIRST = "checkpoint A1, 7 points: Everything."
SECOND = "checkpoint A1, 3 points: Half.\ncheckpoint A2, 4 points, needs A1: The rest."


@pytest.fixture
def scheme(problem: Problem, alice: User) -> MarkingScheme:
    """Version 1 is active, version 2 a draft."""
    scheme = scheme_create(problem=problem, title="Squares", content=text_read(FIRST), by=alice)
    scheme_activate(scheme=scheme, by=alice, based_on=scheme.row_version)
    scheme.refresh_from_db()
    scheme_save(scheme=scheme, content=text_read(SECOND), by=alice, based_on=scheme.row_version)
    return scheme


def test_the_schemes_of_a_problem_include_their_versions(ask: Ask, scheme: MarkingScheme, bob: User) -> None:
    (row,) = ask(bob, "problems/two-squares/schemes").json()["items"]
    assert (row["id"], row["title"], row["problem"], row["version"]) == (str(scheme.public_id), "Squares", "two-squares", 1)
    assert [(one["number"], one["status"]) for one in row["versions"]] == [(1, "active"), (2, "draft")]


def test_a_version_is_returned_as_text_and_as_json(ask: Ask, scheme: MarkingScheme, bob: User) -> None:
    active = ask(bob, f"schemes/{scheme.public_id}").json()
    assert active["version"]["number"] == 1
    draft = ask(bob, f"schemes/{scheme.public_id}", version=2).json()
    assert [item.code for item in text_read(draft["text"]).items] == ["A1", "A2"]
    assert json_scheme(draft["body"]).items[0].lineage == json_scheme(active["body"]).items[0].lineage


def test_unknown_schemes_and_versions_are_not_found(ask: Ask, scheme: MarkingScheme, bob: User) -> None:
    assert ask(bob, f"schemes/{scheme.public_id}", version=3).status_code == 404
    assert ask(bob, f"schemes/{uuid.uuid4()}").status_code == 404
    assert ask(bob, "problems/none/schemes").status_code == 404
    assert ask(bob, f"schemes/{scheme.public_id}", version=0).status_code == 422


def test_students_cannot_read_schemes(ask: Ask, scheme: MarkingScheme, charlie: User) -> None:
    assert ask(charlie, "problems/two-squares/schemes").status_code == 404
    assert ask(charlie, f"schemes/{scheme.public_id}").status_code == 404
