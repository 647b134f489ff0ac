"""Settings in force of a job: its `config.json`, completed with the recipe's values and the trainer's defaults.

A test compares the trainer's defaults here with those of `workers.training.config`, which this application cannot import.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from apps.learning.models import TrainingJob
from apps.recipes.recipe import LOSS_USED
from apps.recipes.registry import TRAININGS

#: What the trainer takes for keys that neither `config.json` nor the recipe sets.
TRAINER: dict[str, Any] = {
    "micro_rows": None,
    "micro_tokens": 16_384,
    "packing": True,
    "seed": 0,
    "temperature": 1.0,
    "any_template": False,
    "lora": None,
    "held_out": None,
    "save_every": 50,
    "keep": 2,
    "log_every": 1,
    "samples": 2,
    "device": "auto",
    "dtype": "auto",
    "attention": "auto",
    "threads": None,
    "shard": None,
}
#: Groups of settings with their displayed names, in the order of the page.
GROUPS: dict[str, dict[str, str]] = {
    "Optimiser": {
        "steps": "Steps",
        "learning_rate": "Learning rate",
        "last_learning_rate": "Last learning rate",
        "warmup_steps": "Warm-up steps",
        "gradient_clip": "Gradient clip",
        "weight_decay": "Weight decay",
        "seed": "Seed",
    },
    "Batches": {
        "rows_per_step": "Rows per step",
        "micro_rows": "Rows at once",
        "micro_tokens": "Tokens at once",
        "packing": "Packing",
        "most_lag": "Oldest policy (steps)",
        "temperature": "Temperature of scoring",
        "any_template": "Allow rows of another chat template",
    },
    "Loss": {
        "loss.low": "Clip below ε",
        "loss.high": "Clip above ε",
        "loss.beta": "KL weight β",
        "loss.aggregation": "Aggregation",
        "loss.longest": "Longest completion of the aggregation",
        "loss.entropy_bonus": "Entropy bonus",
        "loss.mastered_below": "Dynamic masking below",
        "loss.positive": "Weight of positive rows",
        "loss.negative": "Weight of negative rows",
        "loss.token_rm": "Token reward model",
        "loss.old": "Old probabilities",
        "loss.ratio_cap": "Ratio cap",
        "loss.correction_cap": "Correction cap",
        "loss.mask_above": "Leave out rows above",
    },
    "Model and machine": {
        "lora": "LoRA",
        "dtype": "Arithmetic",
        "attention": "Attention",
        "device": "Device",
        "threads": "CPU threads",
        "shard": "Weights divided by",
    },
    "Rows and saving": {
        "source": "Source of rows",
        "held_out": "Held out",
        "save_every": "Save every … steps",
        "keep": "Checkpoints kept",
        "log_every": "Metrics every … steps",
        "samples": "Rows as text per step",
        "trackers": "Trackers",
    },
}
#: Settings of which the recipe says nothing, so that any value is the job's own.
_OWN = {"seed", "save_every", "keep", "log_every", "samples", "device", "threads", "held_out"}
_OFF = {"micro_rows": "all", "most_lag": "any", "threads": "chosen by torch", "loss.old": "stored"}


@dataclass(frozen=True)
class Setting:
    """One setting in force. `usual`: the value without an entry in `config.json`; `has_usual`: False for a job's own values."""

    name: str
    title: str
    value: str
    usual: str
    has_usual: bool

    @property
    def differs(self) -> bool:
        """Whether the job sets another value than the recipe or the trainer."""
        return self.has_usual and self.value != self.usual


@dataclass(frozen=True)
class Difference:
    """A setting or fact in which two jobs differ."""

    title: str
    one: str
    other: str


def settings_in_force(config: Mapping[str, Any]) -> dict[str, list[Setting]]:
    """All settings of a job by group, without those that its recipe's loss ignores."""
    card = TRAININGS[config["recipe"]]
    usual = TRAINER | card.settings(steps=int(config["steps"])) | _flat_loss(asdict(card.loss_settings))
    given = {name: value for name, value in config.items() if name != "loss"}
    values = usual | given | _flat_loss(config.get("loss") or {})
    used = LOSS_USED[card.objective]
    return {
        group: [
            Setting(
                name, title, shown(name, values.get(name)), shown(name, usual.get(name)), name in usual and name not in _OWN
            )
            for name, title in names.items()
            if name in values and (not name.startswith("loss.") or name.removeprefix("loss.") in used)
        ]
        for group, names in GROUPS.items()
    }


def _flat_loss(loss: Mapping[str, Any]) -> dict[str, Any]:
    return {f"loss.{name}": value for name, value in loss.items()}


def shown(name: str, value: Any) -> str:
    """A value in words."""
    if value is None:
        return _OFF.get(name, "off")
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:,}" if isinstance(value, int) else f"{value:g}"
    if name == "source" and isinstance(value, Mapping) and value.get("kind") == "stream":
        return _own_runs(value)
    if isinstance(value, Mapping):
        value = {key: one for key, one in value.items() if name != "source" or key != "kind" or len(value) == 1}
        return ", ".join(f"{key} {one if isinstance(one, str) else json.dumps(one)}" for key, one in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _own_runs(source: Mapping[str, Any]) -> str:
    """The source of a job that makes its own runs, with its other settings."""
    waits = f"; the trainer waits up to {source['wait'] / 3600:g} h" if source.get("wait") else ""
    more = [f"{key} {one if isinstance(one, str) else json.dumps(one)}" for key, one in source.items()
            if key not in ("kind", "wait")]  # fmt: skip
    return ", ".join([f"The job’s own runs{waits}", *more])


def facts_of(job: TrainingJob) -> dict[str, str]:
    """Where a job's rows, weights and code come from, and where it runs; what is not known yet is left out."""
    dataset, machine = job.config.get("dataset") or {}, machine_of(job)
    versions = machine.get("versions") or {}
    found = {
        "Recipe": f"{TRAININGS[job.recipe].title} ({job.recipe})",
        "Starts from": job.base_title,
        "Dataset": str(dataset.get("name") or ""),
        "Hash of the dataset": str(dataset.get("hash") or ""),
        "Code": str(machine.get("commit") or ""),
        "Hardware": ", ".join(filter(None, (str(machine.get(name) or "") for name in ("hardware", "arithmetic")))),
        "Machine": " ".join(filter(None, (job.host, job.device))),
        "Versions": ", ".join(f"{name} {version}" for name, version in versions.items()),
    }
    return {title: value for title, value in found.items() if value}


def machine_of(job: TrainingJob) -> dict[str, Any]:
    """What the trainer says about its machine and code; empty before it starts."""
    return _read(job, "machine.json")


def tracker_notes(job: TrainingJob) -> list[str]:
    """What is wrong with a job's trackers, one sentence each; empty where all work."""
    found = []
    for name, report in _read(job, "trackers.json").items():
        state, errors, last = (report.get(key) for key in ("state", "errors", "last"))
        if state == "open" and errors:
            found.append(f"{name}: {errors:,} error{'s' if errors > 1 else ''}, the last: {last}")
        elif state not in ("open", "starting"):
            found.append(f"{name} is {state}. {last}")
    return found


def _read(job: TrainingJob, name: str) -> dict[str, Any]:
    """A JSON object of the job's folder; empty where it is missing or unreadable."""
    try:
        found = json.loads((job.folder / name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def differences_of(one: TrainingJob, other: TrainingJob) -> list[Difference]:
    """Settings and facts in which two jobs differ; a dash where one has no such setting."""
    found = []
    for known in ((facts_of(one), facts_of(other)), (_by_title(one), _by_title(other))):
        titles = dict.fromkeys([*known[0], *known[1]])
        pairs = [(title, *(values.get(title, "–") for values in known)) for title in titles]
        found += [Difference(title, left, right) for title, left, right in pairs if left != right]
    return found


def _by_title(job: TrainingJob) -> dict[str, str]:
    return {one.title: one.value for group in settings_in_force(job.config).values() for one in group}
