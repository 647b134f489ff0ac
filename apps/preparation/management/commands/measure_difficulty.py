"""`manage.py measure_difficulty PROBLEM …`: have a model attempt problems many times and report the mean points."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from apps.graders.planning.plans import PlanWrong
from apps.preparation.problem_commands import Asked, ProblemsCommand, model_named
from apps.preparation.quality import difficulty_of, difficulty_spec
from apps.problems.models import Problem
from apps.reasoning.domain.errors import AliasError
from apps.reasoning.graders.problems.difficulty import ATTEMPTS, WORKFLOWS


class Command(ProblemsCommand):
    """Start one run per problem, whose calls are the attempts. Runs can be paused and resumed, and have live pages."""

    help = "Have a model attempt each problem N times, grade every attempt, and report the mean points with an interval."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--alias", default="", help="the attempting model")
        parser.add_argument("--grader", default="", metavar="ALIAS", help="the grading model (the same)")
        parser.add_argument("--attempts", type=int, default=ATTEMPTS, help=f"number of attempts ({ATTEMPTS})")
        parser.add_argument("--workflow", default=WORKFLOWS[0], choices=WORKFLOWS, help="grader of the attempts")
        parser.add_argument(
            "--by",
            default="",
            metavar="SCAFFOLD:PRESET",
            help="method of an attempt, such as self_check:quick (a single call)",
        )
        parser.add_argument("--out", type=Path, help="JSONL file, one problem per line")

    def handle(self, *args: Any, **options: Any) -> None:
        problems = self.problems(options)
        try:
            runs = self.start_all(self._asked(problems, options), options)
        except (AliasError, PlanWrong) as error:
            raise CommandError(str(error)) from error
        if options["estimate"] or options["no_wait"]:
            return
        rows = [_row(problem) for problem in problems if any(run.problem_version.problem_id == problem.pk for run in runs)]
        if options["out"]:
            options["out"].write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
        for row in sorted(rows, key=lambda one: (one["mean"] is None, -(one["mean"] or 0))):
            within = "all the same" if row["low"] is None else f"{row['low']:.2f}, {row['high']:.2f}"
            mean = "unknown" if row["mean"] is None else f"{row['mean']:.2f} [{within}]"
            self.stdout.write(f"{row['problem']}: {mean} of {row['scale']:g}, {row['scored']} of {row['attempts']} scored")

    def _asked(self, problems: list[Problem], options: dict[str, Any]) -> list[Asked]:
        solver = model_named(options["alias"])
        players = {"solver": solver, "grader": model_named(options["grader"]) if options["grader"] else solver}
        asked = []
        for problem in problems:
            try:
                asked.append(
                    (problem, difficulty_spec(problem, players, options["attempts"], options["workflow"], options["by"]))
                )
            except PlanWrong as error:
                self.stderr.write(f"{problem.slug}: {error}")
        return asked


def _row(problem: Problem) -> dict[str, Any]:
    shown = difficulty_of(problem)
    found = shown.found
    return {
        "problem": problem.slug,
        "mean": found.mean if found else None,
        "low": found.low if found else None,
        "high": found.high if found else None,
        "scale": found.scale if found else 7,
        "attempts": found.attempts if found else 0,
        "scored": found.attempts - shown.unscored if found else 0,
        "unwritten": found.unwritten if found else 0,
        "points": list(found.points) if found else [],
        "run": str(shown.run.public_id) if shown.run else None,
    }
