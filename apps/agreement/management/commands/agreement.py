"""`manage.py agreement FILE --human COLUMN --predicted COLUMN`: agreement of graders with a person, for any table."""

import json
import sys
from argparse import ArgumentParser
from io import StringIO
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console

from apps.agreement.comparisons import Asked, Part, gathered_of, parts_of
from apps.agreement.sources.columns import SPLIT_BY_AUTHOR, Columns, factor_of, labels_of, scale_of
from apps.agreement.text import shown
from apps.files.mark_files import rows_read
from apps.files.tables import FileWrong
from apps.graders.planning.shown import views_json, views_summary
from apps.reasoning.agreement.report import DRAWS

HALVES = {"fitting": None, "whole": False, "half": True}
DRAWS_AT_MOST = 100_000


class Command(BaseCommand):
    """Print the agreement of one or more graders with a person's marks."""

    help = "Agreement of graders with a person's marks, from a CSV, JSONL or JSON file. Manual: docs/agreement.md."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", help='the file, or "-" for standard input')
        parser.add_argument("--human", required=True, metavar="COLUMN", help="the person's points")
        parser.add_argument(
            "--predicted",
            required=True,
            action="append",
            metavar="COLUMN",
            help="a grader's points; may be repeated",
        )
        parser.add_argument(
            "--each-on-its-own", action="store_true",
            help="compare each grader on all papers that it scored, instead of the papers that all scored",
        )  # fmt: skip
        parser.add_argument("--baseline", default="", metavar="COLUMN", help="the grader to compare others with (the first)")
        parser.add_argument("--runs", action="store_true", help="the predicted columns are repeated runs of one grader")
        parser.add_argument("--second", default="", metavar="COLUMN", help="a second person's points, as baseline")
        parser.add_argument("--problem", default="", metavar="COLUMN", help="the problem, unit of resampling for intervals")
        parser.add_argument("--paper", default="", metavar="COLUMN", help="the paper's name; duplicates are refused")
        parser.add_argument("--author", default="", metavar="COLUMN", help="student or model; each gets separate tables")
        parser.add_argument("--split", default=[], action="append", metavar="COLUMN", help="topic, level, marker …")
        parser.add_argument("--contaminated", default="", metavar="COLUMN", help="yes, or why the mark was not independent")
        parser.add_argument(
            "--rows", default="", metavar="PATH", help="path of the rows in a JSON file: variants.*.predictions"
        )
        parser.add_argument("--labels", default="", metavar="WORD=POINTS,…", help="points of words")
        parser.add_argument("--times", type=float, default=1.0, help="factor for predictions, such as 7 for a range of 0 to 1")
        parser.add_argument("--scale", default="0:7", metavar="LOWEST:HIGHEST", help="the scale of points (0:7)")
        parser.add_argument(
            "--points", default="fitting", choices=HALVES, help="categories; fitting: half points if a mark has one"
        )
        parser.add_argument("--draws", type=int, default=DRAWS, help=f"bootstrap draws ({DRAWS:,}); 0: no intervals")
        parser.add_argument("--seed", type=int, default=0, help="seed of the draws (0)")
        parser.add_argument("--json", action="store_true", help="all results as JSON, with the papers behind each number")

    def handle(self, *args: Any, **options: Any) -> None:
        if not 0 <= options["draws"] <= DRAWS_AT_MOST or options["seed"] < 0:
            raise CommandError(f"--draws must be from 0 to {DRAWS_AT_MOST:,}, and --seed not negative.")
        asked = Asked(
            predicted=tuple(options["predicted"]), runs=options["runs"], second=options["second"],
            halves=HALVES[options["points"]], draws=options["draws"], seed=options["seed"],
        )  # fmt: skip
        try:
            gathered = gathered_of(rows_read(_bytes(options["file"]), options["rows"]), _columns(options), asked)
            if not options["each_on_its_own"]:
                if options["baseline"] and options["baseline"] not in gathered.graders:
                    raise FileWrong(f"--baseline must be one of the graders: {', '.join(gathered.graders)}.")
                gathered = gathered.on_common(options["baseline"])
            parts = parts_of(gathered, draws=asked.draws, seed=asked.seed)
        except (FileWrong, ValueError) as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            found = {"seed": asked.seed, "draws": asked.draws, "views": views_json(gathered.views)}
            found["parts"] = [part.model_dump(mode="json") for part in parts]
            self.stdout.write(json.dumps(found, ensure_ascii=False, indent=2))
        else:
            for line in views_summary(gathered.views, {}).lines:
                self.stdout.write(line)
            self.stdout.write(_text(parts, asked, self.stdout.isatty()), ending="")


def _bytes(name: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise CommandError(f"Could not read {name}: {error.strerror}.") from error


def _columns(options: dict[str, Any]) -> Columns:
    names = ("human", "problem", "paper", "author", "contaminated")
    if options["author"] and options["author"] in options["split"]:
        raise ValueError(SPLIT_BY_AUTHOR.format(options["author"]))
    return Columns(
        **{name: options[name] for name in names},
        scale=scale_of(options["scale"]),
        groups=tuple(options["split"]),
        labels=labels_of(options["labels"]),
        times=factor_of(options["times"]),
    )


def _text(parts: tuple[Part, ...], asked: Asked, on_screen: bool) -> str:
    written = StringIO()
    console = Console(file=written, force_terminal=on_screen, width=None if on_screen else 140)
    for part in parts:
        for shown_one in shown(part, asked):
            console.print(shown_one)
    return written.getvalue()
