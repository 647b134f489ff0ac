"""The environment: one seat, `agent`, that plays the scaffold on each problem, and a short way to make it."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import verifiers.v1 as vf
from pydantic import SerializeAsAny

from lemmascope_verifiers.harness import ScaffoldConfig
from lemmascope_verifiers.problems import SAMPLE
from lemmascope_verifiers.proofs import RewardName

ID = "lemmascope-verifiers"


class SeatConfig(vf.AgentConfig):
    """The seat: its harness plays a scaffold, in the process of verifiers instead of a remote sandbox."""

    harness: SerializeAsAny[ScaffoldConfig] = ScaffoldConfig()
    runtime: vf.RuntimeConfig = vf.SubprocessConfig()


class ProofEnvConfig(vf.EnvConfig):
    """One seat, `agent`."""

    agent: SeatConfig = SeatConfig()


class ProofEnv(vf.Env[ProofEnvConfig]):
    """One rollout of the scaffold is one trace. Calls that the scaffold makes in parallel run in parallel."""

    async def run(self, task: vf.Task, agents: vf.Agents) -> None:
        """Play the task once."""
        await agents.agent.run(task)


def load_environment(
    scaffold: str = "self_check",
    preset: str = "",
    problems: str | Path | Iterable[Mapping[str, Any]] = SAMPLE,
    roles: Sequence[str] = (),
    reward: RewardName = "final_answer",
    unscored: Literal["error", "zero"] = "error",
    **options: Any,
) -> ProofEnv:
    """The environment of a scaffold on problems. `roles` are those that are trained; none: all.

    `options` are fields of `ScaffoldConfig`, such as `params` and `context_tokens`. Raises `ValidationError`.
    """
    given = Path(problems) if isinstance(problems, str | Path) else [dict(row) for row in problems]
    harness = {"id": ID, "scaffold": scaffold, "preset": preset, "trained_roles": list(roles), **options}
    taskset = {"id": ID, "problems": given, "task": {"reward": reward, "unscored": unscored}}
    return ProofEnv(ProofEnvConfig.model_validate({"taskset": taskset, "agent": {"harness": harness}}))
