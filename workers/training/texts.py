"""Rows from texts: conversations go through a base's tokenizer and chat template. No torch: whoever has a tokenizer can do it.

For supervised learning from runs whose tokens nobody recorded (docs/datasets.md). Prompts are built as the base would be asked;
a completion ends with its end sign unless it was cut off; there are no log-probabilities, and all of an answer is learned.
An answer without a word (a model that only thought) teaches nothing and is passed over.
"""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from workers.learning.rows import Row
from workers.training.folder import JobFolder
from workers.training.problems import BadConfig, BadRows
from workers.training.tables import write_rows

TEXTS, SHARD = "texts.jsonl", "00000.parquet"
_KEPT = (
    "group_id",
    "reward",
    "role",
    "run_id",
    "problem_id",
    "trajectory_id",
    "step_index",
    "finish_reason",
    "split",
    "licence",
)


class Interrupted(Exception):
    """Somebody asked to stop; nothing was written."""


def write_texts(texts: Path, rows: Path, tokenizer: Any, seen: Callable[[float], None] = lambda share: None) -> int:
    """Write `rows/00000.parquet` in one step, and say how many rows it has. `seen` hears the share that is done, line by line.

    Raises `BadConfig` where the base cannot be asked (no chat template, one that refuses, no end sign), `BadRows` for a file
    without texts or a line that holds no conversation, and whatever `seen` raises; then there is no shard.
    """
    if not texts.is_file():
        raise BadRows(f"There is no {texts.name} in {texts.parent}; it is no dataset of texts.")
    if not tokenizer.chat_template:
        raise BadConfig("The base’s tokenizer has no chat template, so nobody knows how it is asked. Take an instruct model.")
    if tokenizer.eos_token_id is None:
        raise BadConfig("The base’s tokenizer has no end sign, so it could not learn where an answer ends.")
    return write_rows(rows / SHARD, _rows(texts, tokenizer, seen))


def _rows(path: Path, tokenizer: Any, seen: Callable[[float], None]) -> Iterator[Row]:
    whole, done, found = path.stat().st_size, 0, 0
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            row = _row(line, f"{path.name}, line {number}", tokenizer)
            if row is not None:
                found += 1
                yield row
            done += len(line)
            seen(done / whole)
    if not found:
        raise BadRows(f"{path.name} holds no answer to learn from.")


def _row(line: bytes, where: str, tokenizer: Any) -> Row | None:
    try:
        given = json.loads(line)
        *asked, answer = given["messages"]
        kept = {name: given[name] for name in _KEPT}
        told, is_answer = answer["content"], answer["role"] == "assistant"
    except (ValueError, KeyError, TypeError) as error:
        raise BadRows(f"{where}: no line of a dataset’s texts ({type(error).__name__}: {error}).") from error
    if not asked or not is_answer:
        raise BadRows(f"{where}: no conversation that ends with an answer.")
    if not told.strip():
        return None
    try:
        prompt = tokenizer.apply_chat_template(asked, add_generation_prompt=True, tokenize=False)
    except Exception as error:  # A template is a program of its own; it refuses roles and orders that it does not know.
        raise BadConfig(f"{where}: the base’s chat template refuses the conversation ({error}).") from error
    is_whole = kept["finish_reason"] != "length"
    completion = tokenizer(told, add_special_tokens=False)["input_ids"] + [tokenizer.eos_token_id] * is_whole
    return Row(
        prompt_ids=tokenizer(prompt, add_special_tokens=False)["input_ids"],
        completion_ids=completion,
        loss_mask=[1] * len(completion),
        **kept,
    )


def tokenise_job(folder: JobFolder, tokenizer: Any, *, asked: Callable[[], bool], main: bool = True) -> bool:
    """Make the rows of a job whose source is `texts`, unless an earlier attempt has; False where it was asked to stop.

    Of several processes the main one does it and the others wait; where it fails, their launcher ends them. Raises as
    `write_texts`.
    """
    rows, told = folder.path / "rows", -1

    def seen(share: float) -> None:
        nonlocal told
        if asked():
            raise Interrupted
        if int(100 * share) > told:
            told = int(100 * share)
            folder.tell(state="tokenising", message=f"The texts are being tokenised: {told} %.")

    while not (rows / SHARD).exists():
        if asked():
            return False
        if not main:
            time.sleep(0.2)
            continue
        try:
            seen(0.0)
            write_texts(folder.path / TEXTS, rows, tokenizer, seen)
        except Interrupted:
            return False
        folder.tell(state="starting", message="")
    return True
