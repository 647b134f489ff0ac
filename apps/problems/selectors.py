"""Queries for the library: list with search, filters and order, and data of a problem's page."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

from django.db.models import Count, F, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce, Lower

from apps.problems.levels import level_spelled
from apps.problems.models import Problem, ProblemVersion, Topic

SORTS = {"title": "Problem", "topic": "Topic", "source": "Source", "year": "Year", "level": "Level", "runs": "Runs"}
WORDS_AT_MOST = 12


@dataclass(frozen=True)
class ProblemFilter:
    """Search and filters of the list. `sort` is a key of `SORTS`, with a minus sign for descending order."""

    q: str = ""
    topic: str = ""
    year: str = ""
    level: str = ""
    source: str = ""
    of_sets: str = ""
    """If not empty, list the problems of imported sets outside the library instead."""
    sort: str = "title"

    @property
    def is_filtered(self) -> bool:
        return any((self.q, self.topic, self.year, self.level, self.source, self.of_sets))


def filter_from(query: Mapping[str, str]) -> ProblemFilter:
    """Parse a filter from query parameters; invalid values are ignored."""
    asked = {field.name: query.get(field.name, "").replace("\0", "").strip()[:200] for field in fields(ProblemFilter)}
    if asked["topic"] not in Topic.values:
        asked["topic"] = ""
    if not (asked["year"].isascii() and asked["year"].isdigit() and len(asked["year"]) <= 4):
        asked["year"] = ""
    if asked["sort"].removeprefix("-") not in SORTS:
        asked["sort"] = "title"
    return ProblemFilter(**asked)


def problem_list(problems: QuerySet[Problem], asked: ProblemFilter, *, with_runs: bool = False) -> QuerySet[Problem]:
    """Filter and order visible problems. The search covers title, source and newest statement only, so that it reveals nothing
    of solutions. `with_runs` adds `runs_count` to each row.
    """
    problems = problems.filter(is_listed=not asked.of_sets)
    newest = ProblemVersion.objects.filter(problem=OuterRef("pk")).order_by("-number")
    if words := asked.q.split()[:WORDS_AT_MOST]:
        problems = problems.alias(newest_statement=Subquery(newest.values("statement")[:1]))
        for word in words:
            problems = problems.filter(
                Q(title__icontains=word) | Q(source__icontains=word) | Q(newest_statement__icontains=word)
            )
    if asked.topic:
        problems = problems.filter(topic=asked.topic)
    if asked.year:
        problems = problems.filter(year=int(asked.year))
    if asked.level:
        problems = problems.filter(level=level_spelled(asked.level))
    if asked.source:
        problems = problems.filter(source__icontains=asked.source)
    if with_runs:
        problems = problems.annotate(runs_count=_runs_of(OuterRef("pk")))
    return _ordered(problems, asked.sort, with_runs)


def filter_choices(problems: QuerySet[Problem]) -> dict[str, list[str]]:
    """Existing years, levels and sources."""

    def values(name: str) -> list[str]:
        rows = problems.order_by(name).values_list(name, flat=True).distinct()
        return [str(value) for value in rows if value not in ("", None)]

    return {"years": values("year")[::-1], "levels": values("level"), "sources": values("source")}


def version_get(problem: Problem, number: int) -> ProblemVersion | None:
    """A version of the problem by its number."""
    return problem.versions.filter(number=number).first()


def hint_texts(problem: Problem) -> dict[int, str]:
    """The authored hints by level, 0 to 2."""
    return {row.level: row.text for row in problem.hints.all() if row.text}


def runs_count(problem: Problem) -> int:
    """Number of runs on all versions of the problem."""
    return ProblemVersion.objects.filter(problem=problem, runs__isnull=False).count()


def _runs_of(problem: OuterRef) -> Coalesce:
    counted = (
        ProblemVersion.objects.filter(problem=problem)
        .order_by()
        .values("problem")
        .annotate(count=Count("runs"))
        .values("count")
    )
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


def _ordered(problems: QuerySet[Problem], sort: str, with_runs: bool) -> QuerySet[Problem]:
    """Order by the requested key, then by title; problems without a value are always last."""
    name, is_down = sort.removeprefix("-"), sort.startswith("-")
    if name == "year":
        key = F("year")
    elif name == "runs":
        if not with_runs:
            return problems.order_by(Lower("title"), "pk")
        key = F("runs_count")
    else:
        problems = problems.alias(sort_key=Lower(name))
        key = F("sort_key")
    first = key.desc(nulls_last=True) if is_down else key.asc(nulls_last=True)
    return problems.order_by(first, Lower("title"), "pk")
