"""Rows from texts, with a base's tokenizer and chat template; without torch.

For supervised learning from runs without recorded tokens (docs/datasets.md). Prompts use the base's chat template. A completion
ends with the end token unless it was cut off. Rows have no log-probabilities and no masked tokens. Empty answers, of a model
that only reasoned, are skipped.
"""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from apps.recipes.mathematics.rows import Row
from workers.training.folder import JobFolder
from workers.training.problems import BadConfig, BadRows
from workers.training.rows.tables import write_rows

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


class StopRequested(Exception):
    """The job was asked to stop; no shard was written."""


def write_texts(texts: Path, rows: Path, tokenizer: Any, progress: Callable[[float], None] = lambda share: None) -> int:
    """Write `rows/00000.parquet` atomically; return its number of rows. Calls `progress` with the finished share per line.

    Raises `BadConfig` where the base cannot format the texts (no chat template, a template error, no end token), `BadRows` for
    a file without texts or an invalid line, and any exception of `progress`; then there is no shard.
    """
    if not texts.is_file():
        raise BadRows(f"There is no {texts.name} in {texts.parent}, so it is not a dataset of texts.")
    if not tokenizer.chat_template:
        raise BadConfig("The base’s tokenizer has no chat template to build prompts with. Choose an instruct model.")
    if tokenizer.eos_token_id is None:
        raise BadConfig("The base’s tokenizer has no end token, so the model could not learn where an answer ends.")
    return write_rows(rows / SHARD, _rows(texts, tokenizer, progress))


def _rows(path: Path, tokenizer: Any, progress: Callable[[float], None]) -> Iterator[Row]:
    whole, done, found = path.stat().st_size, 0, 0
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            row = _row(line, f"{path.name}, line {number}", tokenizer)
            if row is not None:
                found += 1
                yield row
            done += len(line)
            progress(done / whole)
    if not found:
        raise BadRows(f"{path.name} has no answer to learn from.")


def _row(line: bytes, where: str, tokenizer: Any) -> Row | None:
    try:
        given = json.loads(line)
        *messages, answer = given["messages"]
        kept = {name: given[name] for name in _KEPT}
        text, is_answer = answer["content"], answer["role"] == "assistant"
    except (ValueError, KeyError, TypeError) as error:
        raise BadRows(f"{where}: not a line of a dataset’s texts ({type(error).__name__}: {error}).") from error
    if not messages or not is_answer:
        raise BadRows(f"{where}: not a conversation that ends with an answer.")
    if not text.strip():
        return None
    try:
        prompt = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    except Exception as error:  # A template is a program and may reject unknown roles or orders with any exception.
        raise BadConfig(f"{where}: the base’s chat template rejects the conversation ({error}).") from error
    is_whole = kept["finish_reason"] != "length"
    completion = tokenizer(text, add_special_tokens=False)["input_ids"] + [tokenizer.eos_token_id] * is_whole
    return Row(
        prompt_ids=tokenizer(prompt, add_special_tokens=False)["input_ids"],
        completion_ids=completion,
        loss_mask=[1] * len(completion),
        **kept,
    )


def tokenise_job(folder: JobFolder, tokenizer: Any, *, asked: Callable[[], bool], main: bool = True) -> bool:
    """Make the rows of a job whose source is `texts`, unless an earlier attempt has; False after a request to stop.

    The main process does it while the others wait; after a failure their launcher ends them. Raises like `write_texts`.
    """
    rows, percent = folder.path / "rows", -1

    def progress(share: float) -> None:
        nonlocal percent
        if asked():
            raise StopRequested
        if int(100 * share) > percent:
            percent = int(100 * share)
            folder.write_state(state="tokenising", message=f"The texts are being tokenised: {percent} %.")

    while not (rows / SHARD).exists():
        if asked():
            return False
        if not main:
            time.sleep(0.2)
            continue
        try:
            progress(0.0)
            write_texts(folder.path / TEXTS, rows, tokenizer, progress)
        except StopRequested:
            return False
        folder.write_state(state="starting", message="")
    return True
