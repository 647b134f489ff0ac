"""The harness: plays a scaffold on a task, with every model call through verifiers' endpoint."""

from typing import Any

import verifiers.v1 as vf
from pydantic import Field, model_validator

from apps.reasoning.domain.event_base import Event
from apps.reasoning.library import SCAFFOLDS, PlanError, RunHalted, asolve
from lemmascope_verifiers.played import OURS, mark_steps, result_of, roles_of

#: verifiers takes the id of a request from this header and does not send it on.
_CALL_HEADER = "X-ACP-Model-Request-ID"
_HARNESS = "lemmascope-verifiers"


class ScaffoldConfig(vf.HarnessConfig):
    """Which scaffold plays, and how. `trained_roles`: the roles whose tokens train the policy; empty: all."""

    id: vf.ID = _HARNESS
    scaffold: str = "self_check"
    preset: str = ""
    params: dict[str, Any] = Field(default_factory=dict)
    """Single parameters of the scaffold."""
    trained_roles: list[str] = Field(default_factory=list)
    """Roles whose tokens train the policy. Empty: all."""
    concurrency: int = Field(8, ge=1, le=4096)
    """Calls of one rollout at a time."""
    context_tokens: int | None = Field(None, ge=16)
    """Length of prompt and answer together, where the server does not list it."""
    max_new_tokens: int | None = Field(None, ge=1)
    """Longest answer of each role; unset: the scaffold's."""
    calls: int | None = Field(None, ge=1)
    """Budget of calls of one rollout."""
    tokens: int | None = Field(None, ge=1)
    """Budget of tokens of one rollout."""
    call_deadline_s: float = Field(1800.0, gt=0)
    """Seconds for one call."""
    retries: int = Field(4, ge=0, le=20)
    """Attempts after the first where the server is busy or does not answer."""
    seed: int | None = Field(None, ge=0, lt=2**31)
    """Root of all seeds. Unset: each rollout draws its own."""

    @model_validator(mode="after")
    def _is_playable(self) -> "ScaffoldConfig":
        if self.scaffold not in SCAFFOLDS:
            raise ValueError(f"There is no scaffold {self.scaffold}; there are {', '.join(SCAFFOLDS)}.")
        if unknown := sorted(set(self.trained_roles) - set(self.roles)):
            raise ValueError(f"{self.scaffold} has no role {', '.join(unknown)}; it has {', '.join(self.roles)}.")
        try:
            self._asked("A problem.", "1")
        except PlanError as error:
            raise ValueError(str(error)) from error
        return self

    @property
    def roles(self) -> list[str]:
        """The names of the scaffold's roles."""
        return [role.name for role in SCAFFOLDS[self.scaffold].roles]

    def _asked(self, problem: str, answer: str, **more: Any) -> Any:
        """The run, not started. Raises `PlanError`."""
        given = self.model_dump(include={"concurrency", "context_tokens", "max_new_tokens", "calls", "tokens", "seed"})
        return asolve(
            problem,
            answer=answer,
            scaffold=self.scaffold,
            preset=self.preset,
            params=self.params,
            deadline_s=self.call_deadline_s,
            server={"call_header": _CALL_HEADER, "retries": self.retries},
            **({"base_url": "http://127.0.0.1/v1", "model": "-"} | given | more),
        )

    def run_of(self, data: vf.TaskData, **more: Any) -> Any:
        """The run on a task. Its `answer` enters no prompt. Raises `PlanError`."""
        answer = getattr(data, "answer", None)
        return self._asked(data.prompt_text, answer if isinstance(answer, str) else "", **more)


class ScaffoldHarness(vf.Harness[ScaffoldConfig]):
    """Runs in the process of verifiers: it executes nothing of the model, and needs no container."""

    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Play the scaffold to its end. A rollout that verifiers stopped ends without a result."""
        events: list[Event] = []
        trace.info[OURS] = {"scaffold": self.config.scaffold, "preset": self.config.preset}
        try:
            more = {"base_url": endpoint, "api_key": secret, "model": ctx.model, "on_event": events.append}
            result = await self.config.run_of(data, **more)
            trace.info[OURS] |= result_of(result, events)
            if len(result.failed) == result.calls and trace.stop_condition is None:
                raise vf.HarnessError(f"No call was answered. The last one failed: {result.failed[-1].reason}")
        except (PlanError, RunHalted) as error:
            if trace.stop_condition is None:
                raise vf.HarnessError(str(error).replace(endpoint, ctx.client.base_url)) from error
        finally:
            trace.info[OURS]["roles"] = roles_of(events)
            mark_steps(trace, trace.info[OURS]["roles"], self._trained)
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")

    async def cleanup(self, trace: vf.Trace, runtime: vf.Runtime) -> None:
        """Mask what a call under way may have added after its run was stopped."""
        mark_steps(trace, trace.info.get(OURS, {}).get("roles", {}), self._trained)

    @property
    def _trained(self) -> list[str]:
        chosen: list[str] = self.config.trained_roles or self.config.roles
        return chosen
