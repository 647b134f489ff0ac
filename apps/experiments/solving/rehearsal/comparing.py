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
from apps.experiments.solving.rehearsal.fitting import OF_A_TRIAL
from apps.experiments.solving.rehearsal.predicting import COSTS, Prediction, not_predicted, scorers_predicted, unit_of
from apps.experiments.solving.rehearsal.stored import Rehearsal
from apps.experiments.solving.services import manifest_stored
from apps.experiments.solving.tables import Row, rows_of
from apps.reasoning.rehearsal.skills import Skills

#: Experiments that are offered to fit skills to.
OFFERED = 30
#: Why there is no outcome next to the prediction.
NO_OUTCOME = (
    "No scorer of this experiment says whether a solution is right, so there is no outcome to compare with. "
    "If the problems have final answers, add a scorer for them: no model is asked again."
)
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
    """The context of the page, by a scorer that is predicted; by the first one if `scorer` is none of them.

    Without one, right solutions are predicted, and there is no outcome.
    """
    manifest = manifest_stored(experiment)
    kinds = scorers_predicted(manifest)
    chosen = scorer if scorer in kinds else next(iter(kinds), "")
    stored = Rehearsal.objects.filter(experiment=experiment).select_related("by", "fitted_to")
    shown = stored.filter(state=Rehearsal.State.DONE).first()
    newest = stored.defer("result", "skills").first()
    context: dict[str, Any] = {"newest": newest, "shown": shown, "scorers": list(kinds), "scorer": chosen}
    context |= {"cells": experiment.solving_cells.count(), "sources": _sources(experiment, user)}
    if shown is None or shown.result is None:
        return context
    prediction = Prediction.model_validate(shown.result)
    rows, skills = prediction.rows_by(kinds.get(chosen, "")), Skills.model_validate(shown.skills or {})
    context["pairs"] = pairs_of(experiment, prediction, rows, chosen)
    context["no_outcome"] = "" if kinds else NO_OUTCOME
    context["not_predicted"] = not_predicted(manifest)
    context["detectable"] = detectable_words(manifest, prediction.problems, rows)
    context["troubles"] = [(row.method, why, count) for row in prediction.rows for why, count in row.troubles.items()]
    context |= {"notes": skills.notes, "origin": origin_of(shown, manifest, skills), "unit": unit_of(manifest)}
    return context


def origin_of(shown: Rehearsal, manifest: Manifest, skills: Skills) -> str:
    """Where the skills of a rehearsal come from, in words. The notes say it for each number."""
    tried = {model for part in skills.parts if part.source.startswith(OF_A_TRIAL) for model in part.models}
    if shown.source == "runs":
        if all(part.source == "stated" or part.source.startswith(OF_A_TRIAL) for part in skills.parts):
            return "Guessed, because there were no runs to which skills could be fitted."
        own = "this experiment, so the prediction has seen the outcome"
        return f"Fitted to runs of {own if shown.fitted_to_id == shown.experiment_id else 'another experiment'}."
    if shown.source != "trials":
        return "Guessed."
    if not tried:
        return "Guessed, because no model has a trial."
    models = dict.fromkeys(alias for team in manifest.teams for alias in team.roles.values())
    others = ", ".join(one for one in models if one not in tried)
    return f"Fitted to trials of {', '.join(sorted(tried))}." + (f" Guessed for {others}, without a trial." if others else "")


def pairs_of(experiment: Experiment, prediction: Prediction, rows: Sequence[Row], scorer: str) -> list[Pair]:
    """Predicted and observed rows of equal method, team and budget, in the order of the prediction.

    `rows`: the prediction by the scorer. Without a scorer, nothing but costs is observed.
    """
    manifest = manifest_stored(experiment)
    predicted = mean_lines(manifest, prediction.problems, rows)
    problems, outcome = rows_of(experiment, scorer)
    observed = {line.row.key: line for line in mean_lines(manifest, problems, outcome)}
    base = base_of(manifest, rows)
    costs = [{one.key: one.cost(unit_of(manifest)) for one in prediction.rows}, _observed_costs(experiment, unit_of(manifest))]
    ratios = [[_ratio(one, row.key, rows[base].key) for one in costs] for row in rows]
    detectable = detectable_of(manifest, prediction.problems, rows)
    return [
        _pair(line, observed.get(line.row.key), of_row, found)
        for line, of_row, found in zip(predicted, ratios, detectable, strict=True)
    ]


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
