"""Each stale version is listed with its kind, its reference and group, and the change that made it stale."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.graders.models import PieceVersion, ReferencePost
from apps.preparation.origins import GROUPS, origins_fill
from apps.preparation.state import Origin, state_of
from apps.problems.models import Problem
from tests.grading.problem_runs import played
from tests.grading.test_grade_command import MODELS
from tests.grading.test_preparing_references import PREPARES, edit_address, page
from tests.problems.factory import make_problem

pytestmark = pytest.mark.django_db(transaction=True)
ClientFor = Callable[[User | None], Client]
TWO_WAYS = ["ref5_approachability", "ref5_milestones"]


@pytest.fixture(autouse=True)
def models(settings: LazySettings, tmp_path: Path) -> None:
    settings.MODELS_FILE = tmp_path / "models.toml"
    settings.MODELS_FILE.write_text(MODELS)


def gone(problem: Problem) -> list[Origin]:
    state = state_of(problem)
    origins_fill(problem, state)
    return state.origins


def test_pieces_of_former_groups_show_kind_reference_and_former_group(alice: User, client_for: ClientFor) -> None:
    problem, client = make_problem(), client_for(alice)
    played(alice, problem, "prepare", PREPARES, manners=TWO_WAYS)
    client.post(reverse("preparation:prepare_add", args=[problem.slug]), {"text": "A third way."})
    shown = {(one.title, one.about) for one in gone(problem)}
    assert shown == {
        (title, f"reference {number}, in no group now, formerly group C{number}")
        for number in (1, 2)
        for title in ("Main steps with approachability", "Rubric by approachability", "Main steps", "Rubric of milestones")
    }
    page_text = page(client, problem)
    kept = page_text[page_text.index("pieces-gone") :]
    assert kept.count("for reference 2, in no group now, formerly group C2 · it no longer represents a group") == 4
    assert "Rubric of milestones</a>" in kept
    version = next(one.version for one in gone(problem) if one.title == "Rubric of milestones")
    listed = client.get(reverse("preparation:piece_version", args=[problem.slug, version.public_id])).content.decode()
    assert "<h1>Rubric of milestones</h1>" in listed
    assert ". Stale: it no longer represents a group." in listed


def test_a_reference_in_another_group_shows_its_present_group(alice: User, client_for: ClientFor) -> None:
    problem, client = make_problem(), client_for(alice)
    played(alice, problem, "prepare", PREPARES)
    clusters = PieceVersion.objects.get(what="clusters")
    one_group = {"group-1": "1", "group-2": "1", "steps-1": "Factor.", "representative-1": "1"}
    client.post(edit_address(problem, "clusters"), one_group | {"based_on": str(clusters.public_id)})
    about = {one.about for one in gone(problem)}
    assert about == {"reference 2, group C1 now (represented by reference 1), formerly group C2"}


def test_a_removed_reference_is_named_by_its_origin(alice: User, client_for: ClientFor) -> None:
    problem, client = make_problem(), client_for(alice)
    reference = problem.reference_solutions.order_by("pk").last()
    assert reference is not None
    post = ReferencePost.objects.create(problem=problem, text="By cases.", origin="A forum", added_by=alice)
    reference.delete()
    played(alice, problem, "prepare", PREPARES)
    client.post(reverse("preparation:prepare_remove", args=[problem.slug, post.public_id]))
    about = {one.about for one in gone(problem) if one.about}
    assert about == {"the removed reference “A forum”, formerly group C2"}
    assert GROUPS in {one.title for one in gone(problem)}


def test_a_stale_rubric_is_listed_in_its_place_with_the_reason_and_a_current_version_has_none(
    alice: User, client_for: ClientFor
) -> None:
    problem, client = make_problem(), client_for(alice)
    played(alice, problem, "prepare", PREPARES)
    analysis = state_of(problem).groups[0].analyses[0]
    assert analysis.current is not None
    data = {"title-1": "Another idea", "approachability-1": "2", "title-2": "And its use", "approachability-2": "5"}
    client.post(edit_address(problem, analysis.name), data | {"based_on": str(analysis.current.public_id)})
    text = page(client, problem)
    assert "for reference 1, group C1 now · its main steps have changed · by a model" in text
    shown = client.get(reverse("preparation:piece_version", args=[problem.slug, analysis.current.public_id])).content.decode()
    assert "For reference 1, group C1 now" in shown
    assert "Stale" not in shown
