"""Editing of pieces by people: invalid content is refused with the reason, and no existing content is lost."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.test import Client

from apps.accounts.models import User
from apps.preparation.forms import piece_fields, piece_typed
from apps.preparation.state import state_of
from apps.problems.drafts import SolutionDraft
from tests.grading.problem_runs import played
from tests.grading.test_grade_command import MODELS
from tests.grading.test_preparing_references import PREPARES, edit_address
from tests.problems.factory import make_problem

pytestmark = pytest.mark.django_db(transaction=True)
ClientFor = Callable[[User | None], Client]
MANY = tuple(SolutionDraft(f"Solution {number}.", "") for number in range(1, 16))


@pytest.fixture(autouse=True)
def models(settings: LazySettings, tmp_path: Path) -> None:
    settings.MODELS_FILE = tmp_path / "models.toml"
    settings.MODELS_FILE.write_text(MODELS)


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("clusters", {"group-1": "0"}, "No reference is in a group."),
        ("clusters", {"group-1": "1", "steps-1": "a\nb\nc\nd\ne\nf"}, "A group has at most 5 main steps."),
        ("analysis", {"title-1": "Alone"}, "An analysis needs 2 to 5 main steps."),
        (
            "analysis",
            {"title-1": "a", "title-2": "b", "approachability-2": "9"},
            "Main step 2: difficulty of finding it must be",
        ),
        ("analysis", {"title-1": "a", "title-2": "b", "why-3": "Long words."}, "Main step 3 has no title."),
        ("analysis", {"title-1": "a", "title-2": "b", "substeps-3": "x\ny"}, "Main step 3 has no title."),
        ("clusters", {"group-1": "1", "steps-1": "a", "steps-2": "b"}, "A group has main steps but no reference."),
        ("rubric", {"title-1": "a", "points-1": "7", "full-1": "b", "deductions-2": "½"}, "Item 2 has no title."),
    ],
)
def test_invalid_groups_steps_and_items_are_refused_with_the_reason(
    alice: User, client_for: ClientFor, name: str, data: dict[str, str], why: str
) -> None:
    problem, client = make_problem(), client_for(alice)
    played(alice, problem, "prepare", PREPARES)
    state = state_of(problem)
    places = {"clusters": state.clusters, "analysis": state.groups[0].analyses[0], "rubric": state.groups[0].rubrics[0]}
    place = places[name]
    assert place is not None
    answer = client.post(edit_address(problem, place.name), data)
    assert answer.status_code == 422
    assert why in answer.content.decode()


def test_an_edit_keeps_all_groups_even_if_there_are_many(alice: User, client_for: ClientFor) -> None:
    problem, client = make_problem(solutions=MANY), client_for(alice)
    groups = [{"members": [number], "representative": number, "steps": ["Think."]} for number in range(1, 16)]
    data = {f"{what}-{number}": text for number in range(1, 16)
            for what, text in (("group", str(number)), ("steps", "Think."))}  # fmt: skip
    assert client.post(edit_address(problem, "clusters"), data).status_code == 302
    state = state_of(problem)
    place = state.clusters
    assert place is not None
    assert place.current is not None
    shown = piece_fields(place, state, place.current.value)
    assert [one["group"] for one in shown["members"]] == list(range(1, 16))
    assert '<option value="15" selected>C15</option>' in client.get(edit_address(problem, "clusters")).content.decode()
    typed = {f"group-{one['reference'].number}": str(one["group"]) for one in shown["members"]}
    typed |= {f"steps-{row['number']}": row["steps"] for row in shown["rows"]}
    assert piece_typed(place, state, typed) == {"clusters": groups}
