"""The table of an experiment on solving and its curves as lines for the terminal."""

from collections.abc import Iterator, Sequence

from apps.experiments.models import Experiment, ExperimentState
from apps.experiments.refusals import ExperimentRefused, instead_of
from apps.experiments.solving.curves.pages import CurveLine, page_of, units_of
from apps.experiments.solving.curves.recording import KINDS
from apps.experiments.solving.manifest import Manifest
from apps.experiments.solving.pages import Line, budgets_said, mean_lines
from apps.experiments.solving.services import manifest_stored
from apps.experiments.solving.tables import rows_of

NO_CURVES = (
    "Its earlier answers have not been scored. Choose Score earlier answers on its page Budgets, or write curves = true in the "
    "manifest and run it again. No prover is asked again."
)


def table_lines(experiment: Experiment, scorer: str, *, counts_none: bool) -> Iterator[str]:
    """Scores, intervals and costs by row, then what may be said of each row and the baseline.

    `scorer`: the first one if it is empty. Raises `ExperimentRefused` for an unknown one.
    """
    manifest = manifest_stored(experiment)
    scorer = _scorer(scorer, [one.name for one in manifest.scorers])
    problems, rows = rows_of(experiment, scorer)
    lines = mean_lines(manifest, problems, [row.counting_none for row in rows] if counts_none else rows)
    planned = ", planned" if experiment.state == ExperimentState.PLANNED else ""
    yield f"{experiment.title}: {scorer} on {len(problems):,} problems{planned}"
    yield budgets_said(manifest)
    yield from (_row_words(line, manifest) for line in lines)
    if base := next((line.name for line in lines if line.is_baseline), ""):
        yield f"Against {base}, paired by problem{', so far' if experiment.is_live else ''}:"
        yield from (
            f"{line.name}: {line.against or 'not compared, as a score is missing'}" for line in lines if line.name != base
        )


def _row_words(line: Line, manifest: Manifest) -> str:
    row = line.row
    interval = f", 95 % interval {line.interval}" if line.interval else ""
    left = f", {line.unscored} unscored" if line.unscored else ""
    left += f", {line.failed} failed" if line.failed else ""
    cost = f"{row.calls:,.1f} calls, {row.tokens:,.0f} tokens" if row.has_costs else "costs unknown"
    cost += f", {row.money:,.4f} {manifest.currency}" if row.money is not None else ""
    scores = f"{line.mean or '–'} of {row.scored} scores{interval}{left}"
    return f"{row.method} · {row.team} · budget {row.budget}: {scores}; {cost}{' a cell' if row.has_costs else ''}"


def curve_lines(experiment: Experiment, scorer: str, unit: str) -> Iterator[str]:
    """Mean scores in percent at smaller budgets with their intervals, then rows by cost. `scorer`, `unit`: empty for the first.

    Raises `ExperimentRefused` for unknown ones, and where earlier answers were not scored.
    """
    manifest = manifest_stored(experiment)
    scorer = _scorer(scorer, [one.name for one in manifest.scorers if one.kind in KINDS])
    units = units_of(manifest)
    if unit and unit not in units:
        raise ExperimentRefused(f"Curves have no unit {unit}. {instead_of(unit, list(units))}")
    if not manifest.curves:
        raise ExperimentRefused(NO_CURVES)
    page = page_of(experiment, scorer, unit)
    yield f"{experiment.title}: score in percent by {scorer} at a budget of {page['unit_title']}, with 95 % intervals"
    if page["open"]:
        yield f"{page['open']:,} finished cells are still to be read."
    if page["unpriced"]:
        yield f"{page['unpriced']:,} cells are left out, because what their answers cost is not known."
    yield from _columns(page["lines"], page["budgets"])
    yield f"Score and {page['unit_title']} of a finished cell:"
    for line in page["costs"]:
        beaten = f", beaten by {line.beaten_by}" if line.beaten_by else ""
        yield f"{line.name}: {100 * line.score:.1f} % for {line.amount}{beaten}"


def _columns(lines: Sequence[CurveLine], budgets: Sequence[str]) -> Iterator[str]:
    """A text table: a row a line, and a column a budget."""
    rows = [["row", "cells", *budgets]]
    for line in lines:
        points = [f"{score} ({around})" if around else score for score, around in line.scores]
        rows.append([line.name, f"{line.cells:,}", *points])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, *values in rows:
        cells = (value.rjust(width) for value, width in zip(values, widths[1:], strict=True))
        yield "  ".join([name.ljust(widths[0]), *cells])


def _scorer(asked: str, names: Sequence[str]) -> str:
    if not names or (asked and asked not in names):
        raise ExperimentRefused(f"It has no scorer {asked}. Its scorers: {', '.join(names) or 'none'}.")
    return asked or names[0]
