"""The search over the lemmas of all runs: 100,000 lemmas, mixed searches by words, formulas and filters.

Statements are sentences of recorded runs and proof graphs in `SHARED_DATA`, with other letters and numbers. The database is
that of DATABASE_URL, else a new SQLite file: `.ci/postgres .venv/bin/python -m benchmarks.pages.lemma_search` measures
PostgreSQL.
"""

import os
import random
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import stage
from benchmarks.figures import Figure, Skipped, percentiles

if TYPE_CHECKING:
    from apps.accounts.models import User
    from apps.lemmas.models import Lemma
    from apps.lemmas.search.selectors import LemmaFilter

LEMMAS, QUICK_LEMMAS = 100_000, 5_000
PER_RUN, PROBLEMS = 100, 50
SEARCHES, QUICK_SEARCHES = 300, 40
TARGET_MS = {"postgresql": 150, "sqlite": 300}
_FOLDER = Path(__file__).resolve().parents[2] / os.environ.get("SHARED_DATA", "../shared/data")
_SENTENCE = re.compile(r"[A-Z][^\n]*?\.(?=\s|$)")
_FORMULA = re.compile(r"\$[^$]{3,60}\$")
_LETTER = re.compile(r"(?<![\\A-Za-z])[a-z](?![A-Za-z])")


def figures(quick: bool = False) -> list[Figure]:
    """Milliseconds of a search with its count and first page, and of the whole page. Raises `Skipped` without recorded runs."""
    sentences = list(dict.fromkeys(_sentences()))
    if len(sentences) < 500:
        raise Skipped(f"{_FOLDER} has no recorded runs")
    url = os.environ.get("DATABASE_URL", "")
    stage.set_up(**({"DATABASE_URL": url} if url else {}))
    from django.db import connection

    draw = random.Random(7)
    number = QUICK_LEMMAS if quick else LEMMAS
    reader = _filled(draw, sentences, number)
    asked = [_asked(draw, sentences) for _ in range(QUICK_SEARCHES if quick else SEARCHES)]
    searched = [_searched(reader, one) for one in asked]
    middle, late = percentiles([took for took, _ in searched])
    page_middle, page_late = percentiles([_page(reader, one) for one in asked[::3]])
    words = f"{number:,} lemmas, {'PostgreSQL' if connection.vendor == 'postgresql' else 'SQLite'}"
    for took, one in sorted(zip((took for took, _ in searched), asked, strict=True), key=lambda pair: -pair[0])[:5]:
        print(f"  {took:6.0f} ms  {one}")
    return [
        Figure(f"{words}: a search, 95th percentile", late, "ms", TARGET_MS[connection.vendor]),
        Figure("… median", middle, "ms"),
        Figure("… slowest", max(took for took, _ in searched), "ms"),
        Figure("the whole page, 95th percentile", page_late, "ms"),
        Figure("… median", page_middle, "ms"),
        Figure("searches that found something", sum(found > 0 for _, found in searched) / len(searched) * 100, "%"),
    ]


def _sentences() -> Iterator[str]:
    for path in sorted([*_FOLDER.glob("imo25-logs/*.log"), *_FOLDER.glob("lemma-graphs/*.json")]):
        text = path.read_text(errors="replace").replace("\\n", "\n").replace("\\\\", "\\")
        yield from (found[0] for found in _SENTENCE.finditer(text) if 40 < len(found[0]) < 500 and found[0].count("$") % 2 == 0)


def _varied(draw: random.Random, sentence: str) -> str:
    """The sentence with other letters in its formulas and other numbers."""
    letters = dict(zip("abcdefghijklmnopqrstuvwxyz", draw.sample("abcdefghijklmnopqrstuvwxyz", 26), strict=True))
    pieces = re.split(r"(\$[^$]*\$)", sentence)
    renamed = [_LETTER.sub(lambda one: letters[one[0]], piece) if at % 2 else piece for at, piece in enumerate(pieces)]
    return re.sub(r"\d+", lambda one: str(draw.randrange(1, 2026)) if draw.random() < 0.3 else one[0], "".join(renamed))


def _filled(draw: random.Random, sentences: list[str], number: int) -> "User":
    """A researcher, and the lemmas of as many runs as they need."""
    from django.db import connection

    from apps.accounts.models import Role, User
    from apps.lemmas.models import Lemma
    from apps.lemmas.search.index import index_missing
    from apps.problems.models import Problem, Topic
    from apps.runs.models import Run, RunStatus

    topics = list(Topic.values)
    versions = []
    for at in range(PROBLEMS):
        problem = Problem.objects.create(slug=f"search-{at}", title=f"Problem {at}", topic=topics[at % len(topics)])
        versions.append(problem.versions.create(number=1, statement=sentences[at]))
    runs = Run.objects.bulk_create(
        Run(title=f"Run {at}", problem_version=versions[at % PROBLEMS], scaffold="intern_s1_mo", spec={}, last_seq=1,
            status=RunStatus.FINISHED)
        for at in range(number // PER_RUN)
    )  # fmt: skip
    for run in runs:
        Lemma.objects.bulk_create(_lemma(draw, run.pk, at, draw.choice(sentences)) for at in range(PER_RUN))
    began = time.perf_counter()
    index_missing()
    print(f"  indexed in {time.perf_counter() - began:.0f} s")
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")
    return User.objects.create(username="reader", role=Role.RESEARCHER)


def _lemma(draw: random.Random, run: int, at: int, sentence: str) -> "Lemma":
    from apps.lemmas.models import Lemma

    state = draw.choices(["verified", "rejected", "proposed", "doubtful", "merged"], [50, 25, 10, 5, 10])[0]
    confidence = None if state == "proposed" else draw.choice([0.0, 0.25, 0.5, 0.75, 1.0])
    statement = _varied(draw, sentence)
    return Lemma(run_id=run, lemma=f"s0.{at}", number=at, rollout=0, round=1, statement=statement, status=state, judged=state,
                 steps=[sentence] * 6, confidence=confidence, first_seq=at, last_seq=at)  # fmt: skip


def _asked(draw: random.Random, sentences: list[str]) -> "LemmaFilter":
    """One to three words, a formula, a slip of the pen or a common word, sometimes with filters."""
    from apps.lemmas.search.selectors import LemmaFilter

    sentence = draw.choice(sentences)
    words = re.findall(r"\b[a-z]{4,}\b", _FORMULA.sub(" ", sentence)) or ["prime"]
    formulas = _FORMULA.findall(sentence)
    some = " ".join(draw.sample(words, min(len(words), draw.randint(1, 3))))
    filters: dict[str, Any] = draw.choice(
        [{}, {}, {"topic": "N"}, {"verdict": "verified"}, {"problem": "search-7"}, {"confidence": 0.75}]
    )
    match draw.randrange(20):
        case 0:
            slip = draw.choice(words)
            return LemmaFilter(q=slip[:2] + slip[3:])
        case 1:
            return LemmaFilter(q=draw.choice(["for all", "integer", "n", "let", "the", "prime number"]), **filters)
        case 2:
            return LemmaFilter(**filters)
        case at if at < 9 and formulas:
            return LemmaFilter(formula=_varied(draw, draw.choice(formulas)), whole=at % 2 == 0, **filters)
        case at if at < 12 and formulas:
            return LemmaFilter(q=draw.choice(words), formula=draw.choice(formulas), **filters)
    return LemmaFilter(q=some, **filters)


def _searched(reader: "User", asked: "LemmaFilter") -> tuple[float, int]:
    """Milliseconds of a search with count and first page, and the number of lemmas found."""
    from django.core.paginator import Paginator

    from apps.lemmas.search.selectors import lemmas_found, texts_of
    from apps.lemmas.search.views import PAGE

    began = time.perf_counter()
    page = Paginator(lemmas_found(reader, asked).ids, PAGE).get_page(1)
    texts_of(list(page.object_list))
    return (time.perf_counter() - began) * 1000, page.paginator.count


def _page(reader: "User", asked: "LemmaFilter") -> float:
    """Milliseconds of the page."""
    from dataclasses import asdict

    from django.test import Client

    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(reader)
    sent = {name: value for name, value in asdict(asked).items() if value}
    sent |= {"confidence": asked.confidence * 100} if asked.confidence is not None else {}
    began = time.perf_counter()
    response = client.get("/lemmas/", sent)
    assert response.status_code == 200
    return (time.perf_counter() - began) * 1000


if __name__ == "__main__":
    import sys

    for figure in figures("--quick" in sys.argv):
        print("  ".join(figure.row()))
