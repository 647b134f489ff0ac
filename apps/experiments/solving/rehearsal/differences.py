"""What a rehearsal says about differences: which ones the experiment could show, and how many problems it would need."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from apps.experiments.solving.manifest import Manifest
from apps.experiments.solving.tables import Row
from apps.reasoning.statistics.differences import Difference, difference
from apps.reasoning.statistics.intervals import Undefined
from apps.reasoning.statistics.metrics import Measure, average
from apps.reasoning.statistics.power import components, few, problems_needed
from apps.reasoning.statistics.scores import Scores


@dataclass(frozen=True)
class Detectable:
    """Of a row against the base: the smallest difference that is shown in 80 % of experiments, from 0 to 1, and the problems
    needed to show the predicted one; None where they are unknown."""

    least: float | None
    problems: int | None


def base_of(manifest: Manifest, rows: Sequence[Row]) -> int:
    """Place of the row with which the others are compared: the first of the baseline, else the first."""
    return next((number for number, row in enumerate(rows) if row.method == manifest.baseline), 0)


def detectable_of(manifest: Manifest, problems: Sequence[str], rows: Sequence[Row]) -> list[Detectable | None]:
    """For each predicted row; None for the base itself."""
    base, tables = base_of(manifest, rows), [Scores.of(problems, row.scores) for row in rows]
    others = len(rows) - 1
    return [None if at == base else _detectable(one, tables[base], others) for at, one in enumerate(tables)]


def _detectable(left: Scores, right: Scores, comparisons: int) -> Detectable:
    measures = [_measure(left), _measure(right)]
    if not all(measures):
        return Detectable(None, None)
    found = difference(*[one for one in measures if one], comparisons=comparisons)
    if not isinstance(found, Difference):
        return Detectable(None, None)
    spread = components(left, right)
    needed = None
    if not isinstance(spread, Undefined) and found.value:
        count = problems_needed(spread.spread(left.cells.shape[1]), abs(found.value), comparisons)
        needed = None if isinstance(count, Undefined) else count
    return Detectable(None if isinstance(found.detectable, Undefined) else found.detectable, needed)


def _measure(scores: Scores) -> Measure | None:
    kept = [name for name, count in zip(scores.problems, scores.scored, strict=True) if count]
    found = average(scores.on(kept)) if kept else None
    return found if isinstance(found, Measure) else None


def detectable_words(manifest: Manifest, problems: Sequence[str], rows: Sequence[Row]) -> str:
    """The largest of the smallest differences, in a sentence; the reason where there is none."""
    found = [one.least for one in detectable_of(manifest, problems, rows) if one is not None]
    if not found:
        return "One row alone is compared with nothing."
    known, base = [one for one in found if one is not None], rows[base_of(manifest, rows)]
    if not base.scored or not any(row.scored for row in rows if row is not base):
        why = "no other row has a predicted score" if base.scored else "it has no predicted score"
        return f"No difference from {base.method} is predicted, because {why}."
    if not known:
        return f"{few(sum(one is not None for one in base.means))} too few to show any difference."
    low, high = ceil(100 * min(known)), ceil(100 * max(known))
    return (
        f"Differences from {base.method} of {high} percentage points are shown in 80 % of such experiments"
        f"{f', for some rows those of {low}' if low < high else ''} (from the variance of the rehearsal)."
    )
