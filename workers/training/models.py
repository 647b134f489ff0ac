"""The model and the tokenizer of a job: read from a folder or made in memory, with an adapter where one is asked for."""

import contextlib
import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, PeftModel
from safetensors import SafetensorError
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

from workers.training.config import JobConfig
from workers.training.problems import BadConfig, OtherArchitecture
from workers.training.tiny import tiny_model, tiny_tokenizer

TINY = {"hidden", "layers", "heads"}


def base_folder(config: JobConfig, job: Path) -> Path:
    """Where the base model lies; a tiny one is made first, into the job's folder. Raises `BadConfig`."""
    if isinstance(config.base, str):
        folder = (job / config.base).resolve()
        if not (folder / "config.json").exists() and not is_adapter(folder):
            raise BadConfig(f"“base” names {config.base}, where no model lies (there is no config.json).")
        return folder if config.lora or not is_adapter(folder) else _merged(folder, job / "base")
    asked = config.base.get("tiny") if isinstance(config.base, dict) and set(config.base) == {"tiny"} else None
    if not isinstance(asked, dict) or set(asked) - TINY:
        raise BadConfig('“base” must be a folder, or {"tiny": {"hidden": …, "layers": …, "heads": …}}.')
    return _made(job / "base", lambda: (tiny_model(seed=config.seed, **asked), tiny_tokenizer()))


def _made(folder: Path, make: Callable[[], tuple[Any, Any]]) -> Path:
    shared = torch.distributed.is_available() and torch.distributed.is_initialized()
    if not (folder / "config.json").exists() and not (shared and torch.distributed.get_rank()):
        beside = folder.with_name(f".{folder.name}")
        shutil.rmtree(beside, ignore_errors=True)
        for part in make():
            part.save_pretrained(beside)
        shutil.rmtree(folder, ignore_errors=True)
        beside.rename(folder)
    if shared:  # Of several processes only the first can save a model, and nobody may read half of one.
        torch.distributed.barrier()
    return folder


def _merged(adapter: Path, folder: Path) -> Path:
    """All weights are to be trained: those of the base with the adapter's, as a model of its own that checkpoints can name."""
    return _made(folder, lambda: (load_model(adapter), load_tokenizer(adapter)))


def is_adapter(folder: Path) -> bool:
    """A LoRA checkpoint, which says in a file of its own what it was made for."""
    return (folder / "adapter_config.json").exists()


@contextlib.contextmanager
def _reading(folder: Path) -> Iterator[None]:
    """What libraries say of a model that lies there and cannot be read, as `BadConfig`."""
    try:
        yield
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        said = str(error).strip().partition("\n")[0][:200]
        raise BadConfig(
            f"The model in {folder} cannot be read and may not be whole ({type(error).__name__}: {said})."
        ) from error


def _adapter_of(folder: Path) -> dict[str, Any]:
    with _reading(folder):
        found: dict[str, Any] = json.loads((folder / "adapter_config.json").read_text(encoding="utf-8"))
    return found


def _below(folder: Path) -> Path:
    """The model that an adapter was made for. Raises `BadConfig` where it is gone."""
    below = Path(_adapter_of(folder)["base_model_name_or_path"])
    if not below.exists():
        raise BadConfig(f"The adapter in {folder.name} was made for {below}, which is not there.")
    return below


def load_tokenizer(folder: Path) -> Any:
    """With a sign for padding: its own, else that of the end. Raises `BadConfig` where it cannot be read."""
    with _reading(folder):
        tokenizer = AutoTokenizer.from_pretrained(folder)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def load_model(folder: Path, *, frozen_in_bf16: bool = False) -> Any:
    """A causal model with weights in float32; of a LoRA checkpoint its base with the adapter merged. Raises `BadConfig`.

    `frozen_in_bf16`: weights in bfloat16, for a base that is not trained itself. Steps at the papers' learning rates are
    smaller than bfloat16 can add to a weight, so trained weights never are (`row_trainer.check_masters`).
    """
    if is_adapter(folder):
        base = load_model(_below(folder), frozen_in_bf16=frozen_in_bf16)
        with _reading(folder):
            return PeftModel.from_pretrained(base, folder).merge_and_unload()
    with _reading(folder):
        return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16 if frozen_in_bf16 else torch.float32)


def load_for_training(folder: Path, config: JobConfig, *, bf16: bool) -> tuple[Any, Any]:
    """The model and the configuration of the adapter that it still needs, if any.

    A job of LoRA that begins with a LoRA checkpoint goes on training that adapter: a second one on top of it would stand for a
    base that no engine has. With `bf16` the base below an adapter, which is not trained, is kept in bfloat16. Raises
    `BadConfig` where the job asks for another rank or α than the adapter has.
    """
    frozen = bf16 and config.lora is not None
    if config.lora is None or not is_adapter(folder):
        return load_model(folder, frozen_in_bf16=frozen), lora_of(config)
    known = _adapter_of(folder)
    if (known["r"], known["lora_alpha"]) != (config.lora.rank, config.lora.alpha):
        raise BadConfig(
            f"The base is an adapter of rank {known['r']} and α {known['lora_alpha']}, and goes on as such; this job asks for"
            f" rank {config.lora.rank} and α {config.lora.alpha}. Ask for the same, or train all weights."
        )
    base = load_model(_below(folder), frozen_in_bf16=frozen)
    with _reading(folder):
        return PeftModel.from_pretrained(base, folder, is_trainable=True), None


def dtype_of(folder: Path) -> str | None:
    """The type in which a model is to be served, such as `bfloat16`, from its config.json; None where it says nothing."""
    with _reading(folder):
        known = json.loads(((_below(folder) if is_adapter(folder) else folder) / "config.json").read_text(encoding="utf-8"))
    found: str | None = known.get("dtype") or known.get("torch_dtype")
    return found


def lora_of(config: JobConfig) -> Any:
    """The adapter's configuration, None where all weights are trained."""
    if config.lora is None:
        return None
    targets = config.lora.targets
    return LoraConfig(
        r=config.lora.rank,
        lora_alpha=config.lora.alpha,
        target_modules=targets if isinstance(targets, str) else list(targets),
        task_type="CAUSAL_LM",
    )


def tokenizer_hash(tokenizer: Any) -> str:
    """SHA-256 as the inference workers record it (`workers/engines/chat_prompt.py`): the vocabulary and how text is cut."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    said = backend.to_str() if backend is not None else json.dumps(tokenizer.get_vocab(), sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()


def template_hash(tokenizer: Any) -> str | None:
    """SHA-256 of the chat template as recorded, without variables; None where the model has none."""
    if not tokenizer.chat_template:
        return None
    said = json.dumps([tokenizer.chat_template, {}], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(said.encode()).hexdigest()


def architecture_of(folder: Path) -> dict[str, Any]:
    """What two models must share that the weights of one fit the other."""
    if is_adapter(folder):
        return architecture_of(_below(folder))
    with _reading(folder):
        known = AutoConfig.from_pretrained(folder)
    names = ("model_type", "vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
    return {name: getattr(known, name, None) for name in names}


def check_architecture(manifest: dict[str, Any], folder: Path) -> None:
    """Raises `OtherArchitecture` where a checkpoint cannot continue on this base, naming the first difference."""
    own = architecture_of(folder)
    for name, value in manifest.get("architecture", {}).items():
        if own.get(name) != value:
            raise OtherArchitecture(
                f"The checkpoint has {name} {value}, the base model {own.get(name)}; it cannot go on from it."
            )
