"""Rows, jobs and trainers for tests; models are tiny and created in memory."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from transformers import PrinterCallback

from apps.recipes.mathematics.rows import Row
from workers.training.config import config_of
from workers.training.folder import JobFolder
from workers.training.policy import Policy
from workers.training.row_trainer import RowTrainer, arguments
from workers.training.rows.sources import StoredRows
from workers.training.rows.tables import write_rows
from workers.training.running import TRAINERS, run_job
from workers.training.tiny import tiny_model, tiny_tokenizer

SMALL = {"hidden": 32, "layers": 1, "heads": 2}


def row(prompt: str = "3=", completion: str = "3", **more: Any) -> Row:
    """A row from texts, with one token per character, all the policy's own, and advantage 1."""
    tokenizer = tiny_tokenizer()
    ids = tokenizer(completion)["input_ids"]
    given: dict[str, Any] = {
        "loss_mask": [1] * len(ids),
        "logprobs": [-1.0] * len(ids),
        "group_id": "g",
        "advantage": 1.0,
        "reward": 1.0,
    }
    return Row(prompt_ids=tokenizer(prompt)["input_ids"], completion_ids=ids, **(given | more))


def rows(count: int = 8) -> list[Row]:
    """Rows of several lengths and both signs, half of them with a masked tool's text."""
    found = []
    for number in range(count):
        text = "12:34="[: 2 + number % 5]
        mask = [int(not (number % 2 and place == 1)) for place in range(len(text))]
        scores = [-0.5 - 0.3 * place - 0.1 * number if kept else float("nan") for place, kept in enumerate(mask)]
        sign = 1.0 if number % 3 else -0.7
        found.append(
            row("4?" * (1 + number % 2), text, loss_mask=mask, logprobs=scores, advantage=sign, reward=float(sign > 0))
        )
    return found


def trainer(folder: Path, recipe: str = "turn_grpo", given: Sequence[Row] = (), **changes: Any) -> RowTrainer:
    """A trainer of stored rows on a small model in `folder`."""
    settings = {"recipe": recipe, "base": {"tiny": SMALL}, "source": {"kind": "rows"}, "steps": 2, "learning_rate": 1e-3}
    config = config_of(settings | changes)
    base = folder / "base"
    if not base.exists():
        tiny_model(seed=0, **SMALL).save_pretrained(base)
        tiny_tokenizer().save_pretrained(base)
    from workers.training.models import load_model, lora_of

    found = TRAINERS[config.training.objective](
        load_model(base),
        StoredRows(given or rows(config.rows_per_step), config.rows_per_step),
        config,
        arguments(config, folder / "out", bf16=False, cpu=True),
        tiny_tokenizer(),
        peft_config=lora_of(config),
    )
    found.remove_callback(PrinterCallback)
    return found


def job(folder: Path, given: Sequence[Row] | None = None, **changes: Any) -> Path:
    """Folder of a job with 16 rows and four steps of eight; `changes` override its config.json."""
    folder.mkdir(parents=True, exist_ok=True)
    config = {
        "format": 1,
        "recipe": "turn_grpo",
        "base": {"tiny": SMALL},
        "source": {"kind": "rows"},
        "steps": 4,
        "rows_per_step": 8,
        "learning_rate": 1e-3,
        "threads": 1,
        "device": "cpu",
    }
    (folder / "config.json").write_text(json.dumps(config | changes))
    write_rows(folder / "rows" / "000.parquet", rows(16) if given is None else given)
    return folder


def end_of(folder: Path, **how: Any) -> dict[str, Any]:
    """Run the job in this process and return its state file."""
    status = run_job(folder, **how)
    found = state(folder)
    assert status == {"finished": 0, "failed": 1, "stopped": 3}[found["state"]]
    return found


def state(folder: Path) -> dict[str, Any]:
    """State file of a job."""
    found: dict[str, Any] = json.loads((folder / "state.json").read_text())
    return found


def lines(path: Path) -> list[dict[str, Any]]:
    """Lines of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def a_policy(seed: int = 0) -> Policy:
    """An untrained policy."""
    return Policy(tiny_model(seed=seed, **SMALL), tiny_tokenizer(), version=3, seed=seed)


def a_folder(path: Path) -> JobFolder:
    """A job's folder, as the trainer writes it."""
    path.mkdir(parents=True, exist_ok=True)
    return JobFolder(path)
