"""The context of a role's model is frozen with the run, so that prompts are fitted to it; older runs name none."""

from apps.explorations.starting.plans import Plan, plan_spec
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.scaffolds.spec import RunSpec
from tests.reasoning.play import PROBLEM

_ONE = {"title": "One", "backend": "openai_http", "model": "one", "base_url": "http://127.0.0.1:1/v1"}
SHORT = Alias.model_validate(_ONE | {"name": "short", "context_tokens": 8_192})
LONG = Alias.model_validate(_ONE | {"name": "long", "context_tokens": 131_072})


def _spec() -> RunSpec:
    return plan_spec(
        Plan("rsa", "quick", role_aliases={"": "short", "aggregator": "long"}), PROBLEM, {"short": SHORT, "long": LONG}
    )


def test_each_role_has_the_context_of_its_own_model() -> None:
    roles = _spec().roles
    assert {name: role.context_tokens for name, role in roles.items()} == {
        "solver": 8_192, "aggregator": 131_072, "judge": 8_192
    }  # fmt: skip
    assert roles["solver"].sampling.max_new_tokens == 4_096


def test_a_run_that_was_made_before_names_none() -> None:
    stored = _spec().model_dump(mode="json")
    for role in stored["roles"].values():
        del role["context_tokens"]
    assert {role.context_tokens for role in RunSpec.model_validate(stored).roles.values()} == {None}
