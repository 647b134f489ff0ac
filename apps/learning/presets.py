"""Toys of the trainer and form values of jobs that are known to learn."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.recipes.recipe import Family
from apps.recipes.registry import TRAININGS


@dataclass(frozen=True)
class ToyCard:
    """Toy environment of the trainer, with the families of recipes (apps/recipes/recipe.py) that can learn from it.

    `single`: families that can also learn from it if its option `single` joins an attempt's turns.
    """

    name: str
    title: str
    about: str
    families: tuple[Family, ...] = ("proofs", "turns")
    single: tuple[Family, ...] = ()


TOYS = {
    card.name: card
    for card in (
        ToyCard("copy", "Copy a digit", "From random weights; one answer of one character."),
        ToyCard("ask", "Ask a tool", "A number that only a tool has; needs a cold start first."),
        ToyCard(
            "lemmas",
            "Lemmas in order",
            "Three lemmas within four rounds; needs a cold start first.",
            ("proofs", "turns", "rounds"),
        ),
        ToyCard(
            "trio",
            "Solver, Verifier, Corrector",
            "Five roles share a policy; needs a cold start first.",
            ("agents", "states"),
            single=("proofs", "turns"),
        ),
        ToyCard(
            "notes",
            "Moves with notes",
            "No attempt is long enough, so a note is kept between attempts; needs a cold start first.",
            ("states",),
        ),
        ToyCard(
            "arithmetic",
            "Prove arithmetic",
            "Runs of a real scaffold, graded by the formula check; needs its own model and a cold start.",
            ("agents",),
        ),
    )
}
#: Toys that ask with scaffolds' prompts, which only the tiny model for prompts can read.
OF_PROMPTS = ("arithmetic",)


@dataclass(frozen=True)
class Preset:
    """Form values of a job that is known to learn. `after` names the preset whose checkpoint it starts from."""

    name: str
    title: str
    about: str
    fields: dict[str, Any]
    after: str = ""


_COLD = {"demonstrations": True, "learning_rate": 3e-3, "last_learning_rate": 3e-4, "warmup_steps": 5, "beta": 0}
_LAPTOP = {"base": "tiny", "threads": 1, "device": "cpu", "seed": 0}
_THEN = {
    "settings": "held_out.every = 10",
    "threads": 1,
    "device": "cpu",
    "seed": 0,
    "learning_rate": 1e-3,
    "last_learning_rate": 1e-3,
    "save_every": 20,
}
PRESETS = {
    preset.name: preset
    for preset in (
        Preset(
            "copy",
            "Copy a digit",
            "A complete training in one minute: GRPO from random weights.",
            {**_LAPTOP, "recipe": "turn_grpo", "source": "toy:copy", "steps": 60, "rows_per_step": 256, "save_every": 20}
            | {"learning_rate": 2e-3, "last_learning_rate": 2e-3, "beta": 0, "settings": "held_out.every = 5"},
        ),
        Preset(
            "ask-cold",
            "Ask a tool: cold start",
            "Supervised training on a teacher’s turns; its checkpoint is the base for GRPO on the same toy.",
            {
                **_LAPTOP,
                **_COLD,
                "recipe": "turn_sft",
                "source": "toy:ask",
                "steps": 120,
                "rows_per_step": 128,
                "save_every": 40,
            },
        ),
        Preset(
            "lemmas-cold",
            "Lemmas: cold start",
            "Supervised training on rounds; its checkpoint is the base for OREAL-H.",
            {**_LAPTOP, **_COLD, "recipe": "orealh_cold_start", "source": "toy:lemmas", "steps": 100, "rows_per_step": 96}
            | {"save_every": 50},
        ),
        Preset(
            "trio-cold",
            "Solver, Verifier, Corrector: cold start",
            "Supervised training on turns of all roles; its checkpoint is the base for MarsRL.",
            {
                **_LAPTOP,
                **_COLD,
                "recipe": "turn_sft",
                "source": "toy:trio",
                "steps": 300,
                "rows_per_step": 128,
                "learning_rate": 1e-3,
                "last_learning_rate": 1e-4,
                "save_every": 50,
            },
        ),
        Preset(
            "notes-cold",
            "Moves with notes: cold start",
            "Supervised training on attempts; its checkpoint is the base for learning over a reasoning cache.",
            {**_LAPTOP, **_COLD, "recipe": "turn_sft", "source": "toy:notes", "steps": 200, "rows_per_step": 128}
            | {"save_every": 50},
        ),
        Preset(
            "arithmetic-cold",
            "Prove arithmetic: cold start",
            "Supervised training on short proofs and verdicts, for runs of a scaffold.",
            {**_LAPTOP, **_COLD, "base": "tiny-prompts", "recipe": "turn_sft", "source": "toy:arithmetic"}
            | {"steps": 700, "rows_per_step": 48, "last_learning_rate": 1e-3, "warmup_steps": 30, "save_every": 100},
        ),
        Preset(
            "ask-then",
            "Ask a tool",
            "GRPO after its cold start.",
            {**_THEN, "recipe": "turn_grpo", "source": "toy:ask", "steps": 60, "rows_per_step": 256, "learning_rate": 3e-3}
            | {"beta": 0},
            after="ask-cold",
        ),
        Preset(
            "lemmas-then",
            "Lemmas",
            "OREAL-H after its cold start.",
            {**_THEN, "recipe": "orealh", "source": "toy:lemmas", "steps": 40, "rows_per_step": 240},
            after="lemmas-cold",
        ),
        Preset(
            "trio-then",
            "Solver, Verifier, Corrector",
            "MarsRL after its cold start.",
            {**_THEN, "recipe": "marsrl", "source": "toy:trio", "steps": 100, "rows_per_step": 360}
            | {"learning_rate": 3e-4, "last_learning_rate": 3e-4},
            after="trio-cold",
        ),
        Preset(
            "notes-then",
            "Moves with notes",
            "GRPO over a reasoning cache after its cold start.",
            {**_THEN, "recipe": "rc_rl", "source": "toy:notes", "steps": 60, "rows_per_step": 256},
            after="notes-cold",
        ),
        Preset(
            "arithmetic-then",
            "Prove arithmetic",
            "MarsRL for the Solver of a scaffold, after its cold start.",
            {**_THEN, "recipe": "marsrl", "source": "toy:arithmetic", "steps": 150, "rows_per_step": 320}
            | {"learning_rate": 1e-3, "last_learning_rate": 1e-3, "settings": "held_out.every = 10\ntoy.roles = 1"},
            after="arithmetic-cold",
        ),
    )
}
FIRST = [preset for preset in PRESETS.values() if not preset.after]


def next_preset(recipe: str, toy: str) -> Preset | None:
    """Preset that continues a job of `recipe` on a toy; None where there is none."""
    for preset in PRESETS.values():
        before = PRESETS[preset.after].fields if preset.after else {}
        if (before.get("recipe"), before.get("source")) == (recipe, f"toy:{toy}"):
            return preset
    return None


def rows_per_step(config: Mapping[str, Any]) -> int:
    """Rows per step of a job's `config.json`, else the recipe's default."""
    return int(config.get("rows_per_step") or TRAININGS[config["recipe"]].rows_per_step)
