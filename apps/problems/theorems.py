"""Lemmas that stand in the library's reference solutions, and a search among them for models that ask for a theorem.

A search never sees the solutions of the problem that it is made for.
"""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

from apps.problems.models import Problem, ReferenceSolution
from apps.reasoning.domain.tools import SearchHit, SearchJob
from apps.reasoning.reading.actions import THEOREMS

#: Solutions that one search reads; the newest, where there are more.
MOST_SOLUTIONS = 5_000
_SHORTEST, _LONGEST = 15, 1_200
_KINDS = "Lemma|Claim|Theorem|Proposition|Corollary|Fact"
_ENVIRONMENT = re.compile(rf"\\begin\{{({_KINDS})\}}(?:\[([^\]]{{1,80}})\])?(.*?)\\end\{{\1\}}", re.DOTALL | re.IGNORECASE)
_EMPHASIS = re.compile(r"\*\*|__|\\(?:textbf|textit|emph)\{([^{}]*)\}")
_NAMED = re.compile(
    rf"^[#\s]*({_KINDS})\b[ \t]*([0-9.]*[0-9]|[A-Z]\b)?[ \t]*(?:\(([^)\n]{{1,80}})\))?[ \t]*[.:—-][ \t]*"
    r"(.*?)(?=\n[ \t]*\n|\n[ \t*_]*Proof\b|\Z)",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Stated:
    """A lemma as its author states it; `name` says what it is called there."""

    name: str
    statement: str


def lemmas_in(text: str) -> Iterator[Stated]:
    """What a solution states under the name of lemma, claim, theorem, proposition, corollary or fact, without the proofs."""
    rest = text
    for found in _ENVIRONMENT.finditer(text):
        yield from _stated((found[1].capitalize(), f"({found[2]})" if found[2] else ""), found[3])
        rest = rest.replace(found[0], "")
    for found in _NAMED.finditer(_EMPHASIS.sub(r"\1", rest)):
        yield from _stated((found[1].capitalize(), found[2], f"({found[3]})" if found[3] else ""), found[4])


def theorem_search(job: SearchJob, *, without: Problem) -> list[SearchHit]:
    """The nearest lemmas of all problems but `without`, by BM25 over names and statements."""
    words = dict.fromkeys(word.lower() for word in _WORD.findall(job.query) if len(word) > 2)
    if not words:
        return []
    rows = (
        ReferenceSolution.objects.exclude(problem=without)
        .order_by("-pk")
        .values_list("problem__title", "text")[:MOST_SOLUTIONS]
        .iterator(chunk_size=500)
    )
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE VIRTUAL TABLE stated USING fts5(name, statement, tokenize = 'porter unicode61')")
        database.executemany(
            "INSERT INTO stated VALUES (?, ?)",
            ((f"{one.name} of “{title}”", one.statement) for title, text in rows for one in lemmas_in(text)),
        )
        asked = " OR ".join(f'"{word}"' for word in words)
        found = database.execute(
            "SELECT name, statement, bm25(stated) FROM stated WHERE stated MATCH ? ORDER BY 3 LIMIT ?", (asked, job.top)
        ).fetchall()
    return [SearchHit(library=THEOREMS, name=name, text=statement, score=-rank) for name, statement, rank in found]


def _stated(name: tuple[str | None, ...], statement: str) -> Iterator[Stated]:
    plain = " ".join(statement.split())
    if len(plain) > _SHORTEST:
        yield Stated(" ".join(part for part in name if part), plain[:_LONGEST])
