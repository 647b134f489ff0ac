"""The page of rehearsals: the newest prediction next to the outcome, row by row."""

from dataclasses import dataclass
from math import ceil
from typing import Any

from django.db.models import Q

from apps.accounts.models import User
from apps.experiments.access import experiments_visible_to
from apps.experiments.models import Experiment, ExperimentKind, SolvingState
from apps.experiments.solving.pages import Line, lines_of
from apps.experiments.solving.rehearsal.differences import Detectable, base_of, detectable_of, detectable_words
from apps.experiments.solving.rehearsal.predicting import PredictedRow, Prediction
from apps.experiments.solving.rehearsal.stored import Rehearsal
from apps.experiments.solving.services import manifest_stored
from apps.experiments.solving.tables import Row, rows_of
from apps.reasoning.rehearsal.skills import Skills

#: Experiments that are offered to fit skills to.
OFFERED = 30


@dataclass(frozen=True)
class Pair:
    """A row as it was predicted and as it came out.

    `apart`: outcome minus prediction in points. `overlaps`: whether the two intervals do; None if one is missing. `ratios`:
    tokens against the base, predicted and observed. `least`: smallest detectable difference in points; `needed`: problems.
    """

    name: str
    predicted: Line
    observed: Line | None
    cells: PredictedRow
    apart: str
    overlaps: bool | None
    ratios: tuple[float | None, float | None]
    least: int | None
    needed: int | None


def page_of(experiment: Experiment, user: User, scorer: str) -> dict[str, Any]:
    """The context of the page. The outcome is that of a scorer; of the first one if `scorer` is none of them."""
    manifest = manifest_stored(experiment)
    kinds = {one.name: one.kind for one in manifest.scorers}
    chosen = scorer if scorer in kinds else next(iter(kinds), "")
    rows = Rehearsal.objects.filter(experiment=experiment).select_related("by", "fitted_to")
    shown = rows.filter(state=Rehearsal.State.DONE).first()
    newest = rows.defer("result", "skills").first()
    context: dict[str, Any] = {"newest": newest, "shown": shown, "scorers": list(kinds), "scorer": chosen}
    context |= {"cells": experiment.solving_cells.count(), "sources": _sources(experiment, user)}
    if shown is None or shown.result is None:
        return context
    prediction = Prediction.model_validate(shown.result)
    of_acceptance = kinds.get(chosen) == "accepted"
    context["pairs"] = pairs_of(experiment, prediction, chosen, of_acceptance=of_acceptance)
    context["detectable"] = detectable_words(manifest, prediction)
    context["troubles"] = [(row.method, why, count) for row in prediction.rows for why, count in row.troubles.items()]
    context["notes"] = Skills.model_validate(shown.skills or {}).notes
    context["of_acceptance"] = of_acceptance
    return context


def pairs_of(experiment: Experiment, prediction: Prediction, scorer: str, *, of_acceptance: bool) -> list[Pair]:
    """Predicted and observed rows of equal method, team and budget, in the order of the prediction."""
    manifest = manifest_stored(experiment)
    rows = [one.as_row(of_acceptance=of_acceptance) for one in prediction.rows]
    predicted = lines_of(manifest, prediction.problems, rows)
    problems, outcome = rows_of(experiment, scorer)
    observed = {line.row.key: line for line in lines_of(manifest, problems, outcome)}
    base = base_of(manifest, rows)
    theirs = observed.get(rows[base].key)
    return [
        _pair(line, observed.get(line.row.key), cells, found, (rows[base], theirs.row if theirs else None))
        for line, cells, found in zip(predicted, prediction.rows, detectable_of(manifest, prediction), strict=True)
    ]


def _pair(
    predicted: Line, observed: Line | None, cells: PredictedRow, found: Detectable | None, base: tuple[Row, Row | None]
) -> Pair:
    means = predicted.row.mean, observed.row.mean if observed else None
    apart = f"{100 * (means[1] - means[0]):+.1f}".replace("-", "−") if None not in means else ""  # type: ignore[operator]
    return Pair(
        name=predicted.name,
        predicted=predicted,
        observed=observed,
        cells=cells,
        apart=apart,
        overlaps=_overlap(predicted.interval, observed.interval) if observed else None,
        ratios=(_ratio(predicted.row, base[0]), _ratio(observed.row if observed else None, base[1])),
        least=ceil(100 * found.least) if found and found.least is not None else None,
        needed=found.problems if found else None,
    )


def _overlap(one: str, other: str) -> bool | None:
    """Whether two intervals written as `low to high` overlap."""
    if not one or not other:
        return None
    (low, high), (least, most) = (tuple(map(float, text.split(" to "))) for text in (one, other))
    return low <= most and least <= high


def _ratio(row: Row | None, base: Row | None) -> float | None:
    return row.tokens / base.tokens if row is not None and base is not None and row.tokens and base.tokens else None


def _sources(experiment: Experiment, user: User) -> list[Experiment]:
    """Experiments to whose runs skills can be fitted: this one first, then the newest that the user may open."""
    ended = Q(solving_cells__state=SolvingState.FINISHED)
    found = experiments_visible_to(user).filter(ended, kind=ExperimentKind.SOLVING).distinct().order_by("-pk")
    others = list(found.exclude(pk=experiment.pk)[:OFFERED])
    return [*found.filter(pk=experiment.pk), *others]
