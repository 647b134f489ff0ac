"""Measure which claims of foreign proofs are tested: `python -m apps.mathcheck.survey [options] FILE[:FIELD] …`

A file is a text, or JSON Lines, a JSON list or CSV with one text in each row's FIELD. With `--context FIELD`, the conditions of
the problem in that field hold. Each paragraph counts as a step. The command prints the outcomes, every refutation, and the
reasons why other claims were not understood, most frequent first. `--examples N` shows N formulas of each reason.
"""

import argparse
import csv
import json
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from apps.mathcheck.checking import warm
from apps.mathcheck.findings import NOT_UNDERSTOOD, PROVED, REFUTED, STOPPED, SURVIVED, Finding
from apps.mathcheck.parts import check_parts
from apps.mathcheck.testing.alarm import PER_TEXT_S

_QUOTED = re.compile(r"`[^`]*`")
_PARAGRAPH = re.compile(r"\n\s*\n")
_MOST_PARTS = 200


class Row(NamedTuple):
    """A text to check, its source, and the problem that it solves."""

    name: str
    text: str
    context: str = ""


class Survey:
    """Outcomes of many texts."""

    def __init__(self) -> None:
        self.texts = 0
        self.outcomes: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.formulas: dict[str, list[str]] = defaultdict(list)
        self.refuted: list[tuple[str, Finding]] = []

    def add(self, row: Row, found: Sequence[Finding]) -> None:
        """Count the findings of one text."""
        self.texts += 1
        for finding in found:
            self.outcomes[finding.outcome] += 1
            if finding.outcome == REFUTED:
                self.refuted.append((row.name, finding))
            elif finding.outcome in (NOT_UNDERSTOOD, STOPPED):
                reason = _QUOTED.sub("…", finding.reason)
                self.reasons[reason] += 1
                self.formulas[reason].append(f"{finding.anchor.quote}   [{finding.reason}]")

    @property
    def tested(self) -> float:
        """The share of tested claims, 0 to 1."""
        return sum(self.outcomes[outcome] for outcome in (PROVED, SURVIVED, REFUTED)) / max(1, self.outcomes.total())

    def lines(self, examples: int) -> Iterator[str]:
        """The lines of the report."""
        yield f"texts {self.texts} · claims {self.outcomes.total()} · tested {self.tested:.3f}"
        held = f"proved {self.outcomes[PROVED]} · survived {self.outcomes[SURVIVED]}"
        yield f"{held} · refuted {self.outcomes[REFUTED]} · stopped {self.outcomes[STOPPED]}"
        for name, finding in self.refuted:
            yield f"refuted in {name}: {finding.anchor.quote} {finding.counterexample}"
        for reason, count in self.reasons.most_common():
            yield f"{count:6}  {reason}"
            for shown in random.Random(1).sample(self.formulas[reason], min(examples, count)):  # noqa: S311  (reproducible)
                yield f"            {' '.join(shown.split())[:150]}"


def survey(rows: Sequence[Row], seconds: float = PER_TEXT_S) -> Survey:
    """Check every row by paragraph, as a run checks the steps of a proof."""
    warm()
    found = Survey()
    for row in rows:
        paragraphs = [part for part in _PARAGRAPH.split(row.text) if part.strip()][:_MOST_PARTS]
        parts = [(f"step {number}", part) for number, part in enumerate(paragraphs, 1)]
        found.add(row, check_parts(parts, row.context, seconds))
    return found


def rows_of(source: str, context: str = "") -> list[Row]:
    """The rows of `FILE` or `FILE:FIELD`. Rows without a text are left out."""
    path, field = Path(source), ""
    if not path.exists():
        name, _, field = source.rpartition(":")
        path = Path(name)
    if not field:
        return [Row(path.name, path.read_text(encoding="utf-8"))]
    found = [
        Row(f"{path.name} {number}", str(row.get(field) or ""), str(row.get(context) or "") if context else "")
        for number, row in enumerate(_read(path), 1)
    ]
    return [row for row in found if row.text.strip()]


def _read(path: Path) -> Iterator[dict[str, object]]:
    with path.open(encoding="utf-8", newline="") as file:
        if path.suffix == ".csv":
            csv.field_size_limit(10_000_000)
            yield from csv.DictReader(file)
        elif path.suffix == ".jsonl":
            yield from (json.loads(line) for line in file if line.strip())
        else:
            yield from json.load(file)


def main(arguments: Sequence[str]) -> None:
    """Read, check, print."""
    parser = argparse.ArgumentParser(prog="python -m apps.mathcheck.survey", description=__doc__.split("\n")[0])
    parser.add_argument("sources", nargs="+", metavar="FILE[:FIELD]")
    parser.add_argument("--context", default="", metavar="FIELD", help="field with the problem")
    parser.add_argument(
        "--seconds", type=float, default=PER_TEXT_S, help="last guard on each text, in seconds of processor time"
    )
    parser.add_argument("--most", type=int, default=0, metavar="N", help="check N evenly spaced rows; 0 checks all")
    parser.add_argument("--examples", type=int, default=0, metavar="N", help="show N formulas of each reason")
    chosen = parser.parse_args(arguments)
    rows = [row for source in chosen.sources for row in rows_of(source, chosen.context)]
    if chosen.most:
        rows = rows[:: max(1, len(rows) // chosen.most)][: chosen.most]
    for line in survey(rows, chosen.seconds).lines(chosen.examples):
        sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
