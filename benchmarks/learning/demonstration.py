"""A model of a million parameters that learns to prove arithmetic, from random weights, through a scaffold.

    .venv-train/bin/python -m benchmarks.learning.demonstration --minutes 110

It starts with teacher's turns (`turn_sft`), then its Solver learns by reinforcement (`marsrl`) from runs of `grouped_agents`.
With `--roles 3` Verifiers and Correctors learn too. Before and after that, `solver_verifier_corrector` solves the same held-out
problems under the same limits. The folder of `--out` gets `demonstration-SEED.json` and the curves as `demonstration-SEED.svg`.
One thread; the reinforcement stops when the time is up.
"""

import argparse
import json
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from apps.reasoning.statistics.differences import difference
from apps.reasoning.statistics.intervals import Interval
from apps.reasoning.statistics.means import interval
from apps.reasoning.statistics.metrics import Measure, average
from apps.reasoning.statistics.scores import Scores
from benchmarks.learning.curves import Curve, Point, drawn
from benchmarks.learning.toys import job
from workers.training.toys.arithmetic import held_out_count

OUT = Path(__file__).parent / "demonstration"
SIZES = {"hidden": 168, "layers": 3, "heads": 4, "prompts": True}
#: Checks, failures and corrections of a run: those of the scaffold's preset “quick”.
SCAFFOLD, LIMITS = "solver_verifier_corrector", {"accept": 2, "give_up": 4, "corrections": 2}
#: Temperature of the scaffold's roles.
TEMPERATURE = 0.6
COLD: dict[str, Any] = {"rows_per_step": 48, "learning_rate": 3e-3, "last_learning_rate": 1e-3, "warmup_steps": 30}
REINFORCED: dict[str, Any] = {"rows_per_step": 320, "learning_rate": 1e-3, "last_learning_rate": 1e-3}
PLAIN: dict[str, Any] = {"packing": False, "trackers": [], "samples": 2}
CURVES = {"toy/solved": "handed in", "toy/single": "single answers", "toy/found": "errors found", "toy/spared": "right passed"}


def main() -> None:
    """Train, measure and write the results."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learning.demonstration", description=main.__doc__)
    parser.add_argument("--minutes", type=float, default=110, help="time for all of it")
    parser.add_argument("--cold-steps", type=int, default=700, help="steps of the supervised start")
    parser.add_argument("--cold", type=Path, help="folder of a finished supervised start, to use it again")
    parser.add_argument("--steps", type=int, default=150, help="most steps of the reinforcement")
    parser.add_argument("--roles", type=int, default=1, choices=(1, 2, 3), help="roles that learn by reinforcement")
    parser.add_argument("--problems", type=int, default=200, help="held-out problems")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=Path, help="folder in which to keep both jobs")
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    if not 1 <= given.problems <= held_out_count():
        parser.error(f"--problems: 1 to {held_out_count()}, because there are no more held-out problems.")
    with tempfile.TemporaryDirectory(prefix="ls-demonstration-") as place:
        found = demonstrated(given.jobs or Path(place), given)
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / f"demonstration-{given.seed}.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    (given.out / f"demonstration-{given.seed}.svg").write_text(picture(found), encoding="utf-8")
    print(*sentences(found), sep="\n")


def demonstrated(folder: Path, given: argparse.Namespace) -> dict[str, Any]:
    """Both jobs and both measurements."""
    began = time.monotonic()
    settings = {**PLAIN, "seed": given.seed}
    cold = given.cold or cold_start(folder / "cold", given.cold_steps, settings)
    before = measured(checkpoint(cold), given.problems)
    print(f"{_minutes(began):.0f} minutes: {before['solved']:.2f} solved before", flush=True)
    # The second measurement takes as long as the first, at most.
    left_s = given.minutes * 60 - (time.monotonic() - began) - before["seconds"] - 60
    reinforced = _reinforced(folder / "reinforced", given.steps, given.roles, cold, left_s, settings)
    after = measured(checkpoint(reinforced), given.problems)
    return {
        "seed": given.seed,
        "parameters": before.pop("parameters"),
        "minutes": round(_minutes(began), 1),
        "scaffold": SCAFFOLD,
        "limits": LIMITS,
        "roles_that_learn": given.roles,
        "temperature": TEMPERATURE,
        "problems": given.problems,
        "before": before,
        "after": {name: value for name, value in after.items() if name != "parameters"},
        "differences": {name: compared(after[f"{name}_each"], before[f"{name}_each"]) for name in ("solved", "single")},
        "scaffold_and_single": {
            when: compared(one["solved_each"], one["single_each"]) for when, one in (("before", before), ("after", after))
        },
        "cold": lines_of(cold, ("loss",)),
        "reinforced": lines_of(reinforced, tuple(CURVES)),
        "trained": {"cold": trained(cold), "reinforced": trained(reinforced)},
    }


def cold_start(folder: Path, steps: int, settings: dict[str, Any]) -> Path:
    """The first job."""
    source = {"toy": "arithmetic", "demonstrations": True}
    return job(folder, "turn_sft", source, steps, {"tiny": SIZES}, **COLD, **settings)


def _reinforced(folder: Path, steps: int, roles: int, cold: Path, left_s: float, settings: dict[str, Any]) -> Path:
    """The second job, which is asked to stop when the time is up."""
    from workers.training.measuring.watching import StopAsked

    stop = StopAsked()
    timer = threading.Timer(max(1.0, left_s), stop.ask)
    timer.daemon = True
    timer.start()
    source = {"toy": "arithmetic", "options": {"roles": roles}}
    done = job(folder, "marsrl", source, steps, cold, stop=stop, **REINFORCED, **settings)
    timer.cancel()
    return done


def measured(model: Path, problems: int) -> dict[str, Any]:
    """Runs of the scaffold on held-out problems, always the same, and their first answers alone."""
    import torch

    from workers.training.models import load_model, load_tokenizer
    from workers.training.policy import Policy
    from workers.training.toys import proving
    from workers.training.toys.arithmetic import is_right

    torch.set_num_threads(1)
    began, loaded = time.monotonic(), load_model(model)
    policy = Policy(loaded, load_tokenizer(model), seed=1, temperature=TEMPERATURE)
    given = proving.held_out_problems(problems)
    runs = proving.runs_of(policy, given, scaffold=SCAFFOLD, params=LIMITS, seed=1)
    solved = [is_right(run.steps, one) for one, run in zip(given, runs, strict=True)]
    single = [proving.is_first_right(run, one) for one, run in zip(given, runs, strict=True)]
    return {
        **proving.measured(given, runs),
        "solved_interval": share_interval(solved),
        "single_interval": share_interval(single),
        "accepted": float(np.mean([bool(run.accepted) for run in runs])),
        "calls": float(np.mean([len(run.calls) for run in runs])),
        "tokens": float(np.mean([sum(said.tokens for _, said in run.calls) for run in runs])),
        "solved_each": [int(one) for one in solved],
        "single_each": [int(one) for one in single],
        "parameters": sum(weights.numel() for weights in loaded.parameters()),
        "seconds": round(time.monotonic() - began, 1),
    }


def compared(left: Sequence[int], right: Sequence[int]) -> dict[str, Any]:
    """Left less right on the same problems, with a 95 % interval and a p-value."""
    found = difference(_measure(left), _measure(right))
    bounds = getattr(found, "interval", None)
    return {
        "value": round(float(np.mean(left) - np.mean(right)), 4),
        "interval": [round(bounds.low, 4), round(bounds.high, 4)] if isinstance(bounds, Interval) else None,
        "p_value": getattr(found, "p_value", None),
    }


def share_interval(right: Sequence[bool]) -> list[float] | None:
    """A 95 % interval of the share, over problems."""
    found = interval(_measure([int(one) for one in right]))
    return [round(found.low, 4), round(found.high, 4)] if isinstance(found, Interval) else None


def _measure(values: Sequence[int]) -> Measure:
    found = average(Scores.of([str(number) for number in range(len(values))], [[float(value)] for value in values]))
    assert isinstance(found, Measure)
    return found


def checkpoint(folder: Path) -> Path:
    """The last checkpoint of a job."""
    found = (folder / "checkpoints").glob("checkpoint-*")
    return max(found, key=lambda path: int(path.name.rpartition("-")[2]))


def lines_of(folder: Path, names: Sequence[str]) -> list[dict[str, float]]:
    """Step, seconds and some metrics of each logged step."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    return [{name: round(line[name], 4) for name in ("step", "time", *names) if name in line} for line in lines]


def trained(folder: Path) -> dict[str, float]:
    """Steps, tokens and minutes of a job."""
    last = json.loads((folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    return {"steps": last["step"], "tokens": last["tokens"], "minutes": round(last["time"] / 60, 1)}


def picture(found: dict[str, Any]) -> str:
    """The curves of the reinforcement as SVG, with the held-out solve rates before and after at its ends."""
    lines = found["reinforced"]
    values = {words: [(line["step"], line[name]) for line in lines if name in line] for name, words in CURVES.items()}
    curves = [Curve(words, points) for words, points in values.items() if points]
    last = lines[-1]["step"]
    points = [
        Point(step, found[when]["solved"], found[when]["solved_interval"], f"held out, {when}: {found[when]['solved']:.2f}")
        for step, when in ((0, "before"), (last, "after"))
    ]
    title = f"{found['parameters'] / 1e6:.1f} million parameters learn to prove arithmetic (seed {found['seed']})"
    return drawn(title, "steps of reinforcement", curves, points)


def sentences(found: dict[str, Any]) -> list[str]:
    """The results in words."""
    before, after = found["before"], found["after"]
    lines = [f"{found['parameters']:,} parameters, {found['minutes']} minutes, {found['problems']} held-out problems"]
    for name, words in (("solved", "through the scaffold"), ("single", "single call")):
        change = found["differences"][name]
        lines.append(
            f"{words}: {before[name]:.3f} {before[f'{name}_interval']} → {after[name]:.3f} {after[f'{name}_interval']},"
            f" difference {change['value']:.3f} {change['interval']}, p = {change['p_value']:.2g}"
        )
    lines += [f"scaffold less single call, {when}: {one}" for when, one in found["scaffold_and_single"].items()]
    lines.append(
        f"calls a run {before['calls']:.1f} → {after['calls']:.1f}, tokens {before['tokens']:.0f} → {after['tokens']:.0f}"
    )
    return lines


def _minutes(since: float) -> float:
    return (time.monotonic() - since) / 60


if __name__ == "__main__":
    main()
