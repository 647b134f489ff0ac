"""Operations on experiments: list, start, command, and the cells, scores and table of those on solving."""

import uuid
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from ninja import Query, Schema
from pydantic import Field

from apps.accounts.access import user_of
from apps.config.api.once import KEY, once
from apps.config.api.operations import LARGEST, PageNumber, Text, api, paged
from apps.config.api.schemas import Page
from apps.config.api.sent import ExperimentCommandIn, ExperimentIn
from apps.config.api.writing import WRITING
from apps.experiments.access import (
    experiment_get_for,
    experiment_may_steer,
    experiments_visible_to,
    items_hidden,
    solving_get_for,
)
from apps.experiments.commands import commands_of
from apps.experiments.models import CellState, Experiment, ExperimentKind, SolvingState
from apps.experiments.refusals import ExperimentRefused, instead_of
from apps.experiments.solving.checks import require_runnable
from apps.experiments.solving.files.rows import cell_rows, score_rows
from apps.experiments.solving.manifest import manifest_of
from apps.experiments.solving.pages import mean_lines
from apps.experiments.solving.services import manifest_stored, solving_start
from apps.experiments.solving.tables import rows_of
from apps.explorations.starting.plans import usable_aliases
from apps.runs.access import run_may_start

#: Cells or scores in one answer.
ROWS = 1_000
SCORER: Any = Query("", max_length=60, description="name of a scorer (default: the first)")  # type: ignore[type-arg]
Since = Annotated[int, Query(ge=0, le=LARGEST, description="number of rows to skip")]


class ExperimentRow(Schema):
    """An experiment with its progress."""

    id: uuid.UUID
    title: str
    kind: str = Field(description="grading or solving")
    state: str = Field(description="planned, running, paused, done or cancelled")
    state_reason: str
    owner: str | None
    cells: int
    cells_ended: int
    created_at: datetime
    ended_at: datetime | None


class ExperimentPage(Page):
    """A page of experiments."""

    items: list[ExperimentRow]


class ExperimentOut(ExperimentRow):
    """An experiment with its manifest."""

    manifest: dict[str, Any] | None = Field(description="null for an experiment on grading")


class RowPage(Schema):
    """Rows with the columns of the file of the same name. Null is unknown or none, never 0."""

    items: list[dict[str, Any]]
    next: int | None = Field(description="value of `since` for the next request; null at the end")


class TableRow(Schema):
    """A row of the table: a method with its team and budget. Costs are means over finished cells."""

    method: str
    team: str
    budget: int = Field(description="its number in the manifest, from 0")
    mean: float | None = Field(description="mean over problems of the share of the scale; null without a score")
    interval: str = Field(description="95 % interval in percent; empty with a reason in `why`")
    why: str
    against: str = Field(description="what may be said of the difference to the baseline")
    is_baseline: bool
    scored: int
    unscored: dict[str, int] = Field(description="cells without a score by reason")
    cells: dict[str, int] = Field(description="cells by state")
    calls: float | None = Field(description="null if the costs are unknown, as are the next three")
    tokens: float | None
    completion_tokens: float | None
    seconds: float | None
    money: float | None


class TableOut(Schema):
    """The table of an experiment by one scorer."""

    scorer: str
    scorers: list[str]
    currency: str
    rows: list[TableRow]


@api.get("/experiments", response=ExperimentPage, url_name="experiment_list", summary="List experiments")
def experiment_list(request: HttpRequest, page: PageNumber = 1) -> dict[str, Any]:
    """Experiments that you may open, newest first."""
    user = user_of(request)
    if not run_may_start(user):
        raise Http404
    rows = experiments_visible_to(user).select_related("owner").order_by("-created_at", "-pk")
    items, place = paged(rows, page)
    return {"items": [_row(one) for one in items], **place}


@api.post(
    "/experiments", response={201: ExperimentOut}, auth=WRITING, url_name="experiment_start", summary="Start an experiment"
)
def experiment_start(request: HttpRequest, body: ExperimentIn, key: str | None = KEY) -> Any:
    """Start or plan an experiment on solving from its manifest, with the rules of its form and of the command."""
    user = user_of(request)
    if not run_may_start(user):
        raise PermissionDenied("Only coaches and researchers may start experiments.")
    manifest = manifest_of(body.manifest)
    require_runnable(manifest, usable_aliases())
    return once(request, key, lambda: _out(solving_start(owner=user, manifest=manifest, planned=body.planned)))


@api.get("/experiments/{uuid:experiment_id}", response=ExperimentOut, url_name="experiment_get", summary="One experiment")
def experiment_get(request: HttpRequest, experiment_id: uuid.UUID) -> ExperimentOut:
    """State, progress and manifest."""
    return _out(experiment_get_for(user_of(request), experiment_id))


@api.post(
    "/experiments/{uuid:experiment_id}/commands",
    response={202: ExperimentOut}, auth=WRITING, url_name="experiment_command", summary="Steer an experiment",
)  # fmt: skip
def experiment_command(request: HttpRequest, experiment_id: uuid.UUID, body: ExperimentCommandIn, key: str | None = KEY) -> Any:
    """Start a planned experiment, pause, resume or cancel one, retry failed cells, or score earlier answers."""
    user = user_of(request)
    experiment = experiment_get_for(user, experiment_id)
    if not experiment_may_steer(user, experiment):
        raise PermissionDenied("Only the owner of an experiment, a researcher or a member of staff may steer it.")
    command = commands_of(experiment, user).get(body.name)
    if command is None:
        raise ExperimentRefused(f"An experiment on grading has no command {body.name}.")

    def work() -> ExperimentOut:
        command()
        experiment.refresh_from_db()
        return _out(experiment)

    return once(request, key, work)


@api.get(
    "/experiments/{uuid:experiment_id}/cells", response=RowPage, url_name="experiment_cells", summary="Cells of an experiment"
)
def experiment_cells(request: HttpRequest, experiment_id: uuid.UUID, since: Since = 0) -> dict[str, Any]:
    """The cells of an experiment on solving, 1,000 at a time, as in `cells.csv`."""
    user = user_of(request)
    experiment = solving_get_for(user, experiment_id)
    return _rows(cell_rows(experiment, items_hidden(user, experiment), slice(since, since + ROWS + 1)), since)


@api.get(
    "/experiments/{uuid:experiment_id}/scores",
    response=RowPage,
    url_name="experiment_scores",
    summary="Scores of an experiment",
)
def experiment_scores(request: HttpRequest, experiment_id: uuid.UUID, since: Since = 0) -> dict[str, Any]:
    """The scores of an experiment on solving, 1,000 at a time, as in `scores.csv`."""
    user = user_of(request)
    experiment = solving_get_for(user, experiment_id)
    return _rows(score_rows(experiment, items_hidden(user, experiment), slice(since, since + ROWS + 1)), since)


@api.get(
    "/experiments/{uuid:experiment_id}/table", response=TableOut, url_name="experiment_table", summary="Table of an experiment"
)
def experiment_table(request: HttpRequest, experiment_id: uuid.UUID, scorer: Text = SCORER) -> dict[str, Any]:
    """Mean scores with intervals and costs of each method, as on the experiment's page."""
    user = user_of(request)
    experiment = solving_get_for(user, experiment_id)
    manifest = manifest_stored(experiment)
    names = [one.name for one in manifest.scorers]
    if scorer and scorer not in names:
        raise ExperimentRefused(f"The experiment has no scorer {scorer}. {instead_of(scorer, names)}")
    chosen = scorer or next(iter(names), "")
    lines = mean_lines(manifest, *rows_of(experiment, chosen, items_hidden(user, experiment)))
    return {
        "scorer": chosen,
        "scorers": names,
        "currency": manifest.currency,
        "rows": [_table_row(line) for line in lines],
    }


def _table_row(line: Any) -> dict[str, Any]:
    row = line.row
    costs = {"calls": row.calls, "tokens": row.tokens, "completion_tokens": row.written, "seconds": row.seconds}
    known = row.has_costs and bool(row.cells[SolvingState.FINISHED])
    return {
        **{name: getattr(row, name) for name in ("method", "team", "budget", "scored", "money")},
        **{name: getattr(line, name) for name in ("interval", "why", "against", "is_baseline")},
        **{name: amount if known else None for name, amount in costs.items()},
        "mean": line.value,
        "unscored": dict(row.unscored),
        "cells": dict(row.cells),
    }


def _rows(rows: Iterator[Any], since: int) -> dict[str, Any]:
    found = [row._asdict() for row in rows]
    return {"items": found[:ROWS], "next": since + ROWS if len(found) > ROWS else None}


def _row(experiment: Experiment) -> dict[str, Any]:
    is_solving = experiment.kind == ExperimentKind.SOLVING
    cells: Any = experiment.solving_cells if is_solving else experiment.cells
    under_way = (SolvingState.WAITING, SolvingState.RUNNING) if is_solving else (CellState.WAITING, CellState.RUNNING)
    same = ("title", "kind", "state", "state_reason", "created_at", "ended_at")
    return {
        **{name: getattr(experiment, name) for name in same},
        "id": experiment.public_id,
        "owner": experiment.owner.username if experiment.owner else None,
        "cells": cells.count(),
        "cells_ended": cells.exclude(state__in=under_way).count(),
    }


def _out(experiment: Experiment) -> ExperimentOut:
    return ExperimentOut.model_validate({**_row(experiment), "manifest": experiment.manifest})
