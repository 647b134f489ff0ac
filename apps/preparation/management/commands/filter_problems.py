"""`manage.py filter_problems`: select problems for a training collection by flags, benchmarks and year."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from apps.graders.planning.plans import PlanWrong
from apps.preparation.problem_commands import Asked, ProblemsCommand, model_named
from apps.preparation.quality import Verdict, quality_spec, verdict_of
from apps.problems.models import Problem
from apps.reasoning.domain.errors import AliasError


class Command(ProblemsCommand):
    """Request missing flags, then report for every problem whether it would be kept."""

    help = (
        "Ask a model several times for flags on each problem with its first solution, compare the statements with benchmark "
        "sets (load_benchmark), and report which problems would be kept. --results starts no run and reports known results."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--alias", default="", help="the model to ask")
        parser.add_argument("--samples", type=int, default=5, help="number of samples (5); more than half must raise a flag")
        parser.add_argument("--year-from", type=int, metavar="YEAR", help="exclude problems of this year or later")
        parser.add_argument("--results", action="store_true", help="report known results only")
        parser.add_argument("--out", type=Path, help="JSONL file, one problem per line")

    def handle(self, *args: Any, **options: Any) -> None:
        problems = self.problems(options)
        try:
            if not options["results"]:
                self.start_all(self._asked(problems, options), options)
        except (AliasError, PlanWrong) as error:
            raise CommandError(str(error)) from error
        if options["estimate"] or (options["no_wait"] and not options["results"]):
            return
        rows = [_row(problem, verdict_of(problem), options["year_from"]) for problem in problems]
        if options["out"]:
            options["out"].write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
        for row in rows:
            word = {True: "kept", False: "excluded", None: "unknown"}[row["keep"]]
            self.stdout.write(f"{row['problem']}: {word}{': ' if row['reasons'] else ''}{', '.join(row['reasons'])}")
        kept, out = (sum(row["keep"] is word for row in rows) for word in (True, False))
        self.stdout.write(f"{kept} kept, {out} excluded, {len(rows) - kept - out} unknown.")

    def _asked(self, problems: list[Problem], options: dict[str, Any]) -> list[Asked]:
        alias, asked = model_named(options["alias"]), []
        for problem in problems:
            try:
                asked.append((problem, quality_spec(problem, alias, options["samples"])))
            except PlanWrong as error:
                self.stderr.write(f"{problem.slug}: {error}")
        return asked


def _row(problem: Problem, verdict: Verdict, year_from: int | None) -> dict[str, Any]:
    """The results for a problem. `keep` is null if the flags are unknown and there is no other reason to exclude it."""
    too_late = year_from is not None and problem.year is not None and problem.year >= year_from
    reasons = [*verdict.reasons, *([f"year {problem.year}"] if too_late else [])]
    found = verdict.difficulty.found
    return {
        "problem": problem.slug,
        "keep": False if reasons else verdict.keeps,
        "reasons": reasons,
        "flags": {one.name: {"yes": one.yes, "of": one.readable, "stands": one.is_raised} for one in verdict.quality.flags},
        "unknown": verdict.quality.unknown,
        "is_old": verdict.quality.is_old,
        "alike": [{"collection": one.collection, "name": one.name, "score": round(one.score, 3)} for one in verdict.matches],
        "difficulty": found.mean if found else None,
        "scale": found.scale if found else None,
    }
