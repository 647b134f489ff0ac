"""`python -m benchmarks.whole_runs ALIAS`: run all scaffolds in quick presets on easy problems, with one model in all roles.

Needs the stack (`manage.py up`) with the same DATA_DIR and MODELS_FILE. Prints the outcomes of the runs as a Markdown table.
`--answers FILE` writes one JSON line for each run, with its proof, so that people can judge accepted proofs.
"""

import argparse
import json
import os
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import django

if TYPE_CHECKING:
    from apps.runs.models import Run

POLL_S = 2.0
ENDS = ("accepted", "refused", "not judged", "nothing readable", "failed")
HEAD = f"| scaffold | runs | {' | '.join(ENDS)} | calls |\n|---|{'--:|' * (len(ENDS) + 2)}"


def main() -> None:
    """Start the runs, wait for them, print their outcomes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("alias")
    parser.add_argument("--problems", type=int, default=12)
    parser.add_argument("--scaffold", action="append", default=[])
    parser.add_argument("--max-new-tokens", type=int, default=400)
    parser.add_argument("--answers", type=Path)
    given = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")
    django.setup()
    runs = _started(given.alias, given.problems, given.scaffold, given.max_new_tokens)
    _wait([run.pk for run in runs])
    rows = [_row(run) for run in runs]
    if given.answers:
        given.answers.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    print(table(rows))


def _started(alias: str, problems: int, scaffolds: list[str], limit: int) -> "list[Run]":
    """Start a run for every scaffold and problem, unless the scaffold cannot run on it."""
    from django.core.exceptions import ValidationError

    from apps.explorations.services import plan_start
    from apps.explorations.starting.plans import Plan
    from apps.reasoning.programs.registry import SCAFFOLDS
    from apps.trials.services import SEED, trial_problems

    runs = []
    for problem in trial_problems(problems):
        for name in scaffolds or SCAFFOLDS:
            preset = SCAFFOLDS[name].first_preset
            plan = Plan(name, preset, role_aliases={"": alias}, seed=SEED, max_new_tokens=limit)
            try:
                runs.append(plan_start(user=None, problem=problem, plan=plan))
            except ValidationError as error:
                print(f"{name} on {problem.slug}: {' '.join(error.messages)}")
    return runs


def _wait(keys: list[int]) -> None:
    from apps.runs.models import LIVE, Run

    last = -1
    while live := Run.objects.filter(pk__in=keys, status__in=LIVE).count():
        if live != last:
            print(f"{len(keys) - live} of {len(keys)} runs ended", flush=True)
        last = live
        time.sleep(POLL_S)


def _row(run: "Run") -> dict[str, Any]:
    from apps.lemmas.models import ProofVersion

    run.refresh_from_db()
    proof = ProofVersion.objects.filter(run=run, selected=True).order_by("-pk").first()
    return {
        "run": str(run.public_id),
        "problem": run.problem_version.problem.slug,
        "scaffold": run.scaffold,
        "status": str(run.status),
        "calls": run.calls,
        **(run.outcome or {"accepted": None, "reason": run.status_reason, "ended_by": "failed"}),
        "proof": proof.text if proof else "",
    }


def table(rows: list[dict[str, Any]]) -> str:
    """The outcomes of the runs of each scaffold, with totals in the last row."""
    lines = [HEAD]
    for name in (*dict.fromkeys(row["scaffold"] for row in rows), "all"):
        own = [row for row in rows if name in (row["scaffold"], "all")]
        ends = Counter(_end(row) for row in own)
        counts = " | ".join(str(ends[end]) for end in ENDS)
        lines.append(f"| {name} | {len(own)} | {counts} | {sum(row['calls'] for row in own)} |")
    return "\n".join(lines)


def _end(row: dict[str, Any]) -> str:
    if row["status"] != "finished":
        return "failed"
    if row["ended_by"] == "nothing-readable":
        return "nothing readable"
    return {True: "accepted", False: "refused", None: "not judged"}[row["accepted"]]


if __name__ == "__main__":
    main()
