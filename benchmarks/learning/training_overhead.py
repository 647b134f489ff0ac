"""The cost of feeding rows: RowTrainer compared with plain TRL, for the same optimiser steps on the same tokens.

    .venv-train/bin/python -m benchmarks.learning.training_overhead

Plain TRL gets a prepared batch, so its time is only that of forward, backward and step. RowTrainer makes tensors from rows,
measures them and seeds the step. The figures are CPU seconds of the process with one thread, both kinds alternately. Rows are
short (16 + 48 tokens), so the tiny model has little to do. This favours plain TRL: with real models a step takes seconds.
"""

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

STEPS, ROWS, REPEATS = 20, 64, 3
TARGET = 0.05


def main() -> int:
    """Print one JSON object. Returns 0 if the target was met, else 1."""
    import torch

    torch.set_num_threads(1)
    seconds: dict[str, list[float]] = {"plain": [], "rows": []}
    for repeat in range(REPEATS):
        for kind in ("plain", "rows") if repeat % 2 else ("rows", "plain"):
            with tempfile.TemporaryDirectory() as folder:
                seconds[kind].append(_seconds(Path(folder), kind))
    plain, rows = (statistics.median(seconds[kind]) for kind in ("plain", "rows"))
    share = rows / plain - 1
    found = {"steps": STEPS, "rows": ROWS, "plain_s": plain, "rows_s": rows, "overhead": share, "target": TARGET}
    print(json.dumps({name: round(value, 4) for name, value in found.items()}))
    return int(share > TARGET)


def _seconds(folder: Path, kind: str) -> float:
    from transformers import PrinterCallback

    from workers.training.config import config_of
    from workers.training.row_trainer import RowTrainer, arguments
    from workers.training.rows.sources import StoredRows
    from workers.training.tiny import tiny_model, tiny_tokenizer

    given: dict[str, Any] = {"recipe": "turn_dapo", "base": {"tiny": {}}, "source": {"kind": "rows"}, "steps": STEPS + 2}
    config = config_of(given | {"rows_per_step": ROWS})
    trainer = (RowTrainer if kind == "rows" else _plain())(
        tiny_model(),
        StoredRows(_rows(), ROWS),
        config,
        arguments(config, folder, bf16=False, cpu=True),
        tiny_tokenizer(),
        seen=lambda *_: None,
    )
    trainer.remove_callback(PrinterCallback)
    trainer.args.max_steps = 2
    trainer.train()
    trainer.args.max_steps = STEPS
    begun = time.process_time()
    trainer.train()
    return time.process_time() - begun


def _plain() -> Any:
    from trl import GRPOTrainer

    from workers.training.row_trainer import RowTrainer

    class Plain(RowTrainer):
        """TRL with a prepared batch, its own micro-batches and padding, without RowTrainer's work around a step."""

        made: Any = None
        _prepare_inputs = GRPOTrainer._prepare_inputs
        _get_per_token_logps_and_entropies = GRPOTrainer._get_per_token_logps_and_entropies

        def _generate_and_score_completions(self, inputs: Any) -> Any:
            if self.made is None:
                self.made = super()._generate_and_score_completions(inputs)
            return dict(self.made)

    return Plain


def _rows() -> list[Any]:
    from apps.recipes.mathematics.rows import Row

    return [
        Row(
            prompt_ids=[4 + number % 10] * 16,
            completion_ids=[4 + (number + place) % 30 for place in range(48)],
            loss_mask=[1] * 48,
            group_id=str(number // 8),
            logprobs=[-3.0] * 48,
            reward=float(number % 2),
            advantage=1.0 if number % 2 else -1.0,
        )
        for number in range(256)
    ]


if __name__ == "__main__":
    sys.exit(main())
