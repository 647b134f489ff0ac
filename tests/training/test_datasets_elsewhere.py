"""Dataset versions load with the `datasets` library and with TRL's loader; their card names parts and numbers of rows."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import load_dataset
from datasets.utils.info_utils import NonMatchingSplitsSizesError
from trl import DatasetMixtureConfig, SFTConfig, SFTTrainer, get_dataset
from trl.data_utils import is_conversational
from trl.scripts.utils import DatasetConfig

from apps.datasets.versions.card import NAME, card_of
from apps.datasets.versions.layouts import verl_prompts
from tests.training.factory import SMALL, rows
from workers.training.rows.tables import write_rows
from workers.training.tiny import tiny_model, tiny_tokenizer

TEMPLATE = "{% for message in messages %}{% generation %}{{ message.content }}{% endgeneration %}{% endfor %}"


@pytest.fixture
def version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder as apps/datasets/versions/making.py leaves it."""
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    folder = tmp_path / "proofs-v1"
    (folder / "rows").mkdir(parents=True)
    write_rows(folder / "rows" / "00000.parquet", rows(6))
    turns = [{"role": "user", "content": "1?"}, {"role": "assistant", "content": "2"}]
    _lines(folder / "texts.jsonl", [{"messages": turns, "reward": None, "role": "solver"}] * 6)
    asked = {"prompt": turns[:1], "answer": "2", "problem_id": "p@1", "title": "One: two", "licence": "CC0"}
    _lines(folder / "prompts.jsonl", [asked])
    (folder / "manifest.json").write_text("{}")
    (folder / NAME).write_text(card_of(_manifest(), "a" * 64))
    return folder


def _manifest(**counts: int) -> dict[str, Any]:
    known = {"rows": 6, "problems": 1, "licences": {"IMO: Short list": 6}} | counts
    return {
        "name": "proofs", "version": 1, "title": "GRPO", "source": "QED-Nano §4.1", "counts": known, "has_tokens": True,
        "runs": [], "tokenizer": "b" * 64, "policies": ["big"], "rewards": "votes", "options": {"unread": "zero"},
        "made": {"at": "2026-11-28"},
    }  # fmt: skip


def _lines(path: Path, values: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(one) + "\n" for one in values))


def loaded(folder: Path, *name: str, **more: Any) -> Any:
    return load_dataset(str(folder), *name, split="train", **more)


def test_the_datasets_library_reads_every_part_of_a_version(version: Path) -> None:
    stored = pq.read_table(version / "rows" / "00000.parquet").to_pylist()
    found = loaded(version, "rows").to_list()
    assert [row["completion_ids"] for row in found] == [row["completion_ids"] for row in stored]
    assert [row["advantage"] for row in found] == [row["advantage"] for row in stored]
    texts = loaded(Path("json"), data_files=str(version / "texts.jsonl"))
    assert is_conversational(texts[0])
    assert texts.num_rows == 6
    (version / NAME).write_text(card_of(_manifest() | {"has_tokens": False}, "a" * 64))
    assert is_conversational(loaded(version, "texts")[0])
    assert loaded(version, "prompts")[0]["answer"] == "2"
    (version / NAME).write_text(card_of(_manifest(), "a" * 64))
    card = (version / NAME).read_text()
    assert "a" * 64 in card
    assert 'license_name: "IMO: Short list"' in card


def test_a_version_with_a_missing_file_is_noticed(version: Path) -> None:
    (version / NAME).write_text(card_of(_manifest(rows=7), "a" * 64))
    with pytest.raises(NonMatchingSplitsSizesError):
        loaded(version, "rows")


def test_trl_loads_and_trains_on_the_conversations(version: Path) -> None:
    mixture = DatasetMixtureConfig(
        datasets=[DatasetConfig(path="json", data_files=str(version / "texts.jsonl"), columns=["messages"])]
    )
    train = get_dataset(mixture)["train"]
    tokenizer = tiny_tokenizer()
    tokenizer.chat_template = TEMPLATE
    config = SFTConfig(str(version.parent / "out"), max_steps=1, report_to=[], use_cpu=True, bf16=False, save_strategy="no")
    made = SFTTrainer(tiny_model(seed=0, **SMALL), args=config, train_dataset=train, processing_class=tokenizer)
    assert made.train().training_loss > 0


def test_the_schema_of_rows_has_only_types_that_the_library_knows(version: Path) -> None:
    features = loaded(version, "rows").features
    schema = pq.read_schema(version / "rows" / "00000.parquet")
    assert set(features) == set(schema.names)
    assert features.arrow_schema.field("prompt_ids").type.value_type == pa.int32()


def test_verl_reads_the_layout_of_prompts(version: Path) -> None:
    verl = pytest.importorskip("verl.utils.dataset.rl_dataset", reason="verl is not installed here (docs/learning.md)")
    lines = (json.loads(line) for line in (version / "prompts.jsonl").read_text().splitlines())
    file = version.parent / "prompts.parquet"
    pq.write_table(verl_prompts("proofs", lines), file)
    tokenizer = tiny_tokenizer()
    tokenizer.chat_template = TEMPLATE
    settings = {"prompt_key": "prompt", "max_prompt_length": 64, "cache_dir": str(version.parent / "verl")}
    config = pytest.importorskip("omegaconf").OmegaConf.create(settings)
    read = verl.RLHFDataset(str(file), tokenizer, config)[0]
    assert read["reward_model"] == {"style": "rule", "ground_truth": "2"}
    assert read["raw_prompt"] == [{"role": "user", "content": "1?"}]
    assert (read["data_source"], read["index"]) == ("lemmascope/proofs", 0)
