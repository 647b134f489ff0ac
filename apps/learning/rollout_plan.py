"""What a job that makes its own rollouts plays, and with whom: the part of its row that its driver follows."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings

from apps.datasets.recipes import Judge
from apps.explorations import worked_example
from apps.reasoning.domain.values import Value
from apps.reasoning.inference.aliases import Alias, load_aliases
from apps.reasoning.inference.followed import followed_folder

#: Seconds in which a trainer waits for its first rows, and for the next ones: runs of large models take long.
STREAM_WAIT_S = 24 * 3600


class RolloutPlan(Value):
    """Each problem (a slug) is visited `visits` times; a visit is `runs_a_group` runs, which are compared with each other.

    `overrides` change single parameters of the preset. `alias` plays all roles. Where it follows a job (`…/*` in models.toml),
    it plays with what this job has learned so far; answers longer than `segment_tokens` go on under what it has learned since.
    Every role draws at `temperature`; None: each at its own.
    """

    problems: tuple[str, ...]
    scaffold: str
    preset: str
    alias: str
    judge: Judge = "verifiers"
    runs_a_group: int = 8
    visits: int = 8
    at_once: int = 4
    max_new_tokens: int | None = None
    segment_tokens: int | None = None
    temperature: float | None = None
    overrides: dict[str, Any] = {}

    @property
    def runs_each(self) -> int:
        """How many finished runs a problem gets."""
        return self.visits * self.runs_a_group

    @property
    def runs(self) -> int:
        """How many it is in all."""
        return len(self.problems) * self.runs_each


def players() -> dict[str, Alias]:
    """Whose tokens can be recorded as they are drawn, those that follow a job first; people wrote the worked example's."""
    known = load_aliases(settings.MODELS_FILE).values()
    found = [one for one in known if one.enabled and one.captures and one.name != worked_example.ALIAS]
    return {one.name: one for one in sorted(found, key=lambda one: (followed_folder(one.adapter) is None, one.name))}


def follows(alias: Alias) -> bool:
    """Whether it plays with what a job has learned so far."""
    return followed_folder(alias.adapter) is not None


def drawn_at(alias: Alias, temperature: float | None) -> float:
    """The temperature of what its log-probabilities are of: the drawn distribution's, or the model's own, which is 1."""
    engine = load_aliases(settings.MODELS_FILE).get(alias.engine, alias)
    return temperature if getattr(engine.options, "logprobs_of", "raw") == "sampled" and temperature else 1.0


def most_rank(alias: Alias) -> int | None:
    """The highest rank of an adapter that its engine takes; None where it says nothing of it."""
    engine = load_aliases(settings.MODELS_FILE).get(alias.engine, alias)
    found: int | None = getattr(engine.options, "max_lora_rank", None)
    return found


def player_title(alias: Alias) -> str:
    """As the form names it."""
    return f"{alias.title}: follows the job" if follows(alias) else f"{alias.title}: stays as it is"


def plan_of(values: Mapping[str, object]) -> RolloutPlan:
    """The plan of a job's row."""
    return RolloutPlan.model_validate(values)
