"""Time of a step with packed rows, with micro-batches by length, and with TRL's padding, on lengths with a long tail.

    .venv-train/bin/python -m benchmarks.learning.packing [--repeats 12]

Lengths are lognormal with a cap, as the schedules' simulator draws MarsRL's answers, divided by 40 so that a CPU can compute
them. Ways alternate in one process with one thread. Prints one JSON object for each way: `useful` (the share of rows' tokens in
all that the model computes), `seconds` (median processor time of forward, backward and optimiser of a step), and `times` (the
median over pairs of padded ÷ this way, with the 10th and the 90th percentile).
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROWS, MICRO, MEAN, SPREAD, CAP, SHRINK = 64, 4, 10_000, 1.0, 65_536, 40
SHAPE = {"hidden": 128, "layers": 2, "heads": 4}
PACKS = (256, 512, 1024, 2048)


def main() -> int:
    """Print the figures."""
    import torch

    torch.set_num_threads(1)
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learning.packing")
    parser.add_argument("--repeats", type=int, default=12)
    repeats = parser.parse_args().repeats
    with tempfile.TemporaryDirectory() as folder:
        ways = {name: make(Path(folder) / name) for name, make in _ways().items()}
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        useful = {}
        for repeat in range(repeats + 1):
            for name, trainer in ways.items():
                took, useful[name] = _step(trainer)
                if repeat:  # The first steps load code.
                    seconds[name].append(took)
    for name, taken in seconds.items():
        times = sorted(padded / own for padded, own in zip(seconds["padded"], taken, strict=True))
        spread = [round(times[int(share * (len(times) - 1))], 2) for share in (0.5, 0.1, 0.9)]
        print(
            json.dumps(
                {"way": name, "useful": round(useful[name], 3), "seconds": round(statistics.median(taken), 3), "times": spread}
            )
        )
    return 0


def _step(trainer: Any) -> tuple[float, float]:
    """Processor seconds of one step, and its share of useful tokens."""
    began = time.process_time()
    for _ in range(trainer.args.steps_per_generation):
        inputs = trainer._prepare_inputs([])
        trainer._step += 1
        trainer.current_gradient_accumulation_steps = trainer.args.gradient_accumulation_steps
        trainer._compute_loss(trainer.model, inputs).backward()
    trainer.optimizer.step()
    trainer.optimizer.zero_grad()
    return time.process_time() - began, trainer.useful()


def _ways() -> dict[str, Callable[[Path], Any]]:
    from functools import partial

    found = {"padded": partial(_trainer, _padded), "by length": partial(_trainer, _by_length)}
    return found | {f"packs of {size}": partial(_trainer, partial(_packed, size)) for size in PACKS}


def _padded() -> Any:
    from trl import GRPOTrainer

    from workers.training.row_trainer import RowTrainer

    class Padded(RowTrainer):
        """TRL's micro-batches, each padded to the longest prompt and completion of the step."""

        _prepare_inputs = GRPOTrainer._prepare_inputs

        def _get_per_token_logps_and_entropies(
            self, model: Any, input_ids: Any, attention_mask: Any, *given: Any, **more: Any
        ) -> Any:
            self.tokens_needed += int(attention_mask.sum())
            self.tokens_computed += attention_mask.numel()
            return GRPOTrainer._get_per_token_logps_and_entropies(self, model, input_ids, attention_mask, *given, **more)

    return Padded


def _by_length() -> Any:
    from workers.training.row_trainer import RowTrainer

    class ByLength(RowTrainer):
        """Micro-batches by length, cut to the longest row of each."""

        packs_rows = property(lambda self: False, lambda self, value: None)

    return ByLength


def _packed(size: int) -> Any:
    from workers.training.row_trainer import RowTrainer
    from workers.training.rows.packing import per_token

    class Packed(RowTrainer):
        """Packs of at most `size` tokens."""

        def in_packs(self, model: Any, ids: Any, mask: Any, keep: int, scored: Any) -> Any:
            self.tokens_computed += int(mask.sum())
            return per_token(ids, mask, keep, size, scored)

    return Packed


def _trainer(kind: Callable[[], Any], folder: Path) -> Any:
    from workers.training.config import config_of
    from workers.training.row_trainer import arguments
    from workers.training.rows.sources import StoredRows
    from workers.training.tiny import tiny_model, tiny_tokenizer

    given: dict[str, Any] = {"recipe": "turn_dapo", "base": {"tiny": {}}, "source": {"kind": "rows"}, "steps": 1000}
    config = config_of(given | {"rows_per_step": ROWS, "micro_rows": MICRO})
    trainer = kind()(
        tiny_model(**SHAPE),
        StoredRows(_rows(), ROWS),
        config,
        arguments(config, folder, bf16=False, cpu=True),
        tiny_tokenizer(),
    )
    trainer.create_optimizer_and_scheduler(1000)
    return trainer


def _rows() -> list[Any]:
    import numpy as np

    from apps.recipes.mathematics.rows import Row

    drawn = np.minimum(np.random.default_rng(0).lognormal(np.log(MEAN) - SPREAD**2 / 2, SPREAD, ROWS), CAP) / SHRINK
    return [
        Row(
            prompt_ids=[4 + number % 10] * 8,
            completion_ids=[4 + (number + place) % 30 for place in range(max(1, int(length)))],
            loss_mask=[1] * max(1, int(length)),
            group_id=str(number // 8),
            logprobs=[-3.0] * max(1, int(length)),
            reward=float(number % 2),
            advantage=1.0 if number % 2 else -1.0,
        )
        for number, length in enumerate(drawn)
    ]


if __name__ == "__main__":
    sys.exit(main())
