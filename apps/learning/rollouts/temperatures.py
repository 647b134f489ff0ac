"""The two temperatures of rows: at which they were drawn, and at which their log-probabilities are known and scored.

Where they differ, ratios and gradient are those of another distribution than the one that wrote the rows.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from apps.datasets.versions.manifest import scored_at
from apps.learning.jobs.jobs import manifest_of
from apps.learning.models import TrainingJob
from apps.learning.rollouts.plan import drawn_at, plan_of
from apps.reasoning.inference.aliases import Alias
from apps.recipes.registry import TRAININGS

BOTH = "Rows are drawn at temperature {drawn}. Their log-probabilities are recorded and scored at {scored}."
OTHER = (
    "These log-probabilities are the model’s own, at temperature 1, but the rows are drawn at {drawn}. The gradient is then "
    "that of another distribution."
)
OF_RUNS = 'Set options.logprobs_of = "sampled" for this model in models.toml, or draw at temperature 1.'
OF_DATASETS = 'Record the runs again with options.logprobs_of = "sampled" in models.toml, or at temperature 1.'
#: What the form's script completes for the chosen source.
WORDS = {"both": BOTH, "other": f"{OTHER} {OF_RUNS}"}


def drawn_of(manifest: Mapping[str, Any]) -> list[float]:
    """Temperatures at which the learned roles of a dataset were drawn."""
    learned = set(manifest.get("counts", {}).get("roles", {}))
    found = manifest.get("sampling", ())
    own = [one for one in found if one["role"].replace("_", "") in learned] or found
    return sorted({float(one["temperature"]) for one in own})


def sentences(drawn: Sequence[float], scored: float | None, advice: str) -> tuple[str, str]:
    """Both temperatures in words, and a warning where they differ; each may be empty."""
    if not drawn or scored is None:
        return "", ""
    words = {"drawn": " and ".join(f"{one:g}" for one in drawn), "scored": f"{scored:g}"}
    differs = any(abs(one - scored) > 1e-6 for one in drawn)
    return BOTH.format(**words), f"{OTHER} {advice}".format(**words) if differs else ""


def of_dataset(manifest: Mapping[str, Any]) -> tuple[str, str]:
    """Sentences of a dataset with tokens."""
    return sentences(drawn_of(manifest), scored_at(manifest), OF_DATASETS)


def of_job(job: TrainingJob) -> tuple[str, str]:
    """Sentences of a job whose recipe needs log-probabilities; empty for toys, which draw where they score."""
    if not TRAININGS[job.recipe].needs_logprobs:
        return "", ""
    scored = float(job.config.get("temperature", 1.0))
    if job.rollouts:
        drawn = plan_of(job.rollouts).temperature
        return sentences([] if drawn is None else [drawn], scored, OF_RUNS)
    if job.dataset is not None and job.dataset.has_tokens:
        return sentences(drawn_of(manifest_of(job.dataset)), scored, OF_DATASETS)
    return "", ""


def is_raw(alias: Alias) -> bool:
    """Whether recorded log-probabilities are the model's own, whatever the temperature of its draws."""
    return drawn_at(alias, 0.5) != 0.5
