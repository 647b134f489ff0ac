"""Model and tokenizer of a job: read from a folder or created in memory, with an optional adapter."""

import contextlib
import hashlib
import importlib.util
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

TINY = {"hidden", "layers", "heads", "prompts"}


def base_folder(config: JobConfig, job: Path) -> Path:
    """Folder of the base model; a tiny one is first created in the job's folder. Raises `BadConfig`."""
    if isinstance(config.base, str):
        folder = (job / config.base).resolve()
        if not (folder / "config.json").exists() and not is_adapter(folder):
            raise BadConfig(f"“base” is {config.base}, but there is no model (no config.json).")
        return folder if config.lora or not is_adapter(folder) else _merged(folder, job / "base")
    given = config.base.get("tiny") if isinstance(config.base, dict) and set(config.base) == {"tiny"} else None
    if not isinstance(given, dict) or set(given) - TINY:
        raise BadConfig('“base” must be a folder, or {"tiny": {"hidden": …, "layers": …, "heads": …}}.')
    return _made(job / "base", lambda: tiny_base(given, config.seed))


def tiny_base(given: dict[str, Any], seed: int) -> tuple[Any, Any]:
    """Tiny model and its tokenizer. With `prompts`, they read and write the prompts of scaffolds."""
    sizes = {name: value for name, value in given.items() if name != "prompts"}
    if not given.get("prompts"):
        return tiny_model(seed=seed, **sizes), tiny_tokenizer()
    from workers.training.toys.prompt_tokens import prompt_tokenizer

    tokenizer = prompt_tokenizer()
    return tiny_model(seed=seed, vocabulary=len(tokenizer), longest=tokenizer.model_max_length, **sizes), tokenizer


def _made(folder: Path, make: Callable[[], tuple[Any, Any]]) -> Path:
    shared = torch.distributed.is_available() and torch.distributed.is_initialized()
    if not (folder / "config.json").exists() and not (shared and torch.distributed.get_rank()):
        temporary = folder.with_name(f".{folder.name}")
        shutil.rmtree(temporary, ignore_errors=True)
        for part in make():
            part.save_pretrained(temporary)
        shutil.rmtree(folder, ignore_errors=True)
        temporary.rename(folder)
    if shared:  # Only the first process saves the model; the others wait until it is complete.
        torch.distributed.barrier()
    return folder


def _merged(adapter: Path, folder: Path) -> Path:
    """Full model for training all weights: the base merged with the adapter, in a folder that checkpoints can name."""
    return _made(folder, lambda: (load_model(adapter), load_tokenizer(adapter)))


def is_adapter(folder: Path) -> bool:
    """Whether a folder is a LoRA checkpoint, which has its own configuration file."""
    return (folder / "adapter_config.json").exists()


@contextlib.contextmanager
def _reading(folder: Path) -> Iterator[None]:
    """Convert library errors about an unreadable model to `BadConfig`."""
    try:
        yield
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        reason = str(error).strip().partition("\n")[0][:200]
        raise BadConfig(
            f"The model in {folder} cannot be read and may be incomplete ({type(error).__name__}: {reason})."
        ) from error


def _adapter_of(folder: Path) -> dict[str, Any]:
    with _reading(folder):
        found: dict[str, Any] = json.loads((folder / "adapter_config.json").read_text(encoding="utf-8"))
    return found


def _below(folder: Path) -> Path:
    """Base model of an adapter. Raises `BadConfig` where it is missing."""
    below = Path(_adapter_of(folder)["base_model_name_or_path"])
    if not below.exists():
        raise BadConfig(f"The adapter in {folder.name} was made for {below}, which does not exist.")
    return below


def load_tokenizer(folder: Path) -> Any:
    """Tokenizer with a padding token: its own, else its end token. Raises `BadConfig` where it cannot be read."""
    with _reading(folder):
        tokenizer = AutoTokenizer.from_pretrained(folder)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def load_model(folder: Path, *, frozen_in_bf16: bool = False, attention: str | None = None) -> Any:
    """Causal model with float32 weights; for a LoRA checkpoint its base with the merged adapter. Raises `BadConfig`.

    `frozen_in_bf16`: use bfloat16 weights, for a base that is not trained. Trained weights are never bfloat16, because it
    cannot represent steps at the papers' learning rates (`row_trainer.check_masters`).
    """
    if is_adapter(folder):
        base = load_model(_below(folder), frozen_in_bf16=frozen_in_bf16, attention=attention)
        with _reading(folder):
            return PeftModel.from_pretrained(base, folder).merge_and_unload()
    with _reading(folder):
        dtype = torch.bfloat16 if frozen_in_bf16 else torch.float32
        return AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, attn_implementation=attention)


def attention_of(config: JobConfig, *, cuda: bool) -> str | None:
    """Name of transformers' attention; None for the model's own, which is SDPA where it can.

    FlashAttention where it is installed on CUDA, unless the job names another.

    Raises `BadConfig` for one that needs CUDA or a package which is missing.
    """
    has_flash = cuda and importlib.util.find_spec("flash_attn") is not None
    if config.attention == "auto":
        return "flash_attention_2" if has_flash else None
    if config.attention == "flash_attention_2" and not has_flash:
        raise BadConfig("“attention” is flash_attention_2, which needs CUDA and the package flash-attn. Use auto or sdpa.")
    if config.attention == "flex_attention" and not cuda:
        raise BadConfig("“attention” is flex_attention, which needs CUDA. Use auto or sdpa.")
    return config.attention


def load_for_training(folder: Path, config: JobConfig, *, bf16: bool, cuda: bool) -> tuple[Any, Any]:
    """Model, and the configuration of the adapter to add, if any.

    A LoRA job that starts from a LoRA checkpoint continues that adapter: a second adapter on top would need a base that no
    engine has. With `bf16` the frozen base below an adapter is in bfloat16. Raises `BadConfig` where the job's rank or α
    differs from the adapter's.
    """
    frozen, attention = bf16 and config.lora is not None, attention_of(config, cuda=cuda)
    if config.lora is None or not is_adapter(folder):
        return load_model(folder, frozen_in_bf16=frozen, attention=attention), lora_of(config)
    known = _adapter_of(folder)
    if (known["r"], known["lora_alpha"]) != (config.lora.rank, config.lora.alpha):
        raise BadConfig(
            f"The base is an adapter of rank {known['r']} and α {known['lora_alpha']}, but this job has rank"
            f" {config.lora.rank} and α {config.lora.alpha}. Use the adapter's values, or train all weights."
        )
    base = load_model(_below(folder), frozen_in_bf16=frozen, attention=attention)
    with _reading(folder):
        return PeftModel.from_pretrained(base, folder, is_trainable=True), None


def dtype_of(folder: Path) -> str | None:
    """Data type for serving a model, such as `bfloat16`, from its config.json; None where it has none."""
    with _reading(folder):
        known = json.loads(((_below(folder) if is_adapter(folder) else folder) / "config.json").read_text(encoding="utf-8"))
    found: str | None = known.get("dtype") or known.get("torch_dtype")
    return found


def lora_of(config: JobConfig) -> Any:
    """Configuration of the adapter; None where all weights are trained."""
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
    """SHA-256 of vocabulary and segmentation, as recorded by the inference workers (`workers/engines/chat_prompt.py`)."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    text = backend.to_str() if backend is not None else json.dumps(tokenizer.get_vocab(), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def template_hash(tokenizer: Any) -> str | None:
    """SHA-256 of the chat template without variables, as recorded; None where the model has no template."""
    if not tokenizer.chat_template:
        return None
    text = json.dumps([tokenizer.chat_template, {}], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def architecture_of(folder: Path) -> dict[str, Any]:
    """Dimensions that two models must share to exchange weights."""
    if is_adapter(folder):
        return architecture_of(_below(folder))
    with _reading(folder):
        known = AutoConfig.from_pretrained(folder)
    names = ("model_type", "vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
    return {name: getattr(known, name, None) for name in names}


def check_architecture(manifest: dict[str, Any], folder: Path) -> None:
    """Raise `OtherArchitecture`, naming the first difference, where a checkpoint does not fit this base."""
    own = architecture_of(folder)
    for name, value in manifest.get("architecture", {}).items():
        if own.get(name) != value:
            raise OtherArchitecture(
                f"The checkpoint has {name} {value}, but the base model has {own.get(name)}. The job cannot continue from it."
            )
