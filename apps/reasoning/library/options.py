"""Options of a call besides problem and program, checked at once with clear errors."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Required, Self, TypedDict

import httpx
from pydantic import ConfigDict, Field, SecretStr, ValidationError

from apps.reasoning.domain.errors import PlanError
from apps.reasoning.domain.event_base import Event
from apps.reasoning.domain.values import Value, first_mistake
from apps.reasoning.inference.aliases import GIVEN, Alias, HttpOptions
from apps.reasoning.scaffolds.candidates.desk import MAX_HINT
from apps.reasoning.scaffolds.spec import Budget

#: Tokens, as of an alias.
SMALLEST_CONTEXT = 16


class RunOptions(TypedDict, total=False):
    """Keywords of `solve` and `grade`; docs/library.md explains each.

    `base_url` and `model` name the server and one of its models. The key is `api_key`, or the value of the environment
    variable that `api_key_env` names. `context_tokens`: length of prompt and answer together, where the server does not say
    it. `concurrency`: calls at a time. `server`: further options of the address, as in docs/models.md (`extra_body`, …).
    `max_new_tokens` and `temperature` replace the program's own for all roles; `deadline_s` is for one call. `calls`, `tokens`
    and `seconds` limit the run. `journal` names a file to record in and to resume from. `on_event` is called with each event.
    """

    base_url: Required[str]
    model: Required[str]
    api_key: str
    api_key_env: str
    context_tokens: int
    concurrency: int
    server: Mapping[str, Any]
    max_new_tokens: int
    temperature: float
    deadline_s: float
    calls: int
    tokens: int
    seconds: float
    seed: int
    hints: Sequence[str]
    journal: str | Path
    on_event: Callable[[Event], None]


class CheckedOptions(Value):
    """The same, validated. `seed` and `context_tokens` None: the journal's, else drawn and asked of the server."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    base_url: str = Field(min_length=1)
    model: str = Field(min_length=1)
    api_key: SecretStr = SecretStr("")
    api_key_env: str = ""
    context_tokens: int | None = Field(default=None, ge=SMALLEST_CONTEXT)
    concurrency: int = Field(default=8, ge=1, le=4096)
    server: HttpOptions = HttpOptions()
    max_new_tokens: int | None = Field(default=None, ge=1)
    temperature: float | None = Field(default=None, ge=0)
    deadline_s: float = Field(default=1800.0, gt=0)
    calls: int | None = Field(default=None, ge=1)
    tokens: int | None = Field(default=None, ge=1)
    seconds: float | None = Field(default=None, gt=0)
    seed: int | None = Field(default=None, ge=0, lt=2**31)
    hints: tuple[Annotated[str, Field(min_length=1, max_length=MAX_HINT)], ...] = ()
    journal: Path | None = None
    on_event: Callable[[Event], None] | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Raises `PlanError` that names the keyword, and `TypeError` for one that there is not."""
        if unknown := sorted(set(given) - set(cls.model_fields)):
            raise TypeError(f"There is no keyword {', '.join(unknown)}; there are {', '.join(cls.model_fields)}.")
        if missing := [name for name in ("base_url", "model") if name not in given]:
            raise TypeError(f"The keyword {missing[0]} is missing.")
        if isinstance(given.get("hints"), str):
            raise PlanError("option", "hints: give a list of texts, not one text.", "hints")
        try:
            checked = cls.model_validate(dict(given))
            checked.alias(SMALLEST_CONTEXT)
            httpx.URL(checked.base_url)
        except httpx.InvalidURL as error:
            raise PlanError("option", f"base_url: {checked.base_url} is no address ({error}).", "base_url") from None
        except ValidationError as error:
            name, said = first_mistake(error)
            raise PlanError("option", f"{name or 'options'}: {said}.", name or "options") from None
        return checked

    @property
    def budget(self) -> Budget:
        """The limits of the run."""
        return Budget(calls=self.calls, tokens=self.tokens, seconds=self.seconds)

    def alias(self, context_tokens: int) -> Alias:
        """The model as the planner and the backend take it. Raises `ValidationError`."""
        return Alias.model_validate(
            {
                "name": GIVEN,
                "title": self.model,
                "backend": "openai_http",
                "model": self.model,
                "base_url": self.base_url,
                "api_key_env": self.api_key_env,
                "context_tokens": context_tokens,
                "concurrency": self.concurrency,
                "options": self.server,
            }
        )
