"""The temperature at which a trainer scores a version's rows: that of their log-probabilities, if there is a single one."""

from typing import Any

import pytest

from apps.datasets.versions.manifest import scored_at
from apps.explorations.starting.plans import Plan, plan_spec
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.inference.options import ScriptedOptions


def drawn(role: str, temperature: float, top_p: float = 1.0) -> dict[str, Any]:
    return {"alias": "a", "role": role, "temperature": temperature, "top_p": top_p}


SOLVER, VERIFIER = drawn("solver", 0.7), drawn("process_verifier", 0.2)


@pytest.mark.parametrize(
    ("logprobs_of", "sampling", "roles", "temperature"),
    [
        (["raw"], [SOLVER, VERIFIER, drawn("solver", 0.7, 0.95)], {"solver": 4}, 1.0),
        ([], [SOLVER], {"solver": 4}, 1.0),
        (["sampled"], [SOLVER], {"solver": 4}, 0.7),
        (["sampled"], [SOLVER, VERIFIER], {"solver": 4}, 0.7),
        (["sampled"], [SOLVER, VERIFIER], {"solver": 4, "processverifier": 2}, None),
        (["sampled"], [drawn("solver", 0.7, 0.95)], {"solver": 4}, None),
        (["raw", "sampled"], [SOLVER], {"solver": 4}, None),
        (["raw", "sampled"], [drawn("solver", 1.0)], {"solver": 4}, 1.0),
        (["sampled"], [drawn("solver", 0.0)], {"solver": 4}, None),
    ],
)
def test_raw_log_probabilities_need_1_and_sampled_ones_their_single_temperature(
    logprobs_of: list[str], sampling: list[dict[str, Any]], roles: dict[str, int], temperature: float | None
) -> None:
    manifest = {"logprobs_of": logprobs_of, "sampling": sampling, "counts": {"roles": roles}}
    assert scored_at(manifest) == temperature


def test_recorded_runs_sample_from_the_whole_distribution() -> None:
    alias = Alias(name="a", title="A", backend="scripted", model="a", options=ScriptedOptions(script="scripts/none.toml"))
    problem = ProblemText(id="p", version=1, title="P", statement="Show it.")
    specs = [
        plan_spec(Plan("self_check", "quick", {}, {"": "a"}, seed=1, capture=capture), problem, {"a": alias})
        for capture in (True, False)
    ]
    assert [{role.sampling.top_p for role in spec.roles.values()} for spec in specs] == [{1.0}, {0.95}]
