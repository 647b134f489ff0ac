"""A rehearsal as lines for the terminal: skills, the predicted table, and what the experiment could show."""

import time
from collections.abc import Iterator
from decimal import Decimal
from math import ceil

from apps.experiments.models import Experiment
from apps.experiments.solving.manifest import Manifest
from apps.experiments.solving.pages import mean_lines
from apps.experiments.solving.rehearsal.background import skills_from
from apps.experiments.solving.rehearsal.differences import base_of, detectable_of, detectable_words
from apps.experiments.solving.rehearsal.predicting import Prediction, not_predicted, predicted, scorers_predicted, unit_of
from apps.experiments.solving.services import items_chosen
from apps.reasoning.marking.schemes.scheme import points_words

_COLUMNS = "{:<36} {:>8} {:>16} {:>9} {:>11} {:>7} {:>10} {:>9}"
_HEAD = _COLUMNS.format("row", "score", "95 % interval", "calls", "tokens", "cost", "detectable", "problems")


def rehearsed_lines(manifest: Manifest, stated: str, like: Experiment | None, processes: int) -> Iterator[str]:
    """Rehearse and report. Skills: `stated` in TOML, then runs of `like`, then trials.

    Raises `ExperimentRefused` and `SkillsWrong`.
    """
    items = items_chosen(manifest)
    skills = skills_from("runs" if like else "trials", like, manifest, None, stated)
    began = time.monotonic()
    prediction = predicted(manifest, items, skills, processes=processes)
    took = time.monotonic() - began
    yield from skills.notes
    cells = sum(row.cells.total() for row in prediction.rows_by(""))
    yield f"\n{manifest.title}: {cells:,} cells on {len(prediction.problems):,} problems, rehearsed in {took:.1f} s"
    for name, kind in scorers_predicted(manifest).items():
        yield f"\nMean score by {name}"
        yield from _table(manifest, prediction, kind)
    if not scorers_predicted(manifest):
        yield "\nShare of right solutions, which no scorer of this experiment gives"
        yield from _table(manifest, prediction, "")
    for row in prediction.rows:
        for reason, count in row.troubles.items():
            yield f"{row.method}: {count:,} cells cannot run. {reason}"
    yield (
        f"cost: {unit_of(manifest)} against the first row of the baseline; detectable: smallest difference from it that is "
        "shown in 80 % of such experiments; problems: as many show the predicted difference."
    )
    if words := not_predicted(manifest):
        yield words


def _table(manifest: Manifest, prediction: Prediction, kind: str) -> Iterator[str]:
    """The predicted table by a kind of scorer, or of right solutions."""
    yield _HEAD
    rows, unit = prediction.rows_by(kind), unit_of(manifest)
    whole = prediction.rows[base_of(manifest, rows)].cost(unit)
    lines = mean_lines(manifest, prediction.problems, rows)
    detectable = detectable_of(manifest, prediction.problems, rows)
    for one, line, found in zip(prediction.rows, lines, detectable, strict=True):
        cost = f"× {one.cost(unit) / whole:.2f}" if whole and line.row.calls else "–"
        least = points_words(Decimal(ceil(100 * found.least))) if found and found.least is not None else "–"
        needed = f"{found.problems:,}" if found and found.problems else "–"
        spent = (f"{line.row.calls:,.1f}", f"{line.row.tokens:,.0f}") if line.row.calls else ("–", "–")
        numbers = (*spent, cost, least, needed)
        yield _COLUMNS.format(line.name, line.mean or "–", line.interval or "–", *numbers)
    yield detectable_words(manifest, prediction.problems, rows)
