"""The frozen specification of a run: everything that determines its calls. Stored with the run, never changed."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

from pydantic import Field, model_validator

from apps.reasoning.domain.control import Branch
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
    """Limits of a run; None means no limit. `seconds` counts time under a lease, not time without an owner.

    `money` counts by `RunSpec.prices`, in their currency.
    """

    tokens: int | None = Field(default=None, ge=1)
    calls: int | None = Field(default=None, ge=1)
    seconds: float | None = Field(default=None, gt=0)
    money: float | None = Field(default=None, gt=0, exclude_if=lambda limit: limit is None)


class TokenPrice(Value):
    """What a model costs: money per million tokens of prompts (`input`) and of answers (`output`)."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)


def money_of(by_alias: Mapping[str, Sequence[int]], prices: Mapping[str, TokenPrice]) -> float:
    """The cost of calls. `by_alias`: calls, prompt tokens and completion tokens of each model, all of which have a price."""
    each = ((prices[alias], prompt, answer) for alias, (_, prompt, answer) in by_alias.items())
    return sum(price.input * prompt + price.output * answer for price, prompt, answer in each) / 1_000_000


class RunSpec(Value):
    """Problem version, scaffold parameters, roles, prompt hashes, root seed and code version of a run.

    `priority` of all its calls: 0–3 if a user waits for the answer, 6 for a normal run, 9 for an overnight run.
    `capture`: keep the sampled tokens of its calls, for learning. `segment_tokens`: sample longer answers in segments of this
    length, each under the newest policy. Neither is part of a call's request hash. `prices` by alias are for a limit in money.
    `branch`: where a fork leaves its parent. `redraws`: by control point, the seed of all calls from there on.
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
    prices: dict[str, TokenPrice] = Field(default={}, exclude_if=lambda prices: not prices)
    authored: bool = False
    priority: int = Field(default=BATCH, ge=0, le=9)
    capture: bool = False
    segment_tokens: int | None = Field(default=None, ge=1)
    branch: Branch | None = Field(default=None, exclude_if=lambda branch: branch is None)
    redraws: dict[str, int] = Field(default={}, exclude_if=lambda redraws: not redraws)

    @model_validator(mode="after")
    def _money_needs_prices(self) -> Self:
        if self.budget.money is not None and (missing := {role.alias for role in self.roles.values()} - set(self.prices)):
            raise ValueError(f"a limit in money needs a price of {min(missing)}")
        return self
