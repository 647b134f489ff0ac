"""The library asks as the application does: one planner gives both the same parameters and the same sampling of every role."""

import json
from pathlib import Path

import pytest

from apps.explorations.starting.plans import Plan, plan_spec
from apps.graders.planning.plans import roles_played
from apps.reasoning.graders.registry import GRADERS
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.library import grade, solve
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.spec import RoleSpec, RunSpec
from tests.library.conftest import CONTEXT, PROBLEM, SCRIPT, ModelServer, Served
from tests.reasoning.play import WITH_ANSWER as PLANNED


def _alias(server: ModelServer) -> Alias:
    table = {"name": "a", "title": "A", "backend": "openai_http", "model": "fake-model", "base_url": server.base_url}
    return Alias.model_validate(table | {"context_tokens": CONTEXT})


def _recorded(path: Path) -> RunSpec:
    return RunSpec.model_validate(json.loads(path.read_text().splitlines()[0])["run"]["spec"])


def _manners(roles: dict[str, RoleSpec]) -> dict[str, RoleSpec]:
    """All but the name of the alias, which is the installation's."""
    return {name: role.model_copy(update={"alias": ""}) for name, role in roles.items()}


@pytest.mark.parametrize("scaffold", SCAFFOLDS)
def test_a_scaffold_is_planned_alike(scaffold: str, server: ModelServer, served: Served, tmp_path: Path) -> None:
    for preset in ("", *SCAFFOLDS[scaffold].presets):
        path = tmp_path / f"{preset}.jsonl"
        answer = "2" if scaffold == "majority_vote" else ""
        solve(PROBLEM, scaffold=scaffold, preset=preset, answer=answer, calls=1, journal=path, **served)
        recorded = _recorded(path)
        planned = plan_spec(Plan(scaffold, preset, role_aliases={"": "a"}), PLANNED, {"a": _alias(server)})
        assert _manners(recorded.roles) == _manners(planned.roles)
        assert (recorded.params, recorded.prompt_hashes) == (planned.params, planned.prompt_hashes)


def test_a_grader_is_planned_alike(server: ModelServer, served: Served, tmp_path: Path) -> None:
    grade(PROBLEM, SCRIPT, journal=tmp_path / "run.jsonl", **served)
    planned = roles_played(GRADERS["single_turn"], {"": _alias(server)})
    assert _manners(_recorded(tmp_path / "run.jsonl").roles) == _manners(planned)
