"""How a model is given tools is frozen with the run, from its alias, and a fork takes what the alias says then."""

from apps.explorations.starting.plans import Plan, plan_of_spec, plan_spec
from apps.reasoning.domain.generation import Sampling
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.scaffolds.spec import RoleSpec, RunSpec
from tests.reasoning.play import PROBLEM

_SMALL = {"title": "Small", "backend": "openai_http", "model": "small-1", "base_url": "http://127.0.0.1:1/v1"}
TEXT = Alias.model_validate(_SMALL | {"name": "text"})
NATIVE = Alias.model_validate(_SMALL | {"name": "native", "tools": "native"})
MODELS = {"text": TEXT, "native": NATIVE}


def _spec(roles: dict[str, str]) -> RunSpec:
    return plan_spec(Plan("alpha_apollo", "reasoning", role_aliases=roles), PROBLEM, MODELS)


def test_each_role_has_the_protocol_of_its_alias() -> None:
    spec = _spec({"": "native", "evaluator": "text"})
    assert (spec.roles["solver"].tools, spec.roles["evaluator"].tools) == ("native", "text")


def test_a_run_that_was_made_before_has_tools_in_words() -> None:
    stored = _spec({"": "text"}).model_dump(mode="json")
    for role in stored["roles"].values():
        del role["tools"]
    assert {role.tools for role in RunSpec.model_validate(stored).roles.values()} == {"text"}
    assert RoleSpec(alias="any", sampling=Sampling()).tools == "text"


def test_a_fork_asks_as_its_alias_says_now() -> None:
    plan = plan_of_spec(_spec({"": "native"}))
    later = {"native": TEXT.model_copy(update={"name": "native"}), "text": TEXT}
    assert plan_spec(plan, PROBLEM, later).roles["solver"].tools == "text"
