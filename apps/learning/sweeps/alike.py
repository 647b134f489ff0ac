"""Jobs that are the same experiment: all settings in force, the data and the base are equal; only the seed may differ."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from apps.learning.models import TrainingJob
from apps.learning.presets import TOYS
from apps.learning.sweeps.settings import SEED, in_force, shown

RECIPE, DATA, BASE = "recipe", "data", "base"
#: What an experiment is, in the order of the columns.
FIRST = (RECIPE, DATA, BASE)
#: Settings that change how a job is computed, saved or written down, and not what it learns.
_OF_THE_MACHINE = frozenset(
    {"save_every", "keep", "log_every", "samples", "device", "threads", "micro_rows", "micro_tokens", "packing", "attention"}
    | {"shard", "any_template"}
)
#: Parts of the plan of own runs that are shown as the data, follow from other settings, or change no text.
_OF_THE_PLAN = frozenset({"problems", "chosen", "at_once"})


def settings_of_runs(job: TrainingJob) -> dict[str, Any]:
    """Settings by which a job learns, with those of its own runs; without the data and the base."""
    found = {name: value for name, value in in_force(job.config).items() if name not in (*_OF_THE_MACHINE, BASE)}
    return found | {f"runs.{name}": value for name, value in (job.rollouts or {}).items() if name not in _OF_THE_PLAN}


def values_of(job: TrainingJob, names: Sequence[str]) -> dict[str, str]:
    """These settings as they are shown; the data and the base in words."""
    known = in_force(job.config) | settings_of_runs(job) | {DATA: _data_title(job), BASE: job.base_title}
    return {name: shown(known.get(name)) for name in names}


def experiment_of(job: TrainingJob) -> str:
    """Equal for jobs that differ in their seed only."""
    settings = {name: value for name, value in settings_of_runs(job).items() if name != SEED}
    return json.dumps([settings, _data(job), job.config["base"]], sort_keys=True)


def seed_of(job: TrainingJob) -> int:
    """Seed of a job."""
    return int(job.config.get(SEED) or 0)


def differing(jobs: Sequence[TrainingJob]) -> list[str]:
    """What jobs differ in: recipe, data and base first, then their settings, the seed last."""
    known = [settings_of_runs(job) | {DATA: _data(job), BASE: job.config["base"]} for job in jobs]
    names = dict.fromkeys([*FIRST, *(name for one in known for name in one)])
    found = [name for name in names if any(one.get(name) != known[0].get(name) for one in known)]
    return sorted(found, key=lambda name: name == SEED)


def _data(job: TrainingJob) -> Mapping[str, Any]:
    """What a job learns from. The order of its problems belongs to its seed, unless a setting says otherwise."""
    source, plan = job.config.get("source") or {}, job.rollouts or {}
    found = {name: source.get(name) for name in ("kind", "toy", "demonstrations")}
    dataset = job.config.get("dataset") or {}
    order = ((plan.get("chosen") or {}).get("selection") or {}).get("order")
    return found | {"hash": dataset.get("hash"), "problems": sorted(plan.get("problems") or ()), "order": order}


def _data_title(job: TrainingJob) -> str:
    if job.toy:
        teacher = ", its teacher" if job.config["source"].get("demonstrations") else ""
        return f"Toy: {TOYS[job.toy].title if job.toy in TOYS else job.toy}{teacher}"
    if job.rollouts:
        count = len(job.rollouts.get("problems") or ())
        return f"Own runs of {count:,} problem{'' if count == 1 else 's'}"
    return str((job.config.get("dataset") or {}).get("name") or "–")
