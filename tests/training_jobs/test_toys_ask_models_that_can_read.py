"""A toy asks only models whose tokenizer has its signs, also checkpoints and registered models."""

import json
from pathlib import Path

import pytest
from pytest_django import Settings

from apps.accounts.models import User
from apps.learning.jobs.forms import JobForm
from apps.learning.jobs.readers import cannot_ask
from apps.learning.presets import PRESETS
from apps.learning.trained.forms import ToyForm
from tests.training_jobs.factory import a_model

pytestmark = pytest.mark.django_db
READER = {"tiny": {"prompts": True}}


def a_tokenizer(place: Path, added: int, kind: str = "WordLevel") -> Path:
    place.mkdir(parents=True)
    (place / "config.json").write_text("{}")
    content = {"model": {"type": kind, "vocab": {"a": 0}}, "added_tokens": [{"content": str(n)} for n in range(added)]}
    (place / "tokenizer.json").write_text(json.dumps(content))
    return place


def test_the_tokenizer_says_what_a_small_model_reads(tmp_path: Path) -> None:
    characters, prompts = a_tokenizer(tmp_path / "characters", 4), a_tokenizer(tmp_path / "prompts", 300)
    large = a_tokenizer(tmp_path / "large", 4, "BPE")
    assert "which this model cannot read" in cannot_ask("arithmetic", characters)
    assert "reads prompts of scaffolds only" in cannot_ask("copy", prompts)
    for toy, able in (("copy", characters), ("arithmetic", prompts), ("copy", large), ("arithmetic", large)):
        assert cannot_ask(toy, able) == ""
    assert cannot_ask("arithmetic", tmp_path / "nowhere") == "", "the trainer says what is missing"


def test_a_job_is_refused_if_its_base_cannot_read_the_toy(alice: User, training: Settings) -> None:
    training.TRAIN_BASES = str(training.DATA_DIR / "bases")
    a_tokenizer(Path(training.TRAIN_BASES) / "copier", 4)
    a_tokenizer(Path(training.TRAIN_BASES) / "prover", 300)
    for preset, base, wrong in (
        ("arithmetic-cold", "folder:copier", {"base"}),
        ("arithmetic-cold", "folder:prover", set()),
        ("copy", "folder:prover", {"base"}),
        ("copy", "folder:copier", set()),
    ):
        fields = {"keep": 2, "dtype": "auto", "device": "cpu"} | PRESETS[preset].fields | {"base": base}
        assert set(JobForm(fields, user=alice).errors) == wrong


def test_a_comparison_is_refused_if_the_model_or_its_parent_cannot_read_the_toy(training: Settings) -> None:
    copier, prover = a_model("copier"), a_model("prover", parent=READER)
    a_tokenizer(copier.folder, 4)
    a_tokenizer(prover.folder, 300)
    given = {"toy-items": 4, "toy-seed": 1}
    assert "this model cannot read" in str(ToyForm(given | {"toy-toy": "arithmetic"}, model=copier).errors["toy"])
    assert ToyForm(given | {"toy-toy": "arithmetic"}, model=prover).is_valid()
    copier.parent = READER
    assert "cannot ask this parent" in str(ToyForm(given | {"toy-toy": "copy"}, model=copier).errors["toy"])
