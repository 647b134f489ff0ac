"""Results of the trainer's toys, for the tables in docs/toys.md: `.venv-train/bin/python -m benchmarks.learning.toys`.

One thread, seed 0. Shares are means of the last ten steps; "before" is the first step. The thresholds are in
tests/training/test_learning.py.
"""

import argparse
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
#: Columns of the table of ablations: solved, and the Verifier's true positive and true negative rate.
ABLATED = ("solved", "found", "spared")
LAST = 10


def main() -> None:
    """Train the toys and print the results; with `--ablations` only those that show the special point of a recipe."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learning.toys", description=main.__doc__)
    parser.add_argument("--ablations", action="store_true")
    only_ablations = parser.parse_args().ablations
    with tempfile.TemporaryDirectory(prefix="ls-toys-") as place:
        if not only_ablations:
            _single_turns(Path(place))
        table = [*_lemmas(Path(place)), *_trio(Path(place)), *_notes(Path(place))]
    print("\n| toy | special point | variant | " + " | ".join(ABLATED) + " |\n|---|---|---|" + "---|" * len(ABLATED))
    print(*table, sep="\n")


def _single_turns(folder: Path) -> None:
    copy: dict[str, Any] = {"rows_per_step": 256, "learning_rate": 2e-3, "last_learning_rate": 2e-3, "loss": {"beta": 0.0}}
    print_progress(job(folder / "copy", "turn_grpo", {"toy": "copy"}, 60, **copy), "toy/solved")
    cold = job(folder / "ask-cold", "turn_sft", _shown("ask"), 120, rows_per_step=128, **COLD)
    asked: dict[str, Any] = {"rows_per_step": 256, "learning_rate": 3e-3, "last_learning_rate": 1e-3, "loss": {"beta": 0.0}}
    print_progress(job(folder / "ask", "turn_grpo", {"toy": "ask"}, 60, cold, **asked), "toy/solved", "toy/tool_rate")


def _lemmas(folder: Path) -> list[str]:
    """Credit by the graph of lemmas, as corrected and as printed, against the reward of the whole trajectory."""
    cold = job(folder / "lemmas-cold", "orealh_cold_start", _shown("lemmas"), 100, rows_per_step=96, **COLD)
    table = []
    for credit in ("corrected", "printed", "trajectory"):
        source = {"toy": "lemmas", "recipe_options": {"credit": credit}}
        done = job(folder / f"lemmas-{credit}", "orealh", source, 40, cold, rows_per_step=240, **REINFORCED)
        print_progress(done, "toy/solved")
        table.append(_row("`lemmas`", "credit by the graph of lemmas", f"`credit = {credit}`", done))
    weighed = {**REINFORCED, "loss": {"token_rm": True}}
    done = job(folder / "lemmas-token_rm", "orealh", {"toy": "lemmas"}, 40, cold, rows_per_step=240, **weighed)
    print_progress(done, "toy/solved")
    return [*table, _row("`lemmas`", "credit by the graph of lemmas", "`corrected`, with `token_rm`", done)]


def _trio(folder: Path) -> list[str]:
    """A reward and a group for each agent, with and without planted errors, against one reward for a whole trajectory."""
    trio: dict[str, Any] = COLD | {"learning_rate": 1e-3, "last_learning_rate": 1e-4}
    cold = job(folder / "trio-cold", "turn_sft", _shown("trio"), 300, rows_per_step=128, **trio)
    single: dict[str, Any] = {"loss": {"beta": 0.0}}
    variants: dict[str, tuple[str, dict[str, bool], dict[str, Any]]] = {
        "`marsrl`": ("marsrl", {}, {}),
        "`marsrl`, nothing planted": ("marsrl", {"planted": False}, {}),
        "`turn_grpo`, one reward": ("turn_grpo", {"single": True}, single),
    }
    table = []
    for number, (name, (recipe, options, more)) in enumerate(variants.items()):
        source = {"toy": "trio", "options": options}
        done = job(folder / f"trio-{number}", recipe, source, 100, cold, rows_per_step=360, **JUDGED, **more)
        print_progress(done, *ROLES)
        table.append(_row("`trio`", "a reward and a group for each agent", name, done))
    return table


def _notes(folder: Path) -> list[str]:
    """Fresh attempts at states of a reasoning cache, compared by state and by problem, against attempts at bare problems."""
    cold = job(folder / "notes-cold", "turn_sft", _shown("notes"), 120, rows_per_step=128, **COLD)
    variants: dict[str, dict[str, str]] = {
        "a group for each state": {},
        "a group for each problem": {"groups": "problem"},
        "bare problems only": {"states": "bare"},
    }
    table = []
    for number, (name, options) in enumerate(variants.items()):
        place = folder / f"notes-{number}"
        try:
            job(place, "rc_rl", {"toy": "notes", "options": options}, 60, cold, rows_per_step=256, **REINFORCED)
        except SystemExit as end:  # No attempt at a bare problem is right, so no group teaches.
            print(end)
            table.append(f"| `notes` | attempts at cached states | {name} | nothing to learn | – | – |")
            continue
        print_progress(place, "toy/solved", "toy/reward")
        table.append(_row("`notes`", "attempts at cached states", name, place))
    return table


def _row(toy: str, point: str, variant: str, folder: Path) -> str:
    """A row of the table of ablations."""
    known = {name: last_of(folder, f"toy/{name}") for name in ABLATED}
    return (
        f"| {toy} | {point} | {variant} | " + " | ".join("–" if one is None else f"{one:.2f}" for one in known.values()) + " |"
    )


def _shown(toy: str) -> dict[str, Any]:
    return {"toy": toy, "demonstrations": True}


def job(
    folder: Path,
    recipe: str,
    source: Mapping[str, Any],
    steps: int,
    base: Path | Mapping[str, Any] | None = None,
    stop: Any = None,
    **settings: Any,
) -> Path:
    """Run a job on a toy and return its folder.

    `base`: the folder of a job, whose checkpoint it starts from, or what `config.json` says; else the tiny model. A job that
    `stop` ends is as good as a finished one.
    """
    from workers.training.folder import EXIT
    from workers.training.running import run_job

    folder.mkdir(parents=True)
    began = str(next((base / "checkpoints").glob("checkpoint-*"))) if isinstance(base, Path) else base or {"tiny": {}}
    known = {"recipe": recipe, "base": began, "source": {"kind": "toy", **source}, "steps": steps, "save_every": steps}
    (folder / "config.json").write_text(json.dumps({**known, "threads": 1, "device": "cpu", **settings}))
    if (status := run_job(folder, stop=stop)) not in (0, EXIT["stopped"]):
        raise SystemExit(f"{folder.name} ended with {status}: {(folder / 'state.json').read_text()}")
    return folder


def print_progress(folder: Path, *names: str) -> None:
    """Print the first value and the mean of the last values of some metrics."""
    for name in names:
        print(f"{folder.name:16} {name:14} {_known(folder, name)[0]:.2f} → {last_of(folder, name):.2f}", flush=True)


def last_of(folder: Path, name: str) -> float | None:
    """Mean of a metric over the last lines that have it; None where all lack it."""
    known = _known(folder, name)
    return fmean(known[-LAST:]) if known else None


def _known(folder: Path, name: str) -> list[float]:
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [line[name] for line in lines if name in line]  # A rate over no verdicts is missing.


if __name__ == "__main__":
    main()
