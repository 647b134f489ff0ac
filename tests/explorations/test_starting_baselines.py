"""What the baselines ask of a problem before they start: an answer to vote on, references or a scheme for the grader."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.exceptions import ValidationError
from django.db.models import Q
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from apps.accounts.models import User
from apps.explorations.services import exploration_fork, plan_start
from apps.explorations.starting import given
from apps.explorations.starting.forms import ExplorationForm
from apps.explorations.starting.given import given_of
from apps.explorations.starting.plans import Plan, plan_estimate, plan_of_spec, usable_aliases
from apps.problems.holding import Text
from apps.problems.models import Problem
from apps.reasoning.scaffolds.given import NOTHING_GIVEN
from apps.reasoning.scaffolds.spec import RunSpec
from apps.runs.models import Run
from tests.explorations.test_start_form import MODELS
from tests.problems.factory import SECRET, make_problem

pytestmark = pytest.mark.django_db
BASELINE = Plan("best_of", "quick", {"grader": "ref3"}, role_aliases={"": "small"}, seed=1)


@pytest.fixture(autouse=True)
def _models(settings: Settings, tmp_path: Path) -> None:
    settings.MODELS_FILE = tmp_path / "models.toml"
    settings.MODELS_FILE.write_text(MODELS)


@pytest.fixture
def alice_client(alice: User, client_for: Callable[[User | None], Client]) -> Client:
    return client_for(alice)


def shown(client: Client, problem: Problem, scaffold: str) -> str:
    return client.get(reverse("explorations:start", args=[problem.slug]), {"scaffold": scaffold}).content.decode()


@pytest.mark.parametrize("scaffold", ["single_call", "majority_vote", "best_of"])
def test_a_baseline_starts_from_the_form(alice_client: Client, scaffold: str) -> None:
    problem = make_problem()
    estimate = shown(alice_client, problem, scaffold).split('id="estimate"')[1]
    assert "call, <" in estimate or "calls, <" in estimate
    sent = {"scaffold": scaffold, "preset": "quick", "shown_preset": "quick", "alias": "small"}
    sent |= {"majority_vote": {"p_solutions": "4"}, "best_of": {"p_solutions": "3", "p_grader": "single_turn"}}.get(
        scaffold, {}
    )
    reply = alice_client.post(reverse("explorations:start", args=[problem.slug]), sent)
    assert reply.status_code == 302
    assert Run.objects.get().scaffold == scaffold


def test_a_vote_on_a_problem_without_an_answer_is_refused_on_the_page_and_by_the_service(
    alice: User, alice_client: Client
) -> None:
    problem = make_problem(answer="")
    first = shown(alice_client, problem, "majority_vote")
    assert "there is nothing to vote on. Use Best of n" in first
    assert "No estimate: this scaffold cannot run on this problem." in first
    sent = {"scaffold": "majority_vote", "preset": "quick", "shown_preset": "quick", "alias": "small", "p_solutions": "4"}
    reply = alice_client.post(reverse("explorations:start", args=[problem.slug]), sent)
    assert reply.status_code == 422
    assert "there is nothing to vote on" in reply.content.decode()
    with pytest.raises(ValidationError, match="nothing to vote on"):
        plan_start(user=alice, problem=problem, plan=Plan("majority_vote", "quick", role_aliases={"": "small"}))
    assert not Run.objects.exists()


def test_graders_are_offered_by_what_the_problem_has(alice_client: Client) -> None:
    with_references, without = make_problem(), make_problem("Another", solutions=())
    assert 'value="ref3"' in shown(alice_client, with_references, "best_of")
    bare = shown(alice_client, without, "best_of")
    assert 'value="ref3"' not in bare
    assert 'value="jury"' in bare
    assert 'value="scheme"' not in shown(alice_client, with_references, "best_of"), "it has words to markers, and no scheme"


def test_a_grader_without_its_reference_is_refused_before_the_run(alice: User) -> None:
    with pytest.raises(ValidationError, match=r"needs a reference solution\. Add it to the problem, or choose another grader"):
        plan_start(user=alice, problem=make_problem(solutions=()), plan=BASELINE)


def test_references_are_frozen_with_the_run_and_a_fork_asks_the_same(alice: User) -> None:
    run = plan_start(user=alice, problem=make_problem(), plan=BASELINE, start=False)
    assert run.spec["params"]["references"][0] == SECRET
    again = plan_of_spec(RunSpec.model_validate(run.spec))
    assert again.overrides == {"grader": "ref3"}
    assert exploration_fork(user=alice, run=run, plan=again).spec == run.spec


def test_a_grader_that_needs_no_reference_is_shown_none(alice: User) -> None:
    run = plan_start(user=alice, problem=make_problem(), plan=replace(BASELINE, overrides={}), start=False)
    assert run.spec["params"]["references"] == []


def test_solutions_that_are_held_back_from_a_person_are_not_given(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = make_problem()
    assert given_of(problem, alice).references[0] == SECRET
    monkeypatch.setattr(given, "held_back", lambda text, user: Q(pk=problem.pk) if text is Text.SOLUTIONS else Q(pk__in=[]))
    assert given_of(problem, alice) == NOTHING_GIVEN


def test_the_estimate_counts_the_work_with_references(alice: User) -> None:
    problem = make_problem()
    alone = plan_estimate(replace(BASELINE, overrides={}))
    assert plan_estimate(BASELINE, given=given_of(problem, alice)).calls_max > alone.calls_max


def test_what_comes_with_the_problem_is_no_field_of_the_form() -> None:
    form = ExplorationForm(aliases=usable_aliases(), initial={"scaffold": "best_of"})
    assert [field.name for field in form.param_fields] == ["p_solutions", "p_grader", "p_verifier_marks"]
