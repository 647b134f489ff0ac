"""In-process index of the library's lemmas, rebuilt when the library changes.

Each text is parsed once per content. Each query excludes what its search may not see, so that one index serves all runs and
released problems become searchable without a rebuild.
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

#: Maximum number of indexed solutions; the newest are used.
MOST_SOLUTIONS = 5_000


@dataclass(frozen=True)
class Stated:
    """A lemma as stated by its author, with its name in the text."""

    name: str
    statement: str


@dataclass(frozen=True)
class Version:
    """A state of the library's solutions. A change of a solution also saves its problem, which updates `changed`."""

    solutions: int
    newest: int
    changed: datetime | None


def library_version() -> Version:
    """The current state of the library, from one query."""
    found = ReferenceSolution.objects.aggregate(solutions=Count("pk"), newest=Max("pk"), changed=Max("problem__updated_at"))
    return Version(found["solutions"], found["newest"] or 0, found["changed"])


class TheoremIndex:
    """BM25 index over names and statements. One per process; thread-safe."""

    def __init__(self, lemmas_in: Callable[[str], Iterable[Stated]], most: int = MOST_SOLUTIONS) -> None:
        self._lemmas_in = lemmas_in
        self._most = most
        self._lock = threading.Lock()
        self._database: sqlite3.Connection | None = None
        self._version: Version | None = None
        self._read: dict[str, tuple[Stated, ...]] = {}

    def search(self, words: Iterable[str], *, without: Iterable[int], top: int) -> list[tuple[str, str, float]]:
        """Name, statement and rank (lower is better) of the `top` best lemmas, except those of the problems `without`."""
        asked = " OR ".join(f'"{word}"' for word in words)
        with self._lock:
            database = self._current()
            return database.execute(
                "SELECT name, statement, bm25(stated) FROM stated WHERE stated MATCH ?"
                " AND problem NOT IN (SELECT value FROM json_each(?)) ORDER BY 3 LIMIT ?",
                (asked, json.dumps(list(without)), top),
            ).fetchall()

    def _current(self) -> sqlite3.Connection:
        """The index of the current library, rebuilt if its version changed."""
        version = library_version()
        if self._database is None or version != self._version:
            fresh = self._build()
            if self._database is not None:
                self._database.close()
            self._database, self._version = fresh, version
        return self._database

    def _build(self) -> sqlite3.Connection:
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
