"""Temperature and longest answer of a role come from its program and preset, fitted to the model; nothing chooses silently."""

import pytest
from pydantic import ValidationError

from apps.reasoning.domain.errors import PlanError
from apps.reasoning.graders.registry import GRADERS
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.planning import plan_params, plan_roles
from apps.reasoning.programs.registry import PROGRAMS, SCAFFOLDS
from apps.reasoning.scaffolds.spec import RoleSpec

_SERVED = {"title": "Served", "backend": "openai_http", "model": "m-1", "base_url": "http://127.0.0.1:1/v1"}


def _alias(context: int = 1_000_000, **changes: object) -> Alias:
    return Alias.model_validate(_SERVED | {"name": "served", "context_tokens": context} | changes)


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_role_samples_as_its_program_says(name: str) -> None:
    program = PROGRAMS[name]
    planned = plan_roles(program, {"": _alias()}, deadline_s=60)
    assert {role: (one.sampling.temperature, one.sampling.max_new_tokens) for role, one in planned.items()} == {
        role.name: (role.temperature, role.max_new_tokens) for role in program.roles
    }


def test_a_role_has_the_prompts_of_its_model() -> None:
    planned = plan_roles(SCAFFOLDS["self_check"], {"": _alias(), "solver": _alias(prompts="small")}, deadline_s=60)
    assert {name: one.prompts for name, one in planned.items() if one.prompts != "full"} == {"solver": "small"}
    assert RoleSpec.model_validate({"alias": "old", "sampling": {}}).prompts == "full"


def test_an_answer_has_at_most_half_of_the_context() -> None:
    planned = plan_roles(SCAFFOLDS["self_check"], {"": _alias(8192)}, deadline_s=60)
    assert {one.sampling.max_new_tokens for one in planned.values()} == {4096}
    shorter = plan_roles(SCAFFOLDS["self_check"], {"": _alias(8192)}, deadline_s=60, max_new_tokens=100)
    assert {one.sampling.max_new_tokens for one in shorter.values()} == {100}


def test_a_preset_sets_temperatures_and_a_persons_own_comes_first() -> None:
    program = SCAFFOLDS["alpha_apollo"]
    assert plan_roles(program, {"": _alias()}, deadline_s=60, preset="reasoning")["solver"].sampling.temperature == 0.6
    warm = plan_roles(program, {"": _alias()}, deadline_s=60, preset="reasoning", temperature=1.0)
    assert {one.sampling.temperature for one in warm.values()} == {1.0}


def test_what_is_recorded_for_learning_is_drawn_from_the_whole_distribution() -> None:
    planned = plan_roles(SCAFFOLDS["self_check"], {"": _alias()}, deadline_s=60, capture=True)
    assert {one.sampling.top_p for one in planned.values()} == {1.0}


def test_functions_are_planned_only_for_programs_that_offer_them() -> None:
    native = {"": _alias(tools="native")}
    assert plan_roles(SCAFFOLDS["alpha_apollo"], native, deadline_s=60)["solver"].tools == "native"
    graded = plan_roles(GRADERS["single_turn"], native, deadline_s=60, may_call_functions=False)
    assert graded["grader"].tools == "text"


def test_a_grammar_is_left_out_where_answers_are_read_at_once_and_where_they_are_recorded_for_learning() -> None:
    program, bound = SCAFFOLDS["self_check"], {"": _alias(closing="grammar")}
    assert {one.closing for one in plan_roles(program, bound, deadline_s=60).values()} == {"grammar"}
    sure = plan_roles(program, bound, deadline_s=60, read_at_once=lambda alias, role: (alias, role) == ("served", "verifier"))
    assert {name for name, one in sure.items() if one.closing == "schema"} == {"verifier"}
    assert {one.closing for one in plan_roles(program, bound, deadline_s=60, capture=True).values()} == {"schema"}
    free = {"": _alias(closing="text")}
    assert {one.closing for one in plan_roles(program, free, deadline_s=60).values()} == {"text"}


def test_a_role_that_does_not_exist_or_has_no_model_is_refused() -> None:
    program = SCAFFOLDS["self_check"]
    with pytest.raises(PlanError, match="has no role poet; there are corrector, improver, solver, verifier"):
        plan_roles(program, {"": _alias(), "poet": _alias()}, deadline_s=60)
    with pytest.raises(PlanError, match="There is no model for the role improver"):
        plan_roles(program, {"solver": _alias()}, deadline_s=60)


def test_a_preset_or_parameter_that_does_not_exist_is_refused_by_name() -> None:
    program = SCAFFOLDS["self_check"]
    with pytest.raises(PlanError, match="has no preset slow; there are") as preset:
        plan_params(program, "slow", {})
    with pytest.raises(PlanError, match="write a number of at least 1") as parameter:
        plan_params(program, "quick", {"accept": 0})
    assert (preset.value.about, parameter.value.about, parameter.value.name) == ("preset", "parameter", "accept")


def test_a_role_without_sampling_cannot_be_made() -> None:
    with pytest.raises(ValidationError, match="sampling"):
        RoleSpec.model_validate({"alias": "served"})
