"""Judges and other roles may have different models: on the page that grades a script, and in suggestions."""

import re
import uuid
from collections.abc import Callable

import pytest
from django.conf import LazySettings
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.graders.batches.jobs import Job
from apps.graders.planning.plans import GradingPlan
from apps.graders.starting import models_for_grading
from apps.graders.suggestions.family import WorkflowGrader
from apps.marks.graders.families import GraderUnknown, grader_of, label_of, with_players, without_players
from apps.preparation.runs import problem_spec
from apps.problems.models import Problem
from apps.reasoning.graders.registry import PREPARERS
from apps.reasoning.marking.schemes.text_form import text_read
from apps.runs.models import Run
from apps.schemes.services import scheme_activate, scheme_create
from tests.graders.grade import PROBLEM, SCRIPT
from tests.grading import suggesting as played
from tests.grading.suggesting import Model, problem_with
from tests.grading.test_grade_command import MODELS
from tests.problems.factory import make_problem

pytestmark = pytest.mark.django_db(transaction=True)
ClientFor = Callable[[User | None], Client]
model = played.model
OTHERS = "".join(MODELS.replace("[served]", f"[{name}]").replace("A server", name.title()) for name in ("big", "other"))
THREE = "served,big,other"


@pytest.fixture(autouse=True)
def models(model: Model, settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.MODELS_FILE.write_text(MODELS + OTHERS)
    monkeypatch.setattr("apps.runs.services.orchestrate", type("Sent", (), {"delay": staticmethod(lambda _: None)}))


def sent(client: Client, problem: Problem, **changes: str) -> str:
    """The page after sending a form."""
    data = {"workflow": "single_turn", "alias": "served", "script": SCRIPT, "start_id": str(uuid.uuid4())} | changes
    return client.post(reverse("graders:start", args=[problem.slug]), data).content.decode()


def aliases(run: Run) -> dict[str, str]:
    return {name: role["alias"] for name, role in run.spec["roles"].items()}


def test_a_jury_of_three_models_can_be_chosen_on_the_page(alice: User, client_for: ClientFor) -> None:
    problem, client = make_problem(), client_for(alice)
    assert "Choose models per role" in client.get(reverse("graders:start", args=[problem.slug])).content.decode()
    sent(client, problem, workflow="jury", plays_judge_b="big", plays_judge_c="other")
    assert aliases(Run.objects.get()) == {"judge_a": "served", "judge_b": "big", "judge_c": "other"}


def test_one_model_plays_all_roles_by_default(alice: User, client_for: ClientFor) -> None:
    sent(client_for(alice), make_problem(), workflow="ref5_plain")
    assert set(aliases(Run.objects.get()).values()) == {"served"}


def test_a_role_that_the_grader_does_not_have_is_refused(alice: User, client_for: ClientFor) -> None:
    text = sent(client_for(alice), make_problem(), plays_judge_b="big")
    assert "Single turn: no such role. Leave this field empty." in text
    assert '<details class="disclosure" open>' in text
    assert not Run.objects.exists()
    assert "Select a valid choice" in sent(client_for(alice), make_problem(), workflow="jury", plays_judge_b="oracle")


@pytest.mark.parametrize(
    ("big", "workflow", "asked"), [(True, "single_turn", True), (True, "jury", False), (False, "single_turn", False)]
)
def test_a_grader_asks_for_json_if_all_its_models_support_structured_output(
    big: bool, workflow: str, asked: bool, settings: LazySettings
) -> None:
    settings.MODELS_FILE.write_text(MODELS + OTHERS.replace("[big]", f"[big]\nstructured = {str(big).lower()}"))
    models = models_for_grading()
    players = {"": models["big"]} | ({"judge_a": models["served"]} if workflow == "jury" else {})
    plan = GradingPlan(workflow, players)
    job = Job("P", PROBLEM, {"script": "It is so."})
    assert plan.params(job).structured is asked
    assert plan.spec(job).params["structured"] is asked
    assert GradingPlan(workflow, players, {"structured": not asked}).params(job).structured is not asked


def test_preparation_asks_for_json_under_the_same_condition(settings: LazySettings) -> None:
    stated = make_problem().current
    assert problem_spec(PREPARERS["prepare"], stated, {"": models_for_grading()["big"]}).params["structured"] is False
    settings.MODELS_FILE.write_text(MODELS + OTHERS.replace("[big]", "[big]\nstructured = true"))
    assert problem_spec(PREPARERS["prepare"], stated, {"": models_for_grading()["big"]}).params["structured"] is True


def test_a_neutral_rewriting_can_be_chosen_on_the_page(alice: User, client_for: ClientFor) -> None:
    client, problem = client_for(alice), make_problem()
    assert "About 2 calls" in sent(client, problem, is_neutral="on", estimate="1")
    sent(client, problem, is_neutral="on")
    assert Run.objects.get().spec["params"]["neutral"] is True


def test_marks_of_the_formula_check_can_be_chosen_on_the_page(alice: User, client_for: ClientFor) -> None:
    client, problem = client_for(alice), make_problem()
    assert "About 1 call" in sent(client, problem, has_marks="on", estimate="1")
    sent(client, problem, has_marks="on", is_neutral="on")
    params = Run.objects.get().spec["params"]
    assert (params["marks"], params["neutral"]) == (True, True)
    assert "checks/forms/marks" in Run.objects.get().spec["prompt_hashes"]


def test_an_advisory_grader_can_be_chosen_on_the_page_and_needs_a_scheme_like_the_strict_one(
    alice: User, client_for: ClientFor
) -> None:
    client, problem = client_for(alice), make_problem()
    assert "needs a marking scheme" in sent(client, problem, workflow="scheme+advisory")
    scheme = scheme_create(problem=problem, title="S", content=text_read("checkpoint A1, 7 points: All."), by=alice)
    scheme_activate(scheme=scheme, by=alice, based_on=scheme.row_version)
    for workflow in ("scheme+advisory", "scheme"):
        sent(client, problem, workflow=workflow)
    assert [run.spec["params"]["strict"] for run in Run.objects.order_by("pk")] == [False, True]


def grader(problem: ContestProblem, name: str) -> WorkflowGrader:
    found = grader_of(name, problem.version, None)
    assert isinstance(found, WorkflowGrader)
    return found


def test_a_suggestion_names_its_models_and_other_models_make_another_grader(bob: User) -> None:
    problem = problem_with(bob)
    jury = grader(problem, f"workflow:jury@{THREE}")
    assert {name: role.alias for name, role in jury.plan.roles.items()} == {
        "judge_a": "served", "judge_b": "big", "judge_c": "other"
    }  # fmt: skip
    assert jury.revision != grader(problem, "workflow:jury@served").revision
    assert grader(problem, "workflow:jury@judge_a=served,judge_c=other,judge_b=big").name == f"workflow:jury@{THREE}"
    assert label_of(jury.name) == "Jury · Judge A: A server, Judge B: Big, Judge C: Other"
    assert grader(problem, "workflow:ref5_plain+neutral@served,grader=big").plan.params(jury.job("Text.", [])).neutral, (
        "manners and models per role can be combined"
    )


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("workflow:jury@served,big", "Name one model for all roles, or 3 models"),
        ("workflow:jury@served,big,huge", "No grading model huge"),
        ("workflow:jury@served,grader=big", "no role grader"),
        ("workflow:jury+kind@served", "no variant “kind”"),
        ("workflow:jury@", "A name is missing"),
        ("workflow:jury", "A name is missing"),
    ],
)
def test_an_invalid_name_is_refused_with_the_reason(bob: User, name: str, why: str) -> None:
    with pytest.raises(GraderUnknown, match=why):
        grader_of(name, problem_with(bob).version, None)


def test_the_name_of_a_suggestion_fits_its_row(bob: User, settings: LazySettings) -> None:
    long = [name * 40 for name in "abc"]
    settings.MODELS_FILE.write_text("".join(MODELS.replace("[served]", f"[{name}]") for name in long))
    with pytest.raises(GraderUnknown, match="exceeds 120 characters"):
        grader_of(f"workflow:jury@{','.join(long)}", problem_with(bob).version, None)


def test_an_organiser_chooses_the_models_of_a_jury(bob: User, client_for: ClientFor) -> None:
    problem = problem_with(bob)
    url, client = reverse("marks:setup", kwargs={"problem_id": problem.public_id}), client_for(bob)
    values = {
        "scheme": problem.setup.scheme.pk if problem.setup.scheme else "", "markers": "1", "unrevealed_percent": "0",
        "remark_percent": "0", "grader_one": "workflow:jury@served", "players_one": " served, big ,other", "is_neutral": "on",
        "grader_two": "workflow:ref5_plain@big", "players_two": "grader=other", "has_marks": "on",
    }  # fmt: skip
    assert client.post(url, values).status_code == 302
    problem.setup.refresh_from_db()
    chosen = [f"workflow:jury+neutral+marks@{THREE}", "workflow:ref5_plain+neutral+marks@big,grader=other"]
    assert problem.setup.graders == chosen
    page = client.get(url).content.decode()
    assert f'value="{THREE}"' in page
    assert 'value="grader=other"' in page
    assert 'value="workflow:jury@served" selected' in page
    assert page.count('type="checkbox" name="has_marks"') == 1
    assert re.search(r'name="has_marks"[^>]* checked', page)
    assert grader(problem, chosen[0]).revision != grader(problem, f"workflow:jury+neutral@{THREE}").revision
    for changes, why in (
        ({"players_one": "served,big"}, "Name one model for all roles, or 3 models"),
        ({"grader_one": ""}, "Choose a grader for these models."),
    ):
        refused = client.post(url, values | changes)
        assert refused.status_code == 422
        assert why in refused.content.decode()
        assert '<details class="disclosure" open>' in refused.content.decode()


def test_models_of_roles_are_added_to_a_name_and_removed_again() -> None:
    for name, players in (
        ("workflow:jury@a,b,c", "a,b,c"), ("workflow:ref3@a,grader=b", "grader=b"), ("workflow:jury@a", ""),
    ):  # fmt: skip
        first, more = without_players(name)
        assert more == players
        assert with_players(first, more) == name
