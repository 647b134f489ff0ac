"""The table “Corrected by people”: means of other scorers without their bias, from the cells that people marked.

The mean is the prediction-powered one of `apps.reasoning.statistics.prediction_powered`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from apps.experiments.models import Experiment
from apps.experiments.solving.manifest import Manifest
from apps.experiments.solving.pages import Line, mean_lines
from apps.experiments.solving.tables import Row, rows_of
from apps.reasoning.statistics.intervals import Interval
from apps.reasoning.statistics.prediction_powered import Corrected, corrected_mean
from apps.reasoning.statistics.scores import Scores

NO_SCORES = "no cell has a score"


@dataclass(frozen=True)
class CorrectedLine:
    """A row of the table, all in words. `raw`, `corrected` and `people`: means in percent; `people` of the `marked` cells.

    `why`: why there is no corrected mean. `apart`: mean of score − mark over the cells with both, in percentage points.
    """

    name: str
    scorer: str
    raw: str
    raw_interval: str
    corrected: str
    corrected_interval: str
    why: str
    people: str
    marked: int
    apart: str


def corrected_lines(experiment: Experiment, manifest: Manifest, people: str) -> list[CorrectedLine]:
    """For each scorer that is not by people, the rows of its table with the marks of the scorer `people`."""
    problems, marks = rows_of(experiment, people)
    found = []
    for scorer in manifest.scorers:
        if scorer.kind != "people":
            _, rows = rows_of(experiment, scorer.name)
            lines = mean_lines(manifest, problems, rows)
            found += [_line(scorer.name, problems, line, marked) for line, marked in zip(lines, marks, strict=True)]
    return found


def _line(scorer: str, problems: Sequence[str], raw: Line, marks: Row) -> CorrectedLine:
    graded = raw.row.scores
    given = marks.scores[~np.isnan(marks.scores)]
    apart = (graded - marks.scores)[~np.isnan(graded) & ~np.isnan(marks.scores)]
    mean, interval, why = "", "", NO_SCORES
    if raw.row.scored:
        found = corrected_mean(Scores.of(problems, graded), Scores.of(problems, marks.scores))
        if isinstance(found, Corrected):
            mean, interval, why = f"{100 * found.value:.1f} %", interval_words(found.interval), ""
        else:
            why = found.reason
    return CorrectedLine(
        name=raw.name,
        scorer=scorer,
        raw=raw.mean,
        raw_interval=raw.interval,
        corrected=mean,
        corrected_interval=interval,
        why=why,
        people=f"{100 * given.mean():.1f} %" if given.size else "",
        marked=int(given.size),
        apart=f"{100 * apart.mean():+.1f}".replace("-", "−") if apart.size else "",
    )


def interval_words(interval: Interval) -> str:
    """An interval of a share in percent."""
    return f"{100 * interval.low:.1f} to {100 * interval.high:.1f}"
