"""The model and the tokenizer of a job: read from a folder or made in memory, with an adapter where one is asked for."""

import hashlib
import json
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, PeftModel
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

from workers.training.config import JobConfig
from workers.training.problems import BadConfig, OtherArchitecture, OtherTokenizer
from workers.training.tiny import tiny_model, tiny_tokenizer

TINY = {"hidden", "layers", "heads"}


def base_folder(config: JobConfig, job: Path) -> Path:
    """Where the base model lies; a tiny one is made first, into the job's folder. Raises `BadConfig`."""
    if isinstance(config.base, str):
        folder = (job / config.base).resolve()
        if not (folder / "config.json").exists() and not (folder / "adapter_config.json").exists():
            raise BadConfig(f"“base” names {config.base}, where no model lies (there is no config.json).")
        return folder
    asked = config.base.get("tiny") if isinstance(config.base, dict) and set(config.base) == {"tiny"} else None
    if not isinstance(asked, dict) or set(asked) - TINY:
        raise BadConfig('“base” must be a folder, or {"tiny": {"hidden": …, "layers": …, "heads": …}}.')
    folder = job / "base"
    shared = torch.distributed.is_available() and torch.distributed.is_initialized()
    if not (folder / "model.safetensors").exists() and not (shared and torch.distributed.get_rank()):
        tiny_model(seed=config.seed, **asked).save_pretrained(folder)
        tiny_tokenizer().save_pretrained(folder)
    if shared:  # Of several processes only the first can save a model, and nobody may read half of one.
        torch.distributed.barrier()
    return folder


def load_tokenizer(folder: Path) -> Any:
    """With a sign for padding: its own, else that of the end."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def load_model(folder: Path, *, bf16: bool) -> Any:
    """A causal model. A LoRA checkpoint is its base with the adapter merged, so that it can be a base itself."""
    dtype = torch.bfloat16 if bf16 else torch.float32
    adapter = folder / "adapter_config.json"
    if not adapter.exists():
        return AutoModelForCausalLM.from_pretrained(folder, dtype=dtype)
    below = Path(json.loads(adapter.read_text(encoding="utf-8"))["base_model_name_or_path"])
    if not below.exists():
        raise BadConfig(f"The adapter in {folder.name} was made for {below}, which is not there.")
    return PeftModel.from_pretrained(load_model(below, bf16=bf16), folder).merge_and_unload()


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
    path = folder
    if (folder / "adapter_config.json").exists():
        path = Path(json.loads((folder / "adapter_config.json").read_text(encoding="utf-8"))["base_model_name_or_path"])
    known = AutoConfig.from_pretrained(path)
    names = ("model_type", "vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
    return {name: getattr(known, name, None) for name in names}


def check_tokenizer(config: JobConfig, tokenizer: Any) -> None:
    """Raises `OtherTokenizer` where the dataset was written with another tokenizer than the base's, naming both."""
    recorded, own = config.dataset.get("tokenizer"), tokenizer_hash(tokenizer)
    if recorded and recorded != own:
        raise OtherTokenizer(
            f"The rows were written with the tokenizer {recorded[:12]}…, the base model has {own[:12]}…;"
            " token ids would mean other text."
        )


def check_architecture(manifest: dict[str, Any], folder: Path) -> None:
    """Raises `OtherArchitecture` where a checkpoint cannot continue on this base, naming the first difference."""
    own = architecture_of(folder)
    for name, value in manifest.get("architecture", {}).items():
        if own.get(name) != value:
            raise OtherArchitecture(
                f"The checkpoint has {name} {value}, the base model {own.get(name)}; it cannot go on from it."
            )
