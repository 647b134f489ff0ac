"""Each complete checkpoint has a card that the Hub's library reads, and whose lines load the model."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import ModelCard

from tests.training.factory import SMALL, job, rows
from workers.training import checkpoints, model_card
from workers.training.config import config_of
from workers.training.running import run_job
from workers.training.tiny import tiny_model, tiny_tokenizer


@pytest.mark.parametrize("lora", [None, {"rank": 2, "alpha": 4}])
def test_the_lines_of_a_card_load_its_checkpoint(tmp_path: Path, lora: dict[str, int] | None) -> None:
    given = [replace(row, licence="CC-BY-4.0" if number % 4 else "") for number, row in enumerate(rows(16))]
    folder = job(tmp_path / "job", given, save_every=4, lora=lora, dataset={"name": "proofs-7", "hash": "ab" * 32})
    assert run_job(folder) == 0
    place = folder / "checkpoints" / "checkpoint-4"
    card = ModelCard.load(place / "README.md")
    assert card.data.library_name == ("peft" if lora else "transformers")
    assert (card.data.datasets, card.data.license) == (["proofs-7"], None), "random weights have no licence"
    for words in ("ab" * 32, "- CC-BY-4.0: 12 rows", "- not stated: 4 rows", "| `learning_rate` | ", "Nothing was held out."):
        assert words in card.text
    assert "README.md" not in checkpoints.read_manifest(place)["files"]
    assert checkpoints.broken_files(place) == []
    (lines,) = re.findall(r"```python\n(.*?)```", card.text, re.S)
    lines += "print(type(model).__name__, sum(p.numel() for p in model.parameters()), len(tokenizer))"
    done = subprocess.run(
        [sys.executable, "-c", lines],
        cwd=place,
        env=os.environ | {"HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    kind, _, words = done.stdout.split()
    assert (kind, int(words)) == ("PeftModelForCausalLM" if lora else "LlamaForCausalLM", len(tiny_tokenizer()))


def facts(base: Path, **config: Any) -> dict[str, Any]:
    given = {"recipe": "turn_grpo", "base": str(base), "source": {"kind": "toy", "toy": "copy"}, "steps": 4} | config
    known = config_of(given)
    return {
        "parent": "smollm",
        "base": str(base),
        "recipe": known.recipe,
        "dataset": known.dataset,
        "config": known.as_json(),
        "seed": 0,
        "chat_template": None,
        "adapter": False,
    }


def test_licence_and_base_come_from_the_bases_own_card(tmp_path: Path) -> None:
    base, place = tmp_path / "base-model", tmp_path / "job" / "checkpoints" / "checkpoint-4"
    place.mkdir(parents=True)
    tiny_model(seed=0, **SMALL).save_pretrained(base)
    (base / "README.md").write_text("---\nlicense: apache-2.0\nbase_model: org/first\n---\nText\n")
    model_card.write(place, tmp_path / "job", facts(base), 32, 64)
    found = ModelCard.load(place / "README.md").data
    assert (found.license, found.license_name, found.base_model) == ("apache-2.0", None, "smollm")
    (base / "manifest.json").write_text("{}")
    model_card.write(place, tmp_path / "job", facts(base), 32, 64)
    assert ModelCard.load(place / "README.md").data.base_model == "org/first", "of a checkpoint of ours: its own base"


def test_a_model_with_random_weights_has_no_base_and_no_licence_of_it(tmp_path: Path) -> None:
    place = tmp_path / "job" / "checkpoints" / "checkpoint-4"
    place.mkdir(parents=True)
    made = facts(tmp_path / "job" / "base") | {"parent": "tiny-prompts"}
    made["config"] = made["config"] | {"base": {"tiny": {"prompts": True}}}
    model_card.write(place, tmp_path / "job", made, 32, 64)
    found = ModelCard.load(place / "README.md").data
    assert (found.license, found.license_name, found.base_model) == (None, None, None)
    (place / "manifest.json").write_text("{}")
    further = tmp_path / "further" / "checkpoints" / "checkpoint-4"
    further.mkdir(parents=True)
    model_card.write(further, tmp_path / "further", facts(place), 32, 64)
    found = ModelCard.load(further / "README.md").data
    assert (found.license, found.license_name, found.base_model) == (None, None, None), "its first ancestor has random weights"


@pytest.mark.parametrize(
    ("recipe", "listed", "absent"),
    [
        ("turn_grpo", ("loss.beta", "loss.aggregation"), ("loss.positive", "loss.token_rm")),
        ("orealh", ("loss.beta", "loss.token_rm"), ("loss.low", "loss.aggregation")),
        ("turn_sft", ("learning_rate",), ("loss.",)),
    ],
)
def test_only_settings_with_an_effect_are_listed(
    tmp_path: Path, recipe: str, listed: tuple[str, ...], absent: tuple[str, ...]
) -> None:
    place = tmp_path / "job" / "checkpoints" / "checkpoint-4"
    place.mkdir(parents=True)
    model_card.write(place, tmp_path / "job", facts(tmp_path / "base", recipe=recipe), 32, 64)
    text = (place / "README.md").read_text()
    assert [name for name in listed if f"`{name}`" not in text] == []
    assert [name for name in absent if f"`{name}" in text] == []


@pytest.mark.parametrize("text", ["no head", "---\nlicense: [\n---\n", None])
def test_a_base_without_a_readable_card_has_an_unknown_licence(tmp_path: Path, text: str | None) -> None:
    base, place = tmp_path / "base-model", tmp_path / "job" / "checkpoints" / "checkpoint-4"
    base.mkdir()
    place.mkdir(parents=True)
    if text is not None:
        (base / "README.md").write_text(text)
    model_card.write(place, tmp_path / "job", facts(base), 32, 64)
    found = ModelCard.load(place / "README.md").data
    assert (found.license, found.license_name) == ("other", "as-the-base-model")


def test_the_last_held_out_score_is_named(tmp_path: Path) -> None:
    place = tmp_path / "checkpoints" / "checkpoint-4"
    place.mkdir(parents=True)
    lines = [
        '{"step": 2, "held_out/score": 0.1}',
        '{"step": 4, "held_out/score": 0.5, "held_out/low": 0.4, "held_out/high": 0.6}',
    ]
    (tmp_path / "metrics.jsonl").write_text("\n".join([*lines, '{"step": 5, "held_out/sc']))
    model_card.write(place, tmp_path, facts(tmp_path / "gone"), 32, 64)
    text = (place / "README.md").read_text()
    assert "At step 4: 0.500, 95 % interval 0.400 to 0.600 (problems of the toy “copy”, share solved)." in text
