"""The card of a registered model: that of its checkpoint, with its comparisons, the decision and what follows from them.

The trainer writes the checkpoint's card (workers/training/model_card.py). Its other sections stay as they are.
"""

import re
from pathlib import Path
from typing import Any

from apps.learning.jobs.folders import replace_text
from apps.learning.models import ComparisonState, ModelState, TrainedModel
from apps.learning.trained.paired import result_of

NAME = "README.md"
COMPARED, LIMITS, LOADING = "Compared with its parent", "Limits", "How to load it"
#: A card for a checkpoint without one, of an older trainer.
_BARE = """---
library_name: {library}
pipeline_tag: text-generation
tags:
- lemmascope
- {recipe}
---

# {name}

Step {step} of a job of the recipe {recipe}, trained from {parent}. `manifest.json` has its settings.

## How to load it

Load this folder with {loader}.
"""


def card_of(model: TrainedModel) -> str:
    """Text of a model's card; empty where it has none."""
    try:
        return (model.folder / NAME).read_text(encoding="utf-8")
    except OSError:
        return ""


def card_write(model: TrainedModel, folder: Path | None = None, source: Path | None = None) -> None:
    """Write a model's card into its folder, or into `folder` from the card of a checkpoint in `source`.

    Nothing is written where the model has no folder.
    """
    place = folder or model.folder
    if not place.is_dir():
        return
    try:
        text = ((source or place) / NAME).read_text(encoding="utf-8")
    except OSError:
        text = _bare(model)
    text = _with_section(text, COMPARED, _compared(model))
    replace_text(place / NAME, _with_section(text, LIMITS, _limits(model)))


def _bare(model: TrainedModel) -> str:
    library, loader = ("peft", "PEFT’s `AutoPeftModelForCausalLM`") if model.is_adapter else (
        "transformers", "`AutoModelForCausalLM` of transformers",
    )  # fmt: skip
    facts = {"recipe": model.job.recipe, "name": model.name, "step": model.step, "parent": model.parent_title}
    return _BARE.format(library=library, loader=loader, **facts)


def _with_section(text: str, title: str, body: str) -> str:
    """The card with a section replaced, or added before those about limits and loading."""
    found = re.search(rf"^## {re.escape(title)}\n.*?(?=^## |\Z)", text, re.M | re.S)
    section = f"## {title}\n\n{body}\n\n"
    if found:
        return text[: found.start()] + section + text[found.end() :]
    later = [match.start() for name in (LIMITS, LOADING) if (match := re.search(rf"^## {re.escape(name)}$", text, re.M))]
    place = min(later, default=len(text))
    return text[:place].rstrip("\n") + "\n\n" + section + text[place:]


def _results(model: TrainedModel) -> list[tuple[Any, Any]]:
    if not model.pk:  # It is being registered.
        return []
    done = model.comparisons.filter(state=ComparisonState.DONE).order_by("pk")
    return [(one, found) for one in done if (found := result_of(one)) is not None]


def _compared(model: TrainedModel) -> str:
    results = _results(model)
    if not results:
        return f"The model was not compared with its parent ({model.parent_title})."
    lines = ["| on | problems | parent | model | difference | 95 % interval |", "|---|---|---|---|---|---|"]
    for one, found in results:
        on = f"toy “{one.toy}”" if one.toy else f"problems of an experiment, {one.measure}"
        seen = len(one.plan.get("learned_from") or ())
        on += f", {seen} of them seen in training" if seen else ""
        interval = f"{found.low:.3f} to {found.high:.3f}" if found.low is not None and found.high is not None else "undefined"
        figures = (f"{number:.3f}" for number in (found.parent, found.child, found.difference))
        lines.append(f"| {on} | {found.problems} | {' | '.join(figures)} | {interval} |")
    words = "The difference is the model less its parent, over the same problems. The interval is over whole problems."
    verdicts = "\n".join(f"- {found.verdict}" for _, found in results)
    return "\n".join([*lines, "", f"{words}", "", verdicts, *_decision(model)])


def _decision(model: TrainedModel) -> list[str]:
    last = model.decisions.first() if model.pk else None
    if last is None:
        return ["", "It has no decision yet."]
    return ["", f"It was {ModelState(last.state).label} on {last.decided_at:%Y-%m-%d}: {' '.join(last.reason.split())}"]


def _limits(model: TrainedModel) -> str:
    results = _results(model)
    lines = []
    if model.job.toy:
        lines.append("It learned a toy. This says nothing about mathematics.")
    elif not any(not one.toy for one, _ in results):
        lines.append("It was never measured on problems: nothing is known about its proofs.")
    if any(one.plan.get("learned_from") for one, _ in results):
        lines.append("Some problems of a comparison were seen in training. They measure memory.")
    lines.append("It was never measured on anything that this card does not name, nor for safety or bias.")
    return "\n".join(f"- {line}" for line in lines)
