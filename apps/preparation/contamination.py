"""Detect problems of the library that resemble a benchmark problem and must not be trained on."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from django.db import transaction
from django.db.models import Count, Max

from apps.accounts.models import User
from apps.graded_sets.shapes import PUBLISHED, origin_of
from apps.preparation.models import BenchmarkText
from apps.problems.access import problem_visible_to
from apps.problems.importing.shapes import ANSWERBENCH_ORIGIN, PROOFBENCH_ORIGIN
from apps.problems.models import Problem
from apps.reasoning.texts.likeness import Alike, LikenessIndex

_TITLES = {PROOFBENCH_ORIGIN: "IMO-ProofBench", ANSWERBENCH_ORIGIN: "IMO-AnswerBench"}
_TITLES |= {origin_of(layout): layout for layout in PUBLISHED}
#: Origins of library problems imported from a benchmark file or a published set of graded scripts.
ORIGINS = tuple(_TITLES)


@dataclass(frozen=True)
class Match:
    """A similar text of a benchmark set; `score` from 0 to 1. `problem`: the library problem with this text, if any."""

    collection: str
    name: str
    text: str
    score: float
    is_same: bool
    problem: Problem | None = None

    @property
    def percent(self) -> int:
        """The similarity in percent."""
        return round(100 * self.score)


def benchmark_load(*, collection: str, texts: Iterable[tuple[str, str]]) -> int:
    """Replace the stored texts of a benchmark set, given as pairs of name and text; return their number."""
    rows = {name: text for name, text in texts if text.strip()}
    with transaction.atomic():
        BenchmarkText.objects.filter(collection=collection).exclude(name__in=rows).delete()
        for name, text in rows.items():
            BenchmarkText.objects.update_or_create(collection=collection, name=name, defaults={"text": text})
    return len(rows)


def collections_kept() -> list[tuple[str, int]]:
    """The benchmark sets that problems are compared with, each with its number of texts."""
    loaded = BenchmarkText.objects.values_list("collection").annotate(count=Count("pk")).order_by("collection")
    library = Problem.objects.filter(origin__in=ORIGINS).values_list("origin").annotate(count=Count("pk")).order_by("origin")
    return [*loaded, *library]


def benchmark_of(problem: Problem) -> str:
    """The benchmark from which the problem was imported, or ""."""
    return _TITLES.get(problem.origin, "")


def matches_of(problem: Problem, user: User | None) -> list[Match]:
    """Benchmark texts similar to the newest statement, most similar first. `user` None (the terminal) sees everything."""
    statement = problem.current.statement
    near = _loaded().alike(statement)
    kept = {row.pk: row for row in BenchmarkText.objects.filter(pk__in=[one.key for one in near])}
    found = [
        Match(kept[one.key].collection, kept[one.key].name, kept[one.key].text, one.score, one.is_same)
        for one in near
        if one.key in kept
    ]
    return sorted([*found, *_of_library(problem, statement, user)], key=lambda one: -one.score)


def _of_library(problem: Problem, statement: str, user: User | None) -> list[Match]:
    visible = Problem.objects.all() if user is None else problem_visible_to(user)
    near: dict[int, Alike[int]] = {one.key: one for one in _library().alike(statement) if one.key != problem.pk}
    return [
        Match(row.origin, row.external_id or row.slug, row.current.statement, near[row.pk].score, near[row.pk].is_same, row)
        for row in visible.filter(pk__in=near)
    ]


def _loaded() -> LikenessIndex[int]:
    state = BenchmarkText.objects.aggregate(count=Count("pk"), at=Max("loaded_at"))
    return _loaded_index(state["count"], str(state["at"]))


@lru_cache(maxsize=1)
def _loaded_index(_count: int, _at: str) -> LikenessIndex[int]:
    return LikenessIndex(BenchmarkText.objects.values_list("pk", "text"))


def _library() -> LikenessIndex[int]:
    state = Problem.objects.filter(origin__in=ORIGINS).aggregate(count=Count("versions"), at=Max("versions__created_at"))
    return _library_index(state["count"], str(state["at"]))


@lru_cache(maxsize=1)
def _library_index(_count: int, _at: str) -> LikenessIndex[int]:
    problems = Problem.objects.filter(origin__in=ORIGINS).prefetch_related("versions")
    return LikenessIndex((one.pk, max(one.versions.all(), key=lambda version: version.number).statement) for one in problems)
