"""Supervised learning from runs without recorded tokens: texts become rows with the base's tokenizer and template."""

import json
from pathlib import Path
from typing import Any

import pytest

from apps.recipes.mathematics.rows import check_row
from tests.training.factory import SMALL, end_of, job, lines
from workers.training.measuring.watching import StopAsked
from workers.training.models import tokenizer_hash
from workers.training.problems import BadConfig, BadRows
from workers.training.rows.tables import read_rows
from workers.training.tiny import tiny_model, tiny_tokenizer
from workers.training.tokenise import tokenise

TEMPLATE = "{% for message in messages %}{% if message.role == 'system' %}{{ raise_exception('no system') }}{% endif %}" + (
    "{{ message.content }}={% endfor %}"
)
KNOWN = {
    "group_id": "p@1", "reward": None, "role": "solver", "run_id": "r", "problem_id": "p@1", "trajectory_id": "t",
    "step_index": 0, "finish_reason": "stop", "split": "train", "licence": "CC0",
}  # fmt: skip
ASKED, ANSWER = {"role": "user", "content": "1+1"}, {"role": "assistant", "content": "2"}


def dataset(folder: Path, *messages: dict[str, str], **more: Any) -> Path:
    """Add one conversation to a dataset."""
    folder.mkdir(exist_ok=True)
    with (folder / "texts.jsonl").open("a") as file:
        file.write(json.dumps(KNOWN | {"messages": messages} | more) + "\n")
    return folder


def base(folder: Path, template: str | None = TEMPLATE) -> Path:
    tokenizer = tiny_tokenizer()
    tokenizer.chat_template = template
    tokenizer.save_pretrained(folder)
    tiny_model(seed=0, **SMALL).save_pretrained(folder)
    return folder


def texts_job(folder: Path, base_folder: Path, count: int = 12, **changes: Any) -> Path:
    """A job on texts; its folder has no rows yet."""
    changes = {"recipe": "turn_sft", "source": {"kind": "texts"}, "base": str(base_folder), **changes}
    job(folder, (), **changes)
    (folder / "rows" / "000.parquet").unlink()
    for number in range(count):
        dataset(folder, ASKED | {"content": f"{number}+0"}, ANSWER | {"content": str(number)})
    return folder


def test_prompts_use_the_template_and_answers_end_with_the_end_token(tmp_path: Path) -> None:
    given = dataset(tmp_path / "d", ASKED, ANSWER)
    dataset(given, ASKED, ANSWER, finish_reason="length")
    dataset(given, ASKED, ANSWER | {"content": " "})
    found = tokenise(given, base(tmp_path / "m"), tmp_path / "rows")
    tokenizer = tiny_tokenizer()
    assert (found["rows"], found["tokenizer"]) == (2, tokenizer_hash(tokenizer)), "an empty answer is skipped"
    row, cut = read_rows(tmp_path / "rows" / "00000.parquet")
    assert tokenizer.decode(row.prompt_ids) == "1+1="
    assert tokenizer.decode(row.completion_ids[:-1]) == "2"
    assert row.completion_ids[-1] == tokenizer.eos_token_id
    assert list(cut.completion_ids) == list(row.completion_ids[:-1]), "a cut-off answer has no end token"
    check_row(row, "the row")
    assert row.logprobs is None


@pytest.mark.parametrize(
    ("messages", "more", "template", "words"),
    [
        ([ASKED], {}, TEMPLATE, "line 1: not a conversation"),
        ([], {}, TEMPLATE, "line 1: not a line of a dataset’s texts"),
        ([ASKED, {"role": "assistant"}], {}, TEMPLATE, "line 1: not a line of a dataset’s texts"),
        ([ASKED, ANSWER | {"content": ""}], {}, TEMPLATE, "no answer to learn from"),
        ([ASKED, ANSWER], {}, None, "no chat template"),
        ([{"role": "system", "content": "be brief"}, ASKED, ANSWER], {}, TEMPLATE, "rejects the conversation .no system"),
    ],
)
def test_invalid_conversations_and_bases_without_a_template_are_rejected(
    tmp_path: Path, messages: list[dict[str, str]], more: dict[str, Any], template: str | None, words: str
) -> None:
    given = dataset(tmp_path / "d", *messages, **more)
    with pytest.raises((BadRows, BadConfig), match=words):
        tokenise(given, base(tmp_path / "m", template), tmp_path / "rows")
    assert not list((tmp_path / "rows").glob("*")), "no partial files"
    with pytest.raises(BadRows, match=r"no texts\.jsonl"):
        tokenise(tmp_path, base(tmp_path / "m"), tmp_path / "rows")


def test_a_job_tokenises_its_texts_and_trains_on_them(tmp_path: Path) -> None:
    folder = texts_job(tmp_path / "job", base(tmp_path / "m"))
    assert end_of(folder)["state"] == "finished"
    assert len(list(read_rows(folder / "rows" / "00000.parquet"))) == 12
    assert lines(folder / "samples.jsonl")[0]["prompt"].endswith("+0=")
    assert lines(folder / "metrics.jsonl")[-1]["loss"] > 0


def test_a_stop_while_tokenising_leaves_no_rows_and_the_resumed_job_tokenises_again(tmp_path: Path) -> None:
    class AfterFive(StopAsked):
        looks = 0

        @property
        def asked(self) -> bool:
            self.looks += 1
            return self.looks > 5

    folder = texts_job(tmp_path / "job", base(tmp_path / "m"))
    assert end_of(folder, stop=AfterFive())["state"] == "stopped"
    assert list((folder / "rows").iterdir()) == []
    (folder / "rows" / ".00000.parquet.partial").write_bytes(b"PAR1 of a process that was killed")
    found = end_of(folder, resume=True)
    assert (found["state"], found["attempt"], found["step"]) == ("finished", 2, 4)
    assert [path.name for path in (folder / "rows").iterdir()] == ["00000.parquet"]
    written = (folder / "rows" / "00000.parquet").stat().st_mtime_ns
    (folder / "texts.jsonl").unlink()
    assert end_of(folder, resume=True)["state"] == "finished"
    assert (folder / "rows" / "00000.parquet").stat().st_mtime_ns == written, "existing rows are kept"


@pytest.mark.parametrize(
    ("changes", "template", "reason"),
    [
        ({}, None, "bad_config"),
        ({"recipe": "turn_grpo"}, TEMPLATE, "bad_config"),
        ({"count": 0}, TEMPLATE, "bad_rows"),
    ],
)
def test_a_job_that_cannot_use_its_texts_fails_with_the_reason(
    tmp_path: Path, changes: dict[str, Any], template: str | None, reason: str
) -> None:
    found = end_of(texts_job(tmp_path / "job", base(tmp_path / "m", template), **changes))
    assert (found["state"], found["reason"]) == ("failed", reason)
    assert found["message"]


def test_a_text_of_another_split_is_a_leak(tmp_path: Path) -> None:
    folder = texts_job(tmp_path / "job", base(tmp_path / "m"))
    dataset(folder, ASKED, ANSWER, split="test")
    assert end_of(folder)["reason"] == "leak"
