"""The card of a checkpoint: its README.md, in the layout of the Hugging Face Hub. Registering adds comparisons with the parent.

The card is not in the checkpoint's manifest, like a dataset's card: it describes the files and may be completed later.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq
from huggingface_hub import ModelCard, ModelCardData
from yaml import YAMLError

from apps.recipes.recipe import LOSS_USED, Training
from apps.recipes.registry import TRAININGS
from workers.training.folder import replace_file

NAME = "README.md"
#: Bytes read from the end of `metrics.jsonl` for the last held-out score.
TAIL = 262_144
#: Entries of `config.json` with a section of their own, or that name places on this machine.
_ELSEWHERE = ("format", "base", "parent", "dataset", "source", "device", "threads", "trackers", "keep", "save_every")
_LOAD = """```python
from transformers import AutoModelForCausalLM, AutoTokenizer

model = AutoModelForCausalLM.from_pretrained(".")  # this folder
tokenizer = AutoTokenizer.from_pretrained(".")
```"""
_LOAD_ADAPTER = """```python
from peft import AutoPeftModelForCausalLM
from transformers import AutoTokenizer

model = AutoPeftModelForCausalLM.from_pretrained(".")  # this folder; the base is read from where it was in training
tokenizer = AutoTokenizer.from_pretrained(".")
```

If the base is elsewhere, load it with `AutoModelForCausalLM.from_pretrained` and give it to
`PeftModel.from_pretrained(base, ".")`."""


def write(place: Path, job: Path, facts: Mapping[str, Any], rows: int, tokens: int) -> None:
    """Write the card of a checkpoint of a job. `facts`: those of its manifest; `rows` and `tokens`: trained so far."""
    step = int(place.name.rpartition("-")[2])
    training = TRAININGS[facts["recipe"]]
    front = ModelCardData(**_front(job, facts, training))
    parts = {
        "Training": _training(facts, training, step, rows, tokens),
        "Data": _data(job, facts),
        "Settings": _settings(facts["config"], LOSS_USED[training.objective]),
        "Measured in training": _measured(job, facts),
        "Limits": _limits(facts),
        "How to load it": _LOAD_ADAPTER if facts["adapter"] else _LOAD,
    }
    kind = "LoRA adapter" if facts["adapter"] else "full model"
    is_tiny = isinstance(facts["config"]["base"], Mapping)
    base = "a tiny model with random weights" if is_tiny else facts["parent"] or "an unnamed model"
    head = f"# {facts['recipe']}, step {step}\n\nA {kind}, trained from {base} with {training.title}."
    body = "\n\n".join([head, *(f"## {title}\n\n{text}" for title, text in parts.items())])
    replace_file(place / NAME, f"---\n{front.to_yaml()}\n---\n\n{body}\n")


def _front(job: Path, facts: Mapping[str, Any], training: Training) -> dict[str, Any]:
    base = Path(facts["base"])
    known = _card_of(base)
    is_ours = (base / "manifest.json").exists() or base == job / "base"
    named = known.base_model if known is not None and is_ours else facts["parent"]
    is_new = isinstance(facts["config"]["base"], Mapping)
    is_new = is_new or (is_ours and known is not None and not (known.base_model or known.license))
    dataset = facts["dataset"].get("name")
    other = None if is_new else "other"
    return {
        "base_model": None if is_new else named or None,
        "license": (known and known.license) or other,
        "license_name": (known and known.license_name)
        or (None if is_new or (known and known.license) else "as-the-base-model"),
        "library_name": "peft" if facts["adapter"] else "transformers",
        "pipeline_tag": "text-generation",
        "tags": ["lemmascope", training.name, training.objective],
        "datasets": [dataset] if dataset else None,
    }


def _card_of(base: Path) -> ModelCardData | None:
    """Head of the base's own card; None without one that can be read."""
    try:
        found = ModelCard.load(base / NAME, ignore_metadata_errors=True).data
    except (OSError, ValueError, TypeError, YAMLError):
        return None
    return found if isinstance(found, ModelCardData) else None


def _table(rows: Mapping[str, Any]) -> str:
    lines = (f"| {name} | {str(value).replace('|', '∣')} |" for name, value in rows.items() if value not in ("", None))
    return "\n".join(["| | |", "|---|---|", *lines])


def _training(facts: Mapping[str, Any], training: Training, step: int, rows: int, tokens: int) -> str:
    return _table(
        {
            "recipe": f"{training.title} (`{training.name}`), {training.source}",
            "steps": f"{step:,} of {facts['config']['steps']:,}",
            "rows trained": f"{rows:,}",
            "tokens trained": f"{tokens:,}",
            "seed": facts["seed"],
            "chat template, SHA-256": f"`{facts['chat_template']}`" if facts["chat_template"] else "none",
            "code, versions and hashes": "`manifest.json`",
        }
    )


def _data(job: Path, facts: Mapping[str, Any]) -> str:
    dataset, source = facts["dataset"], facts["config"]["source"]
    if source["kind"] == "toy":
        return f"The toy “{source['toy']}”: problems and rewards are made by a program, so there are no licences."
    listed = "\n".join(
        f"- {licence or 'not stated'}: {count:,} rows" for licence, count in sorted(licences(job / "rows").items())
    )
    known = {"name": dataset.get("name") or "the job's own runs", "manifest, SHA-256": dataset.get("hash") or "none: a stream"}
    return f"{_table(known)}\n\nLicences of the rows, by their column `licence`:\n\n{listed or '- not stated'}"


def licences(folder: Path) -> dict[str, int]:
    """Number of rows of each licence in the shards of a folder."""
    found: dict[str, int] = {}
    for path in sorted(folder.glob("*.parquet")):
        for licence, count in _licences_of(path):
            found[licence] = found.get(licence, 0) + count
    return found


@lru_cache(maxsize=4096)
def _licences_of(path: Path) -> tuple[tuple[str, int], ...]:
    table = pq.read_table(path, columns=["licence"])
    return tuple((one["values"] or "", one["counts"]) for one in pc.value_counts(table["licence"]).to_pylist())


def _settings(config: Mapping[str, Any], used: Collection[str]) -> str:
    """Settings in force. `used`: those of the loss that have an effect on the recipe."""
    found = {name: value for name, value in config.items() if name not in _ELSEWHERE}
    found["loss"] = {name: value for name, value in config["loss"].items() if name in used}
    return _table(dict(_flat(found)))


def _flat(values: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield f"`{before}{name}`", "not set" if value is None else value if isinstance(value, str) else json.dumps(value)


def _measured(job: Path, facts: Mapping[str, Any]) -> str:
    found = _held_out(job)
    if found is None:
        return "Nothing was held out."
    on = f"problems of the toy “{toy}”, share solved" if (toy := facts["config"]["source"].get("toy")) else (
        "problems of the dataset that were kept back, mean log-probability of a token"
    )  # fmt: skip
    interval = f", 95 % interval {found['held_out/low']:.3f} to {found['held_out/high']:.3f}" if "held_out/low" in found else ""
    return f"At step {found['step']:,}: {found['held_out/score']:.3f}{interval} ({on})."


def _held_out(job: Path) -> dict[str, Any] | None:
    """Last line of the metrics with a held-out score."""
    try:
        with (job / "metrics.jsonl").open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - TAIL))
            lines = file.read().split(b"\n")
    except OSError:
        return None
    for line in reversed(lines):
        if b"held_out/score" in line:
            try:
                found: dict[str, Any] = json.loads(line)
            except ValueError:
                continue
            return found
    return None


def _limits(facts: Mapping[str, Any]) -> str:
    first = "It was not compared with its parent when this card was written."
    if facts["config"]["source"]["kind"] == "toy":
        first = "It learned a toy. This says nothing about mathematics."
    return f"- {first}\n- It was never measured on anything that this card does not name."
