"""Bases that a job can start from: the tiny model, a folder of models, registered models, checkpoints of other jobs."""

from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from apps.learning.jobs.folders import checkpoint_folder, checkpoint_steps
from apps.learning.models import ModelState, TrainedModel, TrainingJob

TINY = "tiny"
#: A larger tiny model for toys that ask with scaffolds' prompts.
FOR_PROMPTS = "tiny-prompts"
PROMPTS_SIZES: dict[str, int] = {"hidden": 168, "layers": 3, "heads": 4, "prompts": True}
MOST_JOBS = 50


@dataclass(frozen=True)
class Base:
    """A base model. `value`: its value in the form; `config`: its entry in `config.json`; `parent`: its name in manifests."""

    value: str
    title: str
    config: "str | dict[str, dict[str, int]]"
    parent: str


def bases() -> list[Base]:
    """All current choices: the tiny models, folders and registered models by name, checkpoints of the newest jobs."""
    tiny = Base(TINY, "Tiny Llama (laptop, toys)", {"tiny": {}}, TINY)
    reader = Base(FOR_PROMPTS, "Small Llama that reads scaffolds’ prompts", {"tiny": PROMPTS_SIZES}, FOR_PROMPTS)
    return [tiny, reader, *_folders(), *_registered(), *_checkpoints()]


def base_of(job: TrainingJob) -> Base | None:
    """The base that a job started from, also where the form does not list it; None if it does not exist any more."""
    config = job.config["base"]
    known = next((one for one in bases() if one.config == config), None)
    if known is not None or not isinstance(config, str):
        return known
    if not any((Path(config) / name).is_file() for name in ("config.json", "adapter_config.json")):
        return None
    return Base(f"of:{job.public_id}", job.base_title, config, str(job.config.get("parent") or ""))


def bases_folder() -> Path:
    """Folder of the models to train."""
    return Path(settings.TRAIN_BASES) if settings.TRAIN_BASES else Path(settings.DATA_DIR) / "models"


def _folders() -> list[Base]:
    folder = bases_folder()
    if not folder.is_dir():
        return []
    names = sorted(path.parent.name for path in folder.glob("*/config.json"))
    return [Base(f"folder:{name}", name, str((folder / name).resolve()), name) for name in names]


def _registered() -> list[Base]:
    found = TrainedModel.objects.exclude(state=ModelState.REJECTED).order_by("name")
    return [Base(f"model:{one.name}", f"{one.name} ({one.state})", str(one.folder.resolve()), one.name) for one in found]


def _checkpoints() -> list[Base]:
    found = []
    for job in TrainingJob.objects.exclude(checkpoint="")[:MOST_JOBS]:
        for step in reversed(checkpoint_steps(job.folder)):
            place = str(checkpoint_folder(job.folder, step).resolve())
            found.append(Base(f"job:{job.public_id}:{step}", f"{job.title}, step {step}", place, f"{job.public_id}/{step}"))
    return found
