"""The card of a version: its README.md, whose head the `datasets` library reads, with licences and the manifest's hash."""

import json
from collections.abc import Mapping
from typing import Any

NAME = "README.md"
_CARD = """---
pretty_name: {pretty}
license: other
license_name: {licence}
configs:
{configs}
dataset_info:
{infos}
---

# {name}

{title} ({source}): {rows:,} rows of {problems:,} problems, from {runs:,} runs.

| | |
|---|---|
| manifest.json, SHA-256 | `{digest}` |
| tokenizer, SHA-256 | `{tokenizer}` |
| policies | {policies} |
| rewards | {rewards} |
| options | `{options}` |
| made | {made} |

Problems of known benchmarks are left out. manifest.json names the runs, what was left out and the hashes of all files.

Licences, by the origins of the problems:

{listed}

```python
from datasets import load_dataset

load_dataset("{name}", "{first}", split="train")
load_dataset("json", data_files="{name}/texts.jsonl", split="train")  # conversations; prompts.jsonl: problems
```
"""


def card_of(manifest: Mapping[str, Any], digest: str) -> str:
    """README.md of a version. `digest`: SHA-256 of its manifest."""
    name, counts = f"{manifest['name']}-v{manifest['version']}", manifest["counts"]
    licences = counts.get("licences") or {}
    texts = {"texts": ("texts.jsonl", counts["rows"]), "prompts": ("prompts.jsonl", counts["problems"])}
    # `datasets` reads all parts of a folder in one format.
    parts = {"rows": ("rows/*.parquet", counts["rows"])} if manifest["has_tokens"] else texts
    listed = "\n".join(f"- {origin or 'not stated'}: {count:,} rows" for origin, count in licences.items())
    return _CARD.format(
        name=name,
        pretty=json.dumps(name),
        licence=json.dumps(", ".join(licences) or "not stated"),
        configs=_configs(parts),
        infos=_infos(parts),
        first=next(iter(parts)),
        listed=listed or "- not stated",
        runs=len(manifest["runs"]),
        digest=digest,
        policies=", ".join(manifest["policies"]) or "texts only",
        options=json.dumps(manifest["options"]),
        made=manifest["made"]["at"],
        **{key: manifest[key] for key in ("title", "source", "tokenizer", "rewards")},
        **{key: counts[key] for key in ("rows", "problems")},
    )


def _configs(parts: Mapping[str, tuple[str, int]]) -> str:
    files = [f"- config_name: {name}\n  data_files: {json.dumps(where)}" for name, (where, _) in parts.items()]
    return "\n".join([f"{files[0]}\n  default: true", *files[1:]])


def _infos(parts: Mapping[str, tuple[str, int]]) -> str:
    """Number of rows of each part, which `datasets` compares with what it reads. It needs the size, but does not compare it."""
    info = "- config_name: {}\n  splits:\n  - name: train\n    num_bytes: 0\n    num_examples: {}"
    return "\n".join(info.format(name, count) for name, (_, count) in parts.items())
