"""Builds and searches the index: overlapping passages in a full-text table, ranked by BM25 with names above texts.

Source: AlphaApollo App. B.2 (overlapping windows). The lexical half needs only SQLite.
"""

import difflib
import json
import re
import sqlite3
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

from apps.reasoning.domain.tools import SearchHit, SearchJob
from apps.reasoning.reading.turns.actions import LIBRARIES
from workers.library import meaning
from workers.library.embedding import model_folder

FILE = "documentation.sqlite3"
WINDOW, STEP = 140, 100
_MOST_PASSAGES = 12
_WITHIN_S = 600
_WORD = re.compile(r"[A-Za-z0-9]+")
_STOP = frozenset(
    """a an and any are as at be by can do does for from get give given how i in into is it its make me my of on or python
    should that the this to up use using value values want what when which with without you your""".split()  # noqa: SIM905 - a list of this many words is harder to read
)
_SCHEMA = """
CREATE VIRTUAL TABLE passage USING fts5(name, text, library UNINDEXED, signature UNINDEXED, tokenize = 'porter unicode61');
CREATE TABLE made_of (packages TEXT NOT NULL);
CREATE TABLE meaning (name TEXT PRIMARY KEY, vector BLOB NOT NULL);
"""
_NAME_WEIGHT, _TEXT_WEIGHT = 4.0, 1.0
#: Penalty of a name for each level of nesting: people import from the top.
_DEPTH_PENALTY = 1.2
_LOOKED_AT = 200
_BY_NAME = "SELECT library, signature, text FROM passage WHERE name = ? LIMIT 1"
_NO_SUCH = re.compile(r"has no attribute '(\w+)'|cannot import name '(\w+)'")


class NoIndex(Exception):
    """There is no index to search. The message says how to build it."""


def build(environment: Path) -> int:
    """Rebuild the index of an environment, in its folder. Returns the number of passages.

    Raises `subprocess.SubprocessError` or `OSError` if its interpreter does not run.
    """
    script = Path(__file__).with_name("collect.py")
    done = subprocess.run(  # noqa: S603 - the installation's own environment and our script
        [environment / "bin" / "python", "-I", script, *LIBRARIES],
        capture_output=True,
        text=True,
        check=True,
        timeout=_WITHIN_S,
    )
    fresh = environment / f"{FILE}.new"
    fresh.unlink(missing_ok=True)
    with closing(sqlite3.connect(fresh)) as database, database:
        database.executescript(_SCHEMA)
        database.executemany(
            "INSERT INTO passage (name, text, library, signature) VALUES (?, ?, ?, ?)", _rows(done.stdout.splitlines())
        )
        database.execute("INSERT INTO made_of VALUES (?)", (packages(environment),))
        meaning.store(database, model_folder())
        database.execute("INSERT INTO passage(passage) VALUES ('optimize')")
        count = int(database.execute("SELECT count(*) FROM passage").fetchone()[0])
    fresh.replace(environment / FILE)
    return count


def packages(environment: Path) -> str:
    """The packages of an environment with their versions, as one line."""
    found = environment.glob("lib/python*/site-packages/*.dist-info")
    return " ".join(sorted(path.name.removesuffix(".dist-info") for path in found))


def is_fresh(environment: Path) -> bool:
    """Whether there is an index of the packages that are installed now."""
    path = environment / FILE
    if not path.exists():
        return False
    with closing(_opened(path)) as database:
        row = database.execute("SELECT packages FROM made_of").fetchone()
    return row is not None and row[0] == packages(environment)


def search(environment: Path, job: SearchJob) -> list[SearchHit]:
    """The nearest passages, one for each name. Raises `NoIndex`."""
    path = environment / FILE
    if not path.exists():
        raise NoIndex("There is no index of the documentation, so it cannot be searched. Run `make sandbox` to build it.")
    words = terms(job.query)
    if not words:
        return []
    match = " OR ".join(f'"{word}"' for word in words)
    where, values = ("AND library = ?", [job.library]) if job.library else ("", [])
    statement = (
        f"SELECT library, name, signature, text, bm25(passage, {_NAME_WEIGHT}, {_TEXT_WEIGHT}) AS rank FROM passage "  # noqa: S608
        f"WHERE passage MATCH ? {where} ORDER BY rank LIMIT ?"
    )
    with closing(_opened(path)) as database:
        rows = database.execute(statement, [match, *values, _LOOKED_AT]).fetchall()
        best = _best_of_each_name([*rows, *_misspelt(database, job)])
        near = meaning.nearest(database, path, job, model_folder())
        for name in near.keys() - best.keys():
            library, signature, text = database.execute(_BY_NAME, (name,)).fetchone()
            best[name] = SearchHit(library=library, name=name, signature=signature, text=text, score=0.0)
    lexical = sorted(best.values(), key=lambda hit: (-hit.score, hit.name))
    return meaning.fused(lexical, near)[: job.top]


def _best_of_each_name(rows: Iterable[tuple[str, str, str, str, float]]) -> dict[str, SearchHit]:
    best: dict[str, SearchHit] = {}
    for library, name, signature, text, rank in rows:
        score = -rank - _DEPTH_PENALTY * max(0, name.count(".") - 1)
        if name not in best or best[name].score < score:
            best[name] = SearchHit(library=library, name=name, signature=signature, text=text, score=score)
    return best


def _misspelt(database: sqlite3.Connection, job: SearchJob) -> list[tuple[str, str, str, str, float]]:
    """Rows of the names most similar to a missing name in an error message, ranked above all other hits."""
    wrong = _NO_SUCH.search(job.query)
    if wrong is None:
        return []
    name = wrong.group(1) or wrong.group(2)
    library = job.library or next((one for one in LIBRARIES if re.search(rf"\b{one}\b", job.query)), "")
    known = database.execute("SELECT DISTINCT name FROM passage WHERE ? IN ('', library)", (library,)).fetchall()
    last: dict[str, list[str]] = {}
    for (dotted,) in known:
        last.setdefault(dotted.rpartition(".")[2], []).append(dotted)
    like = difflib.get_close_matches(name, last, n=3, cutoff=0.6)
    found = [min(last[each], key=len) for each in like]
    statement = "SELECT library, name, signature, text FROM passage WHERE name = ? LIMIT 1"
    rows = [database.execute(statement, (each,)).fetchone() for each in found]
    return [(*row, -100.0 + place) for place, row in enumerate(rows)]


def terms(query: str) -> list[str]:
    """The words of a query that are worth searching, without duplicates."""
    words = dict.fromkeys(word.lower() for word in _WORD.findall(query))
    return [word for word in words if word not in _STOP and len(word) > 1] or list(words)


def passages(text: str) -> Iterator[str]:
    """Overlapping windows of words, so that text at a border is complete in one of them. Line breaks are kept."""
    pieces = re.findall(r"\S+\s*", text)
    for number, start in enumerate(range(0, max(1, len(pieces)), STEP)):
        if number == _MOST_PASSAGES or (start and start + WINDOW - STEP >= len(pieces)):
            return
        yield "".join(pieces[start : start + WINDOW]).strip()


def _rows(lines: Iterable[str]) -> Iterator[tuple[str, str, str, str]]:
    for line in lines:
        found = json.loads(line)
        for passage in passages(found["text"]):
            yield found["name"], passage, found["library"], found["signature"]


def _opened(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
