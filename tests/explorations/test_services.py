"""Starting, forking and playing the worked example through the services."""

from dataclasses import replace
from pathlib import Path

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from pytest_django import Settings

from apps.accounts.models import User
from apps.explorations.services import exploration_fork, plan_start, worked_example_spec, worked_example_start
from apps.explorations.starting.plans import Plan, plan_estimate, plan_of_spec, usable_aliases
from apps.reasoning.scaffolds.spec import Budget, RunSpec, TokenPrice
from tests.explorations.factory import make_problem
from tests.explorations.test_start_form import MODELS


@pytest.fixture(autouse=True)
def _models(settings: Settings, tmp_path: Path) -> None:
    settings.MODELS_FILE = tmp_path / "models.toml"
    settings.MODELS_FILE.write_text(MODELS)


def test_a_student_may_not_start(charlie: User) -> None:
    with pytest.raises(PermissionDenied):
        plan_start(user=charlie, problem=make_problem(), plan=Plan("intern_s1_mo", role_aliases={"": "small"}))


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"scaffold": "none"}, "scaffold"),
        ({"preset": "none"}, "preset"),
        ({"overrides": {"rounds": 0}}, "p_rounds"),
        ({"role_aliases": {}}, "alias"),
        ({"role_aliases": {"": "small", "reasoner": "gone"}}, "role_reasoner"),
        ({"role_aliases": {"": "small", "oracle": "small"}}, "alias"),
        ({"seed": -1}, "seed"),
    ],
)
def test_a_wrong_plan_is_refused_at_its_field(alice: User, changes: dict[str, object], field: str) -> None:
    plan = {"scaffold": "intern_s1_mo", "preset": "quick", "role_aliases": {"": "small"}, **changes}
    with pytest.raises(ValidationError) as refused:
        plan_start(user=alice, problem=make_problem(), plan=Plan(**plan))  # type: ignore[arg-type]
    assert list(refused.value.message_dict) == [field]


def test_a_fork_asks_the_same_unless_changed(alice: User) -> None:
    plan = Plan("intern_s1_mo", "quick", role_aliases={"": "small"}, seed=5)
    parent = plan_start(user=alice, problem=make_problem(), plan=plan)
    fork = exploration_fork(user=alice, run=parent, plan=plan_of_spec(RunSpec.model_validate(parent.spec)))
    assert fork.forked_from == parent
    assert fork.spec == parent.spec


def test_a_fork_in_the_browser_keeps_the_limit_in_money(alice: User) -> None:
    prices = {"small": TokenPrice(input=1, output=2)}
    plan = Plan("intern_s1_mo", "quick", role_aliases={"": "small"}, budget=Budget(money=0.5), prices=prices)
    parent = plan_start(user=alice, problem=make_problem(), plan=plan)
    as_sent = Plan("intern_s1_mo", "quick", role_aliases={"": "small"}, budget=Budget(calls=9))
    fork = RunSpec.model_validate(exploration_fork(user=alice, run=parent, plan=as_sent).spec)
    assert (fork.budget, fork.prices) == (Budget(calls=9, money=0.5), prices)
    with pytest.raises(ValidationError, match=r"no price of large\. Choose small\."):
        exploration_fork(user=alice, run=parent, plan=replace(as_sent, role_aliases={"": "small", "reasoner": "large"}))


def test_the_worked_example_is_labelled_and_cannot_be_forked(alice: User) -> None:
    run = worked_example_start(user=alice)
    assert run.is_authored
    assert run.spec["authored"] is True
    assert run.spec == worked_example_spec().model_dump(mode="json")
    assert worked_example_start(user=alice).problem_version == run.problem_version
    with pytest.raises(PermissionDenied):
        exploration_fork(user=alice, run=run, plan=plan_of_spec(worked_example_spec()))


def test_the_estimate_grows_with_the_preset() -> None:
    quick = plan_estimate(Plan("intern_s1_mo", "quick"))
    paper = plan_estimate(Plan("intern_s1_mo", "paper", role_aliases={"": "large"}), usable_aliases())
    assert quick.calls_max < paper.calls_max
