"""The index of the library's lemmas: built once for each state of the library, kept in the process, asked many times.

What a text states is read once for each content; the index is made anew when the library's version has changed. What a
search may not see is left out while it is asked, so that one index serves every run, and what is held back today may be found
tomorrow.
"""

import json
import sqlite3
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from django.db.models import Count, Max

from apps.problems.models import ReferenceSolution

#: Solutions that are indexed; the newest, where there are more.
MOST_SOLUTIONS = 5_000


@dataclass(frozen=True)
class Stated:
    """A lemma as its author states it; `name` says what it is called there."""

    name: str
    statement: str


@dataclass(frozen=True)
class Version:
    """A state of the library's solutions. Whoever changes a solution saves its problem, which moves `changed`."""

    solutions: int
    newest: int
    changed: datetime | None


def library_version() -> Version:
    """The state that the library is in; one small query."""
    found = ReferenceSolution.objects.aggregate(solutions=Count("pk"), newest=Max("pk"), changed=Max("problem__updated_at"))
    return Version(found["solutions"], found["newest"] or 0, found["changed"])


class TheoremIndex:
    """BM25 over names and statements. One for a process; its methods may be called from any thread."""

    def __init__(self, lemmas_in: Callable[[str], Iterable[Stated]], most: int = MOST_SOLUTIONS) -> None:
        self._lemmas_in = lemmas_in
        self._most = most
        self._lock = threading.Lock()
        self._database: sqlite3.Connection | None = None
        self._version: Version | None = None
        self._read: dict[str, tuple[Stated, ...]] = {}

    def search(self, words: Iterable[str], *, without: Iterable[int], top: int) -> list[tuple[str, str, float]]:
        """Name, statement and rank (lower is better) of the `top` nearest; the problems `without` are not searched."""
        asked = " OR ".join(f'"{word}"' for word in words)
        with self._lock:
            database = self._current()
            return database.execute(
                "SELECT name, statement, bm25(stated) FROM stated WHERE stated MATCH ?"
                " AND problem NOT IN (SELECT value FROM json_each(?)) ORDER BY 3 LIMIT ?",
                (asked, json.dumps(list(without)), top),
            ).fetchall()

    def _current(self) -> sqlite3.Connection:
        """The index of the library as it is; made anew where it is of another state."""
        version = library_version()
        if self._database is None or version != self._version:
            fresh = self._made()
            if self._database is not None:
                self._database.close()
            self._database, self._version = fresh, version
        return self._database

    def _made(self) -> sqlite3.Connection:
        rows = (
            ReferenceSolution.objects.order_by("-pk")
            .values_list("problem_id", "problem__title", "text")[: self._most]
            .iterator(chunk_size=500)
        )
        database = sqlite3.connect(":memory:", check_same_thread=False)
        database.execute(
            "CREATE VIRTUAL TABLE stated USING fts5(name, statement, problem UNINDEXED, tokenize = 'porter unicode61')"
        )
        read: dict[str, tuple[Stated, ...]] = {}
        for problem, title, text in rows:
            content = sha256(text.encode()).hexdigest()
            stated = read[content] = self._read[content] if content in self._read else tuple(self._lemmas_in(text))
            named = ((f"{one.name} of “{title}”", one.statement, problem) for one in stated)
            database.executemany("INSERT INTO stated VALUES (?, ?, ?)", named)
        self._read = read
        return database
