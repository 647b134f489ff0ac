"""A preset can set the temperature of a role; a person's own value replaces it."""

from dataclasses import replace

from apps.explorations.starting.plans import Plan, plan_of_spec, plan_spec
from apps.reasoning.inference.aliases import Alias
from tests.reasoning.play import PROBLEM

_SMALL = {"name": "small", "title": "Small", "backend": "openai_http", "model": "small-1", "base_url": "http://127.0.0.1:1/v1"}
MODELS = {"small": Alias.model_validate(_SMALL)}
ALONE = Plan("alpha_apollo", "reasoning", role_aliases={"": "small"})


def _temperature(plan: Plan, role: str = "solver") -> float:
    return plan_spec(plan, PROBLEM, MODELS).roles[role].sampling.temperature


def test_alpha_apollo_alone_samples_at_the_temperature_of_its_paper() -> None:
    assert _temperature(ALONE) == 0.6
    assert _temperature(ALONE, "evaluator") == 0.4
    assert _temperature(replace(ALONE, preset="paper")) == 0.7
    assert _temperature(replace(ALONE, preset="")) == 0.7


def test_a_persons_own_temperature_comes_first() -> None:
    assert _temperature(replace(ALONE, temperature=1.0)) == 1.0


def test_a_fork_of_it_samples_alike() -> None:
    again = plan_of_spec(plan_spec(ALONE, PROBLEM, MODELS))
    assert _temperature(again) == 0.6
