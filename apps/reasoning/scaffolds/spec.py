"""The frozen specification of a run: everything that determines its calls. Stored with the run, never changed."""

from typing import Any

from pydantic import Field

from apps.reasoning.domain.generation import Closing, PromptSet, Sampling, ToolProtocol
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.domain.values import Value

#: Priority of a run in the background.
BATCH = 6
#: Priority of a call for which a user waits on the page.
AWAITED = 3


class RoleSpec(Value):
    """The alias and sampling of a role. `revision` is the alias' model revision at the creation of the run.

    `reasoning.planning.plan_roles` makes it from the program's own limits; nothing else chooses `sampling` silently.
    `deadline_s` is the time limit of a call, from its start at an engine to its last token. `tools`: tools are described in
    words (`text`) or offered as functions (`native`). `closing`: how a missing closing is requested. `prompts`: the set of
    answer forms.
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
    """Limits of a run; None means no limit. `seconds` counts time under a lease, not time without an owner."""

    tokens: int | None = Field(default=None, ge=1)
    calls: int | None = Field(default=None, ge=1)
    seconds: float | None = Field(default=None, gt=0)


class RunSpec(Value):
    """Problem version, scaffold parameters, roles, prompt hashes, root seed and code version of a run.

    `priority` of all its calls: 0–3 if a user waits for the answer, 6 for a normal run, 9 for an overnight run.
    `capture`: keep the sampled tokens of its calls, for learning. `segment_tokens`: sample longer answers in segments of this
    length, each under the newest policy. Neither is part of a call's request hash.
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
