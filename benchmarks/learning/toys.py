"""Results of the trainer's toys, for the table in docs/learning.md: `.venv-train/bin/python -m benchmarks.learning.toys`.

One thread, seed 0. Shares are means of the last ten steps; "before" is the first step. The thresholds are in
tests/training/test_learning.py.
"""

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

COLD: dict[str, Any] = {"learning_rate": 3e-3, "last_learning_rate": 3e-4, "warmup_steps": 5}
REINFORCED: dict[str, Any] = {"learning_rate": 1e-3, "last_learning_rate": 1e-3}
JUDGED: dict[str, Any] = {"learning_rate": 3e-4, "last_learning_rate": 3e-4}
ROLES = ("toy/solved", "toy/verifier1", "toy/found", "toy/spared", "toy/silent")
LAST = 10


def main() -> None:
    """Train all toys and print the results."""
    with tempfile.TemporaryDirectory(prefix="ls-toys-") as place:
        folder = Path(place)
        copy: dict[str, Any] = {"rows_per_step": 256, "learning_rate": 2e-3, "last_learning_rate": 2e-3, "loss": {"beta": 0.0}}
        print_progress(job(folder / "copy", "turn_grpo", {"toy": "copy"}, 60, **copy), "toy/solved")
        cold = job(folder / "ask-cold", "turn_sft", _shown("ask"), 120, rows_per_step=128, **COLD)
        asked: dict[str, Any] = {"rows_per_step": 256, "learning_rate": 3e-3, "last_learning_rate": 1e-3, "loss": {"beta": 0.0}}
        print_progress(job(folder / "ask", "turn_grpo", {"toy": "ask"}, 60, cold, **asked), "toy/solved", "toy/tool_rate")
        cold = job(folder / "lemmas-cold", "orealh_cold_start", _shown("lemmas"), 100, rows_per_step=96, **COLD)
        for credit in ("corrected", "printed"):
            source = {"toy": "lemmas", "recipe_options": {"credit": credit}}
            print_progress(
                job(folder / f"lemmas-{credit}", "orealh", source, 40, cold, rows_per_step=240, **REINFORCED), "toy/solved"
            )
        weighed = {**REINFORCED, "loss": {"token_rm": True}}
        print_progress(
            job(folder / "lemmas-token_rm", "orealh", {"toy": "lemmas"}, 40, cold, rows_per_step=240, **weighed), "toy/solved"
        )
        trio: dict[str, Any] = COLD | {"learning_rate": 1e-3, "last_learning_rate": 1e-4}
        cold = job(folder / "trio-cold", "turn_sft", _shown("trio"), 300, rows_per_step=128, **trio)
        for name, options in {"trio": {}, "trio-unplanted": {"planted": False}}.items():
            source = {"toy": "trio", "options": options}
            print_progress(job(folder / name, "marsrl", source, 100, cold, rows_per_step=360, **JUDGED), *ROLES)


def _shown(toy: str) -> dict[str, Any]:
    return {"toy": toy, "demonstrations": True}


def job(folder: Path, recipe: str, source: Mapping[str, Any], steps: int, base: Path | None = None, **settings: Any) -> Path:
    """Run a job on a toy, from the checkpoint of the job in `base` or from random weights. Returns its folder."""
    from workers.training.running import run_job

    folder.mkdir(parents=True)
    began = str(next((base / "checkpoints").glob("checkpoint-*"))) if base else {"tiny": {}}
    known = {"recipe": recipe, "base": began, "source": {"kind": "toy", **source}, "steps": steps, "save_every": steps}
    (folder / "config.json").write_text(json.dumps({**known, "threads": 1, "device": "cpu", **settings}))
    if status := run_job(folder):
        raise SystemExit(f"{folder.name} ended with {status}: {(folder / 'state.json').read_text()}")
    return folder


def print_progress(folder: Path, *names: str) -> None:
    """Print the first value and the mean of the last values of some metrics."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    for name in names:
        known = [line[name] for line in lines if name in line]  # A rate over no verdicts is missing.
        print(f"{folder.name:16} {name:14} {known[0]:.2f} → {fmean(known[-LAST:]):.2f}", flush=True)


if __name__ == "__main__":
    main()
