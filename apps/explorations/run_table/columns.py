"""Columns of the list of runs: their headings, and what sorts by them."""

from dataclasses import dataclass

from django.db.models import Case, CharField, Expression, F, OrderBy, Value, When
from django.db.models.functions import Coalesce, NullIf
from django.http import QueryDict

from apps.runs.models import IMPORTED

_TOKENS = F("prompt_tokens") + F("completion_tokens")


@dataclass(frozen=True)
class Column:
    """A heading; `by` sorts. Numbers begin with the largest. Runs without a value come last in both directions."""

    name: str
    label: str
    by: Expression | F
    is_number: bool = False
    then: str = ""


COLUMNS = (
    Column("problem", "Problem", F("title")),
    Column("outcome", "Outcome", F("ending")),
    Column("scaffold", "Scaffold", F("scaffold"), then="preset"),
    Column("models", "Models", NullIf(F("aliases"), Value(""))),
    Column("seed", "Seed", F("seed"), is_number=True),
    Column("rounds", "Rounds", NullIf(F("rounds"), 0), is_number=True),
    Column("lemmas", "Lemmas", Case(When(lemmas_count__gt=0, then=F("lemmas_held"))), is_number=True, then="lemmas_count"),
    Column("confidence", "Confidence", F("confidence"), is_number=True),
    Column("tokens", "Tokens", Case(When(preset=IMPORTED, then=NullIf(_TOKENS, 0)), default=_TOKENS), is_number=True),
    Column("money", "Money", F("money"), is_number=True),
    Column("duration", "Duration", NullIf(F("active_seconds"), Value(0.0)), is_number=True),
    Column(
        "owner", "Owner", Coalesce(NullIf(F("owner__first_name"), Value("")), F("owner__username"), output_field=CharField())
    ),
    Column("started", "Created", F("created_at"), is_number=True),
)
_BY_NAME = {column.name: column for column in COLUMNS}
NEWEST = "-started"


def sort_from(given: QueryDict) -> str:
    """The name of a column, with a minus for descending; the newest first if the address has none."""
    asked = given.get("sort", "")
    return asked if asked.removeprefix("-") in _BY_NAME else NEWEST


def ordering(sort: str) -> list[OrderBy]:
    """The order of `sort`; equal runs newest first."""
    column, is_down = _BY_NAME[sort.removeprefix("-")], sort.startswith("-")
    fields = [column.by, *([F(column.then)] if column.then else [])]
    by = [OrderBy(one, descending=is_down, nulls_last=True) for one in fields]
    if column.name == "started":
        by = [OrderBy(column.by, descending=is_down)]
    return [*by, OrderBy(F("created_at"), descending=True), OrderBy(F("pk"), descending=is_down or column.name != "started")]


def orders(sort: str) -> list[tuple[str, str]]:
    """Values and words of a select for narrow screens: the first direction of every column, and the one in force."""
    found = {("-" if column.is_number else "") + column.name: f"by {column.label.lower()}" for column in COLUMNS}
    if sort not in found:
        found[sort] = f"by {_BY_NAME[sort.removeprefix('-')].label.lower()}, reversed"
    return [(NEWEST, "newest first"), *((value, words) for value, words in found.items() if value != NEWEST)]


@dataclass(frozen=True)
class Heading:
    """A column in force: `aria` is its `aria-sort` value, `query` the address that sorts by it or reverses the order."""

    name: str
    label: str
    is_number: bool
    aria: str
    query: str


def headings(given: QueryDict, sort: str) -> list[Heading]:
    """The headings of the table; links keep the filters and go back to the first page."""
    found = []
    for column in COLUMNS:
        is_down = sort == f"-{column.name}"
        aria = "descending" if is_down else "ascending" if sort == column.name else ""
        query = given.copy()
        query.pop("page", None)
        query["sort"] = column.name if is_down or (not column.is_number and not aria) else f"-{column.name}"
        found.append(Heading(column.name, column.label, column.is_number, aria, query.urlencode()))
    return found
