"""A page of the list of runs, and the totals over all runs that match."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.core.paginator import Page, Paginator
from django.db.models import Count, F, QuerySet, Sum

from apps.desk.models import Tag
from apps.desk.selectors import tags_by_run
from apps.explorations.run_table.columns import ordering
from apps.explorations.selectors import list_state
from apps.explorations.words import scaffold_word
from apps.runs.models import Run

PAGE = 40


@dataclass(frozen=True)
class Row:
    """A run in the list, with the values that it may not have: None is unknown, never 0."""

    run: Run
    tags: list[Tag]

    @property
    def state(self) -> tuple[str, str]:
        return list_state(self.run)

    @property
    def scaffold(self) -> str:
        return scaffold_word(self.run.scaffold)

    @property
    def tokens(self) -> int | None:
        """None for an imported run whose file has no counts."""
        return None if self.run.is_imported and not self.run.tokens else self.run.tokens

    @property
    def seconds(self) -> float | None:
        return self.run.active_seconds or None


@dataclass(frozen=True)
class Listed:
    """One page of rows, and calls and tokens of all matching runs."""

    page: "Page[int]"
    rows: list[Row]
    calls: int
    tokens: int


def listed(found: QuerySet[Run], sort: str, number: str | None) -> Listed:
    """The page `number` of the visible runs that match, in order. Call it in the snapshot in which they were found visible.

    Rows of runs are wide. So the database sorts keys only, and the runs of one page are read by their keys.
    """
    found = found.select_related(None)
    tokens = Sum(F("prompt_tokens") + F("completion_tokens"))
    totals = found.order_by().aggregate(n=Count("pk"), calls=Sum("calls"), tokens=tokens)
    pages = Paginator(found.order_by(*ordering(sort)).values_list("pk", flat=True), PAGE)
    pages.count = totals["n"]
    page = pages.get_page(number)
    return Listed(page, rows_of(list(page.object_list)), totals["calls"] or 0, totals["tokens"] or 0)


def rows_of(keys: Sequence[int]) -> list[Row]:
    """The rows of these visible runs, in this order."""
    rows = Run.objects.order_by().select_related("problem_version__problem", "owner")
    runs = rows.defer("spec", "problem_version__statement").in_bulk(keys)
    tags = tags_by_run(keys)
    return [Row(runs[key], tags.get(key, [])) for key in keys if key in runs]
