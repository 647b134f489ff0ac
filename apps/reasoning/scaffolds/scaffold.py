"""Declaration of a scaffold: its parameters, presets, roles and cost. registry.py lists all scaffolds."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from apps.reasoning.domain.errors import ParamsError
from apps.reasoning.domain.event_base import Kind
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.domain.values import Value, first_mistake
from apps.reasoning.ports import Context
from apps.reasoning.prompts import loader
from apps.reasoning.scaffolds import answer_line
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.given import Given
from apps.reasoning.scaffolds.page import Page
from apps.reasoning.scaffolds.running import checking_first
from apps.reasoning.story.candidates import Candidates
from apps.reasoning.story.run_story import RunStory


@dataclass(frozen=True)
class Role:
    """A part in a scaffold. `max_new_tokens` is the limit of the method's paper; an alias may allow less."""

    name: str
    title: str
    description: str
    max_new_tokens: int
    temperature: float = 0.7


@dataclass(frozen=True)
class Preset:
    """A named choice of parameters. `priority` as in `RunSpec`; `temperatures` by role override those of the roles."""

    title: str
    description: str
    params: Value
    priority: int = 6
    temperatures: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Scaffold:
    """A method that organises calls.

    `cost_hint`: what the method's paper measured. `warn_of`: a warning before a start on a problem, or "".
    `cannot_run`: why it cannot run on a problem with these parameters, and an alternative; "" if it can.
    `takes`: parameters supplied with the problem (`Given`). `choices`: by parameter, the values that `Given` allows, with
    their titles. `page`: how its runs are shown. `uses_tools`: its models act in turns with tools.
    `takes_lemmas`: people may add lemmas to its library. `hands_in`: its anytime answer, the id of the candidate or proof that
    it would select if its budget ended now, "" for none yet; only the events of `hands_in_after` change it, and programs that
    write no solution have none (docs/anytime.md). `measured_with`: parameters of its benchmark, large enough for
    rounds, pools and votes to matter.
    """

    name: str
    title: str
    description: str
    source: str
    params: type[Value]
    presets: dict[str, Preset]
    roles: tuple[Role, ...]
    solve: Callable[[ProblemText, Context, Any], Awaitable[Outcome]]
    estimate: Callable[..., Estimate]
    cost_hint: str = ""
    warn_of: Callable[[ProblemText], str] = lambda _: ""
    shares_prompts: bool = True
    cannot_run: Callable[[ProblemText, Any], str] = lambda *_: ""
    takes: frozenset[str] = frozenset()
    choices: Mapping[str, Callable[[Given], Mapping[str, str]]] = field(default_factory=dict)
    page: Page = field(default_factory=Page)
    uses_tools: bool = False
    takes_lemmas: bool = False
    hands_in: Callable[[RunStory, Any], str] | None = None
    hands_in_after: frozenset[Kind] = Candidates.KINDS
    measured_with: Mapping[str, Any] = field(default_factory=dict)

    def read_params(self, values: Mapping[str, Any]) -> Value:
        """Validate parameters. Raises `ParamsError`, whose message names the field and its valid values."""
        try:
            return self.params.model_validate(dict(values))
        except ValidationError as error:
            where, said = first_mistake(error)
            raise ParamsError(f"{where or 'parameters'}: {said}.") from error

    @property
    def first_preset(self) -> str:
        """The initial preset of forms: `quick` if it exists, else the first."""
        return "quick" if "quick" in self.presets else next(iter(self.presets))

    @property
    def prompts(self) -> dict[str, str]:
        """SHA-256 by name of every prompt file that it may use; frozen into a run's specification."""
        shared = loader.hashes("shared") if self.shares_prompts else {}
        checks = loader.hashes(checking_first.METHOD) if self.params.model_fields.keys() & checking_first.OPTIONS else {}
        return loader.hashes(self.name) | shared | loader.hashes(answer_line.METHOD) | checks

    def prompts_of(self, params: Value) -> dict[str, str]:
        """The same of a run with these parameters."""
        return self.prompts


def prompts_have_changed(recorded: Mapping[str, str], now: Mapping[str, str]) -> bool:
    """Whether a recorded prompt file was changed or removed. A file that was added later had no part in what is recorded."""
    return any(now.get(name) != sha for name, sha in recorded.items())
