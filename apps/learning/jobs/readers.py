"""Which toys can ask a model: a small model reads the characters of toys, or the prompts of scaffolds, but never both.

The tokenizer says what a small model reads. A model with another tokenizer reads everything.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from apps.learning.presets import OF_PROMPTS

#: Tokens that the tokenizer of single characters adds, at most: its special ones. That of prompts has hundreds.
MOST_ADDED = 16
CHARACTERS, PROMPTS = "characters", "prompts"


def cannot_ask(toy: str, model: "str | Path | Mapping[str, Any]") -> str:
    """Why a toy cannot ask a model; empty if it can. `model`: a folder, or the sizes of a tiny model."""
    reads = _reads(model)
    if toy in OF_PROMPTS and reads == CHARACTERS:
        return "This toy asks with prompts of scaffolds, which this model cannot read: it has single characters only."
    if toy not in OF_PROMPTS and reads == PROMPTS:
        return "This toy cannot ask this model, which reads prompts of scaffolds only."
    return ""


def _reads(model: "str | Path | Mapping[str, Any]") -> str:
    """What a small model reads; empty for all others, and where its tokenizer is unreadable."""
    if isinstance(model, Mapping):
        return PROMPTS if (model.get("tiny") or {}).get("prompts") else CHARACTERS
    try:
        found = json.loads((Path(model) / "tokenizer.json").read_text(encoding="utf-8"))
        kind, added = found["model"]["type"], len(found.get("added_tokens") or ())
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    if kind != "WordLevel":
        return ""
    return CHARACTERS if added <= MOST_ADDED else PROMPTS
