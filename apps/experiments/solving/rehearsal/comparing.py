"""The page of rehearsals: the newest prediction next to the outcome, row by row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from django.db.models import Avg, Q

from apps.accounts.models import User
from apps.experiments.access import experiments_visible_to
from apps.experiments.models import Experiment, ExperimentKind, SolvingState
from apps.experiments.solving.manifest import Manifest
from apps.experiments.solving.pages import Line, mean_lines
from apps.experiments.solving.rehearsal.differences import Detectable, base_of, detectable_of, detectable_words
from apps.experiments.solving.rehearsal.predicting import COSTS, WRITTEN, Prediction
from apps.experiments.solving.rehearsal.stored import Rehearsal
from apps.experiments.solving.services import manifest_stored
from apps.experiments.solving.tables import rows_of
from apps.reasoning.rehearsal.skills import Skills

#: Experiments that are offered to fit skills to.
OFFERED = 30
Key = tuple[str, str, int]


@dataclass(frozen=True)
class Pair:
    """A row as it was predicted and as it came out.

    `apart`: outcome minus prediction in points. `overlaps`: whether the two intervals do; None if one is missing. `ratios`:
    costs against the base, predicted and observed. `least`: smallest detectable difference in points; `needed`: problems.
    """

    name: str
    predicted: Line
    observed: Line | None
    apart: str
    overlaps: bool | None
    ratios: Sequence[float | None]
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
    context["unit"] = unit_of(manifest)
    return context


def pairs_of(experiment: Experiment, prediction: Prediction, scorer: str, *, of_acceptance: bool) -> list[Pair]:
    """Predicted and observed rows of equal method, team and budget, in the order of the prediction."""
    manifest = manifest_stored(experiment)
    rows = [one.as_row(of_acceptance=of_acceptance) for one in prediction.rows]
    predicted = mean_lines(manifest, prediction.problems, rows)
    problems, outcome = rows_of(experiment, scorer)
    observed = {line.row.key: line for line in mean_lines(manifest, problems, outcome)}
    base = base_of(manifest, rows)
    costs = [{one.key: one.cost(unit_of(manifest)) for one in prediction.rows}, _observed_costs(experiment, unit_of(manifest))]
    ratios = [[_ratio(one, row.key, rows[base].key) for one in costs] for row in rows]
    detectable = detectable_of(manifest, prediction)
    return [
        _pair(line, observed.get(line.row.key), of_row, found)
        for line, of_row, found in zip(predicted, ratios, detectable, strict=True)
    ]


def unit_of(manifest: Manifest) -> str:
    """What the cost ratios count."""
    return manifest.counts if manifest.counts in COSTS else WRITTEN


def _observed_costs(experiment: Experiment, unit: str) -> dict[Key, float]:
    """Mean costs of the finished cells by row."""
    cells = experiment.solving_cells.filter(state=SolvingState.FINISHED).order_by().values_list("method", "team", "budget")
    means = cells.annotate(*(Avg(name) for name in COSTS[unit]))
    return {(method, team, budget): sum(costs) for method, team, budget, *costs in means}


def _ratio(costs: Mapping[Key, float], row: Key, base: Key) -> float | None:
    return costs[row] / costs[base] if costs.get(row) and costs.get(base) else None


def _pair(predicted: Line, observed: Line | None, ratios: Sequence[float | None], found: Detectable | None) -> Pair:
    means = predicted.row.mean, observed.row.mean if observed else None
    apart = "" if means[0] is None or means[1] is None else f"{100 * (means[1] - means[0]):+.1f}".replace("-", "−")
    return Pair(
        name=predicted.name,
        predicted=predicted,
        observed=observed,
        apart=apart,
        overlaps=_overlap(predicted.interval, observed.interval) if observed else None,
        ratios=ratios,
        least=ceil(100 * found.least) if found and found.least is not None else None,
        needed=found.problems if found else None,
    )


def _overlap(one: str, other: str) -> bool | None:
    """Whether two intervals written as `low to high` overlap."""
    if not one or not other:
        return None
    (low, high), (least, most) = (tuple(map(float, text.split(" to "))) for text in (one, other))
    return low <= most and least <= high


def _sources(experiment: Experiment, user: User) -> list[Experiment]:
    """Experiments to whose runs skills can be fitted: this one first, then the newest that the user may open."""
    ended = Q(solving_cells__state=SolvingState.FINISHED)
    found = experiments_visible_to(user).filter(ended, kind=ExperimentKind.SOLVING).distinct().order_by("-pk")
    others = list(found.exclude(pk=experiment.pk)[:OFFERED])
    return [*found.filter(pk=experiment.pk), *others]
