"""Views that explain the table of an experiment on solving: two rows, ablations, endings."""

import uuid
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from apps.accounts.access import user_of
from apps.accounts.models import User
from apps.experiments.access import items_hidden, solving_get_for
from apps.experiments.models import Experiment
from apps.experiments.solving.comparing.ablations import NO_BASELINE, NONE, ablations_of
from apps.experiments.solving.comparing.failures import VERDICTS_READ, failures_of
from apps.experiments.solving.comparing.flips import flips_filled, flips_of, runs_compared
from apps.experiments.solving.comparing.rows import compared, interval_words, ratio_words, word_of
from apps.experiments.solving.comparing.sides import sides_of
from apps.experiments.solving.kept import counts_none
from apps.experiments.solving.manifest import Manifest
from apps.experiments.solving.pages import NO_SCORER, name_of
from apps.experiments.solving.services import manifest_stored
from apps.experiments.solving.tables import Row, rows_of
from apps.reasoning.statistics.differences import Difference, sentence
from apps.ui.sent import whole_number

PAGE = 60
ONE_ROW = "The experiment has one row. A comparison needs two: add a method, team or budget to the manifest."
SAME_ROW = "A row is not compared with itself. Choose two different rows."
_ASKED_AT_MOST = 200


@never_cache
@require_GET
def experiment_compare(request: HttpRequest, experiment_id: uuid.UUID) -> HttpResponse:
    """Two rows of the table by problem, and two of their runs side by side."""
    user, experiment, manifest, context = _opened(request, experiment_id)
    problems, rows = _rows(request, experiment, context)
    named = {word_of(row): (name_of(manifest, row), row) for row in rows}
    base = next((word for word, (_, row) in named.items() if row.method == manifest.baseline), next(iter(named)))
    right = _asked(request, "right") or base
    left = _asked(request, "left") or next((word for word in named if word != right), right)
    context |= {"choices": [(word, name) for word, (name, _) in named.items()], "left": left, "right": right}
    context["refusal"] = refusal = _refusal(named, left, right, context["scorers"])
    if not refusal:
        _compare(context, problems, named[left], named[right])
        page = Paginator(flips_of(problems, named[left][1], named[right][1]), PAGE).get_page(request.GET.get("page"))
        flips = flips_filled(user, experiment, list(page), named[left][1], named[right][1])
        query = request.GET.copy()
        query.pop("page", None)
        context |= {"page": page, "flips": flips, "query": query.urlencode()}
        _set_side_by_side(request, context, (user, experiment), problems, (named[left], named[right]))
    return render(request, "experiments/compare.html", context)


def _refusal(named: dict[str, tuple[str, Row]], left: str, right: str, scorers: Sequence[str]) -> str:
    """Why two rows cannot be compared, and what to do; "" if they can."""
    if unknown := [word for word in (left, right) if word not in named]:
        return f"There is no row “{unknown[0].replace('~', ' · ')}” in this experiment. Choose one of the rows in the form."
    if left == right:
        return ONE_ROW if len(named) == 1 else SAME_ROW
    return "" if scorers else NO_SCORER


def _compare(context: dict[str, Any], problems: list[str], left: tuple[str, Row], right: tuple[str, Row]) -> None:
    """Add the difference of two named rows to the context of the page."""
    found = compared(problems, left[1], right[1])
    context |= {
        "names": (left[0], right[0]),
        "means": [_mean_words(row) for _, row in (left, right)],
        "found": found if isinstance(found, Difference) else None,
        "difference": interval_words(found),
        "said": sentence(found, left[0], right[0]),
        "calls": ratio_words(left[1].calls, right[1].calls),
        "tokens": ratio_words(left[1].tokens, right[1].tokens),
    }


def _mean_words(row: Row) -> str:
    """The mean of a row with its own number of problems, which may not be those of the difference; "" without a score."""
    count = sum(mean is not None for mean in row.means)
    return "" if row.mean is None else f"{100 * row.mean:.1f} % on {count:,} problem{'' if count == 1 else 's'}"


def _set_side_by_side(
    request: HttpRequest,
    context: dict[str, Any],
    opened: tuple[User, Experiment],
    problems: list[str],
    rows: Sequence[tuple[str, Row]],
) -> None:
    """Add the two runs of the chosen problem and repeat, or why there are none."""
    problem, repeat = _asked(request, "problem"), whole_number(request.GET.get("repeat", "0"), 4) or 0
    repeats = rows[0][1].scores.shape[1]
    context |= {"problems": problems, "problem": problem, "repeat": repeat, "repeats": range(repeats), "sides": ()}
    if problem and problem not in problems:
        context["unknown"] = f"There is no problem “{problem}” here. Choose one of the list."
    elif problem and repeat >= repeats:
        context["unknown"] = f"There is no repeat {repeat}. The last one is {repeats - 1}."
    elif problem:
        context["sides"] = sides = sides_of(*opened, problem, repeat, rows)
        runs = list(dict.fromkeys(side.run_id for side in sides if side.run_id))
        context["sides_runs"] = runs_compared(runs) if len(runs) > 1 else ""
        context["version"] = next((side.cell.item.problem for side in sides if side.cell is not None), None)


@never_cache
@require_GET
def experiment_ablations(request: HttpRequest, experiment_id: uuid.UUID) -> HttpResponse:
    """The rows that differ from the baseline in one switch."""
    _, experiment, manifest, context = _opened(request, experiment_id)
    lines, why = [], "" if manifest.baseline else NO_BASELINE
    if not why:
        lines = ablations_of(manifest, *_rows(request, experiment, context))
        why = "" if lines else NONE
    context |= {"lines": lines, "why": why, "no_scorer": "" if context["scorers"] else NO_SCORER}
    return render(request, "experiments/ablations.html", context)


@never_cache
@require_GET
def experiment_endings(request: HttpRequest, experiment_id: uuid.UUID) -> HttpResponse:
    """By row, how cells ended and what went wrong in their calls."""
    user, experiment, manifest, context = _opened(request, experiment_id)
    nothing = np.empty((0, 0))
    axes = product(manifest.methods, manifest.teams, range(len(manifest.budgets)))
    rows = [Row(method.name, team.name, budget, nothing) for method, team, budget in axes]
    cells = experiment.solving_cells.exclude(item__in=context["held"])
    found = failures_of(user, experiment, [row.key for row in rows], cells)
    lines = [(name_of(manifest, row), failures) for row, failures in zip(rows, found, strict=True)]
    context |= {"lines": lines, "verdicts_read": VERDICTS_READ, "has_objections": any(row.severities for row in found)}
    return render(request, "experiments/endings.html", context)


def _opened(request: HttpRequest, experiment_id: uuid.UUID) -> tuple[User, Experiment, Manifest, dict[str, Any]]:
    """The user, the experiment on solving that they may open, its manifest, and what all three pages show."""
    user = user_of(request)
    experiment = solving_get_for(user, experiment_id)
    manifest = manifest_stored(experiment)
    scorers = [one.name for one in manifest.scorers]
    asked = _asked(request, "scorer")
    scorer = asked if asked in scorers else next(iter(scorers), "")
    held = items_hidden(user, experiment)
    return user, experiment, manifest, {"experiment": experiment, "scorers": scorers, "scorer": scorer, "held": held}


def _rows(request: HttpRequest, experiment: Experiment, context: dict[str, Any]) -> tuple[list[str], list[Row]]:
    """Problems and rows as the table counts them. Adds to the context how cells without an answer count."""
    problems, rows = rows_of(experiment, context["scorer"], context["held"])
    context["without"] = sum(int(row.without.sum()) for row in rows)
    context["counts_none"] = counted = counts_none(request)
    return problems, [row.counting_none for row in rows] if counted else rows


def _asked(request: HttpRequest, name: str) -> str:
    return request.GET.get(name, "").replace("\0", "")[:_ASKED_AT_MOST]
