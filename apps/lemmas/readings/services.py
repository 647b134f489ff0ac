"""Requests for readings by a model: who may ask, and what a page shows."""

from dataclasses import dataclass, replace
from datetime import timedelta

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404
from django.utils import timezone

from apps.accounts.models import User
from apps.lemmas.formula_checks import CheckedFormula, check_of, formula_shown, one_line
from apps.lemmas.readings.items import ReadItem
from apps.lemmas.readings.models import ModelReadings, ReadingState
from apps.reasoning.domain.errors import AliasError
from apps.reasoning.inference.aliases import Alias, load_usable
from apps.runs.access import run_may_steer
from apps.runs.models import Run

NO_RESULT = "no result: the formula check says nothing about this sentence"


@dataclass(frozen=True)
class ShownItem:
    """A formula with its reading. `formula` is the outcome of the test of the sentence, None without one."""

    item: ReadItem
    tex: str
    formula: CheckedFormula | None

    @property
    def words(self) -> str:
        """Why the reading does not count, or why the test has no outcome."""
        return self.item.reason or NO_RESULT


@dataclass(frozen=True)
class ShownReadings:
    """The readings of one request: those that count, and the others."""

    row: ModelReadings
    counted: tuple[ShownItem, ...]
    others: tuple[ShownItem, ...]


@dataclass(frozen=True)
class Readings:
    """All readings of a lemma or proof. `aliases` may be asked by this user; the first one is the run's."""

    subject: str
    requests: tuple[ShownReadings, ...]
    aliases: tuple[Alias, ...]

    @property
    def open(self) -> ModelReadings | None:
        return next((one.row for one in self.requests if one.row.is_open), None)


def readings_of(user: User, run: Run, subject: str) -> Readings:
    """What the page of a lemma or proof shows of readings."""
    rows = list(ModelReadings.objects.filter(run=run, subject=subject))
    waiting = {row.alias for row in rows if row.is_open and not is_lost(row)}
    may_ask = run_may_steer(user, run) and (check_of(run, subject).unread > 0)
    return Readings(subject, tuple(map(_shown, rows)), () if waiting or not may_ask else tuple(_usable(run)))


def readings_ask(user: User, run: Run, subject: str, alias: str) -> None:
    """Let a model read the formulas of a lemma or proof. A repeated request while one is open has no effect."""
    if not run_may_steer(user, run):
        raise PermissionDenied("Only the owner of a run or a researcher may ask a model about it.")
    if check_of(run, subject).unread == 0:
        raise Http404("This run has no such text, or its formulas were all understood.")
    if alias not in [one.name for one in _usable(run)]:
        raise Http404("There is no such model, or it is turned off.")
    now = timezone.now()
    values = {"asked_by": user, "asked_at": now, "touched_at": now}
    with transaction.atomic():
        rows = ModelReadings.objects.select_for_update()
        row, is_new = rows.get_or_create(run=run, subject=subject, alias=alias, defaults=values)
        if is_new or (row.is_open and not is_lost(row)):
            return
        ModelReadings.objects.filter(pk=row.pk).delete()
        ModelReadings.objects.create(run=run, subject=subject, alias=alias, **values)


def is_lost(row: ModelReadings) -> bool:
    """Whether the process at a request must have died."""
    last = timezone.now() - timedelta(seconds=2 * settings.HINT_WITHIN_S)
    return row.state == ReadingState.RUNNING and row.touched_at < last


def _usable(run: Run) -> list[Alias]:
    """The models that may be asked, those of the run first."""
    try:
        known = load_usable(settings.MODELS_FILE)
    except AliasError:
        return []
    own = [role["alias"] for role in run.spec.get("roles", {}).values()]
    return [known[name] for name in dict.fromkeys([*own, *known]) if name in known]


def _shown(row: ModelReadings) -> ShownReadings:
    items = [ReadItem.model_validate(one) for one in row.items]
    shown = [ShownItem(one, one_line(one.quote), _formula(row, number, one)) for number, one in enumerate(items)]
    counted = tuple(one for one in shown if one.item.state == "counts")
    return ShownReadings(row, counted, tuple(one for one in shown if one.item.state != "counts"))


def _formula(row: ModelReadings, number: int, item: ReadItem) -> CheckedFormula | None:
    found = item.finding
    return None if found is None else replace(formula_shown(found), where=f"reading {row.pk} {number}")
