"""The frozen specification of a run: all that decides what it will ask. Stored with the run, never changed."""

from typing import Any

from pydantic import Field

from apps.reasoning.domain.generation import Closing, PromptSet, Sampling, ToolProtocol
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.domain.values import Value

#: Priority of a run that nobody waits for at the screen.
BATCH = 6
#: A person sits before the screen until it is there.
AWAITED = 3


class RoleSpec(Value):
    """Which alias plays a role, and how it samples. `revision` is the alias' model revision when the run was made.

    `reasoning.planning.plan_roles` makes it from the program's own limits; nothing else chooses `sampling` silently.
    `deadline_s` is how long one call may take from its place at an engine to its last token. `tools` is how its model is given
    tools: told of them in words (`text`), or as functions that it calls (`native`). `closing` is how it is asked for what an
    answer of it lacks, `prompts` the set of its forms.
    """

    alias: str
    revision: str = ""
    sampling: Sampling
    deadline_s: float = Field(default=900.0, gt=0)
    tools: ToolProtocol = "text"
    closing: Closing = "text"
    context_tokens: int | None = Field(default=None, ge=1)
    prompts: PromptSet = "full"


class Budget(Value):
    """Limits of a run; None means none. `seconds` counts time under a lease, not time waiting for an owner."""

    tokens: int | None = Field(default=None, ge=1)
    calls: int | None = Field(default=None, ge=1)
    seconds: float | None = Field(default=None, gt=0)


class RunSpec(Value):
    """Problem version, scaffold parameters, roles, prompt hashes, root seed and code version of a run.

    `priority` is that of all its calls: 0–3 where a person waits for the answer, 6 for a run, 9 for one that takes all night.
    `capture`: the tokens of its calls are kept as drawn, to be learned from; `segment_tokens`: longer answers are drawn in such
    segments, each under the newest policy. Neither is part of what a call is recorded under.
    """

    problem: ProblemText
    scaffold: str
    preset: str = ""
    params: dict[str, Any] = {}
    roles: dict[str, RoleSpec]
    prompt_hashes: dict[str, str] = {}
    seed: int = 0
    code_version: str = ""
    budget: Budget = Budget()
    authored: bool = False
    priority: int = Field(default=BATCH, ge=0, le=9)
    capture: bool = False
    segment_tokens: int | None = Field(default=None, ge=1)
