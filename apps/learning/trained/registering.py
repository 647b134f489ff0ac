"""Registration of a checkpoint as a model: checked against its manifest, copied out of its job, added to the registry."""

import hashlib
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction

from apps.accounts.models import User
from apps.learning.jobs.folders import checkpoint_folder, checkpoint_steps
from apps.learning.models import TrainedModel, TrainingJob
from apps.learning.trained.alias_file import aliases_write
from apps.learning.trained.card import card_write
from apps.reasoning.inference.aliases import NAME, Alias, load_aliases

#: Prefixes of files that only the trainer needs, to resume; they stay in the job.
TRAINERS_OWN = (
    "optimizer",
    "scheduler",
    "rng_state",
    "trainer_state",
    "training_args",
    "scaler",
    "value_head",
    "token_rewards",
    "ref/",  # TRL's copy of the adapter that the job started from.
)
WEIGHTS = ("model.safetensors", "model.safetensors.index.json")
ADAPTER = "adapter_model.safetensors"
SAME = ("model_type", "vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")


class NotRegistered(Exception):
    """Nothing was registered; the message says what is wrong with the checkpoint, the name or the alias."""


def model_register(*, user: User, job: TrainingJob, step: int, name: str, like: str = "") -> TrainedModel:
    """Register a checkpoint as a candidate. Raises `NotRegistered` and then leaves no files behind."""
    if step not in checkpoint_steps(job.folder):
        raise NotRegistered(f"There is no complete checkpoint of step {step}. The job may have deleted it since.")
    source = checkpoint_folder(job.folder, step)
    manifest, digest = _manifest(source)
    _check_name(name)
    if like:
        check_engine(like, manifest)
    files = _files(source, manifest)
    made = TrainedModel(
        name=name,
        job=job,
        step=step,
        parent=job.config["base"],
        parent_title=job.base_title,
        like=like,
        is_adapter=bool(manifest.get("adapter")),
        manifest=digest,
        architecture=manifest.get("architecture") or {},
        registered_by=user,
    )
    temporary = made.folder.with_name(f".{name}.new")
    try:
        _copy(files, source, temporary)
        card_write(made, temporary, source)
        with transaction.atomic():
            made.save(force_insert=True)
            temporary.rename(made.folder)
    except IntegrityError as error:
        raise NotRegistered(f"A model named {name} already exists. Choose another name.") from error
    except OSError as error:
        raise NotRegistered(f"The files could not be copied: {error.strerror}.") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    aliases_write()
    return made


def _manifest(source: Path) -> tuple[dict[str, Any], str]:
    try:
        text = (source / "manifest.json").read_bytes()
        found = json.loads(text)
    except (OSError, ValueError) as error:
        raise NotRegistered("The checkpoint's manifest cannot be read.") from error
    if not isinstance(found, dict) or found.get("format") != 1 or not isinstance(found.get("files"), dict):
        raise NotRegistered("The checkpoint's manifest has an unknown format.")
    return found, hashlib.sha256(text).hexdigest()


def _check_name(name: str) -> None:
    if not NAME.match(name):
        raise NotRegistered("Use lower-case letters, digits, “-” and “_” in the name; start with a letter or digit.")
    if name in load_aliases(settings.MODELS_FILE) or TrainedModel.objects.filter(name=name).exists():
        raise NotRegistered(f"A model named {name} already exists. Choose another name.")


def engines() -> dict[str, Alias]:
    """Aliases whose engine can serve a trained model: those of vLLM, except adapters, trained models, and those that follow."""
    known = load_aliases(settings.MODELS_FILE)
    able = {name: one for name, one in known.items() if one.backend == "vllm" and not one.adapter_of and not one.candidate}
    return {name: one for name, one in able.items() if not one.weights}


def check_engine(like: str, manifest: Mapping[str, Any]) -> None:
    """Raise `NotRegistered` where the alias has no such engine, or its local model has another architecture."""
    alias = engines().get(like)
    if alias is None:
        raise NotRegistered(f"{like} is not an alias of the backend vllm in models.toml.")
    own = Path(alias.model) / "config.json"
    if not own.is_file():
        return  # A name on the hub: the engine itself rejects weights that do not fit.
    try:
        known = json.loads(own.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise NotRegistered(f"The model of {like} cannot be read.") from error
    made = manifest.get("architecture") or {}
    for key in SAME:
        if made.get(key) is not None and known.get(key) != made[key]:
            raise NotRegistered(f"The checkpoint has {key} {made[key]}, but the model of {like} has {known.get(key)}.")


def _files(source: Path, manifest: Mapping[str, Any]) -> list[str]:
    """Files that an engine needs, each checked against its hash. Raises `NotRegistered`."""
    names = [name for name in manifest["files"] if not name.startswith(TRAINERS_OWN)]
    needed = (ADAPTER,) if manifest.get("adapter") else WEIGHTS
    if not any(name in names for name in needed):
        raise NotRegistered(f"The checkpoint has no {needed[0]}.")
    for name in names:
        path = source / name
        if Path(name).name != name or not path.is_file():
            raise NotRegistered(f"{name} is in the manifest but not in the checkpoint.")
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != manifest["files"][name]:
                raise NotRegistered(f"{name} does not match its hash in the manifest: the checkpoint is damaged.")
    return names


def _copy(names: list[str], source: Path, target: Path) -> None:
    """Hard-link or copy the files, so that the job may delete its checkpoint."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for name in [*names, "manifest.json"]:
        try:
            (target / name).hardlink_to(source / name)
        except OSError:
            shutil.copyfile(source / name, target / name)
