"""Plan of a job that makes its own rollouts: problems, scaffold, model and number of runs."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings

from apps.datasets.rewards import Judge
from apps.explorations import worked_example
from apps.reasoning.domain.errors import AliasError
from apps.reasoning.domain.values import Value
from apps.reasoning.inference.aliases import Alias, load_aliases
from apps.reasoning.inference.followed import followed_by

#: Seconds that a trainer waits for its first rows, and for the next ones: runs of large models take long.
STREAM_WAIT_S = 24 * 3600
#: Seconds after which a job continues without a reward, from the start of its grading.
REWARD_WITHIN_S = 900.0
#: Seconds for which a reward waits for its grading to begin. Less than the trainer waits for rows.
REWARD_BEGINS_S = 6 * 3600.0


class RolloutPlan(Value):
    """Plan of a job's own runs.

    Each problem (a slug) is visited `visits` times; a visit is a group of `runs_a_group` runs. `overrides` change single
    parameters of the preset. `alias` plays all roles. An alias that follows a job (`…/*` in models.toml) plays with the job's
    newest policy; answers longer than `segment_tokens` continue under the next one. Every role samples at `temperature`;
    None: each at its own. With the judge "grader", `reward_alias` plays all roles of `reward_workflow` (a name of
    `graders.planning.naming`), and a reward whose grading takes longer than `reward_within_s` seconds is left out.

    `chosen`: how problems of a set were chosen (`curriculum.words_of`). `rest_solved`: a problem misses its next visit after
    one that all answers solved.
    """

    problems: tuple[str, ...]
    scaffold: str
    preset: str
    alias: str
    judge: Judge = "verifiers"
    reward_workflow: str = ""
    reward_alias: str = ""
    reward_within_s: float = REWARD_WITHIN_S
    runs_a_group: int = 8
    visits: int = 8
    at_once: int = 4
    max_new_tokens: int | None = None
    segment_tokens: int | None = None
    temperature: float | None = None
    overrides: dict[str, Any] = {}
    chosen: dict[str, Any] = {}
    rest_solved: bool = False

    @property
    def runs_each(self) -> int:
        """Number of finished runs per problem."""
        return self.visits * self.runs_a_group

    @property
    def runs(self) -> int:
        """Total number of finished runs."""
        return len(self.problems) * self.runs_each


def players() -> dict[str, Alias]:
    """Models whose tokens can be recorded, without the worked example; those that follow a job come first."""
    known = load_aliases(settings.MODELS_FILE).values()
    found = [one for one in known if one.enabled and one.captures and one.name != worked_example.ALIAS]
    return {one.name: one for one in sorted(found, key=lambda one: (followed_by(one) is None, one.name))}


def follows(alias: Alias) -> bool:
    """Whether a model plays with the newest policy of a job."""
    return followed_by(alias) is not None


def drawn_at(alias: Alias, temperature: float | None) -> float:
    """Temperature of the distribution whose log-probabilities are recorded: the sampled one, or the model's own (1)."""
    engine = load_aliases(settings.MODELS_FILE).get(alias.engine, alias)
    return temperature if getattr(engine.options, "logprobs_of", "raw") == "sampled" and temperature else 1.0


def most_rank(alias: Alias) -> int | None:
    """Highest adapter rank that the engine accepts; None where models.toml sets none."""
    engine = load_aliases(settings.MODELS_FILE).get(alias.engine, alias)
    found: int | None = getattr(engine.options, "max_lora_rank", None)
    return found


def player_title(alias: Alias) -> str:
    """Title of a model in the form."""
    if alias.weights:
        return f"{alias.title}: follows the job, all weights"
    return f"{alias.title}: follows the job" if follows(alias) else f"{alias.title}: fixed weights"


def title_of_alias(name: str) -> str:
    """Title of a model; its name where models.toml has it no more, or cannot be read."""
    try:
        return load_aliases(settings.MODELS_FILE)[name].title
    except (AliasError, KeyError):
        return name


def plan_of(values: Mapping[str, object]) -> RolloutPlan:
    """Plan stored with a job."""
    return RolloutPlan.model_validate(values)
