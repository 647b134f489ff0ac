"""The dense half of the search: vectors of names with their first sentences, joined with the lexical hits by reciprocal ranks.

It needs the embedding model when the index is built and when it is searched. Without the model, searches are lexical.
"""

import functools
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from apps.reasoning.domain.tools import SearchHit, SearchJob
from workers.library.embedding import sentence_model

if TYPE_CHECKING:
    from workers.library.embedding import Vectors

_OF_EACH = 300
_NEAREST = 40
#: The constant of reciprocal rank fusion (Cormack and others, 2009).
_FUSION = 60.0


def store(database: sqlite3.Connection, model: Path | None) -> None:
    """Store one vector for each name; nothing without a model."""
    if model is None:
        return
    import numpy as np

    found = database.execute("SELECT name, min(rowid), text FROM passage GROUP BY name").fetchall()
    texts = [f"{name.rpartition('.')[2]}: {text[:_OF_EACH]}" for name, _, text in found]
    vectors = sentence_model(model).vectors(texts).astype(np.float16)
    rows = ((name, vector.tobytes()) for (name, *_), vector in zip(found, vectors, strict=True))
    database.executemany("INSERT INTO meaning VALUES (?, ?)", rows)


def nearest(database: sqlite3.Connection, path: Path, job: SearchJob, model: Path | None) -> dict[str, int]:
    """The names nearest to the query, each with its rank from 0; empty without vectors or a model."""
    if model is None:
        return {}
    names, vectors = _known(path, path.stat().st_mtime_ns, job.library)
    if not names:
        return {}
    scores = vectors @ sentence_model(model).vectors([job.query])[0]
    order = sorted(range(len(names)), key=lambda at: -scores[at])[:_NEAREST]
    return {names[at]: place for place, at in enumerate(order)}


def fused(lexical: Sequence[SearchHit], near: Mapping[str, int]) -> list[SearchHit]:
    """The hits ordered by reciprocal rank fusion, with its scores. Without dense ranks, the lexical hits unchanged."""
    if not near:
        return list(lexical)

    def score(place: int, hit: SearchHit) -> float:
        by_words = 1 / (_FUSION + place) if hit.score > 0 else 0.0
        return by_words + (1 / (_FUSION + near[hit.name]) if hit.name in near else 0.0)

    scored = [hit.model_copy(update={"score": score(place, hit)}) for place, hit in enumerate(lexical)]
    return sorted(scored, key=lambda hit: -hit.score)


@functools.lru_cache(maxsize=16)
def _known(path: Path, _made_at: int, library: str) -> "tuple[list[str], Vectors]":
    """The vectors of an index file, cached by its modification time."""
    import numpy as np

    statement = "SELECT name, vector FROM meaning WHERE ? = '' OR name = ? OR name LIKE ? || '.%'"
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as database:
        rows = database.execute(statement, (library, library, library)).fetchall()
    data = b"".join(vector for _, vector in rows)
    return [name for name, _ in rows], np.frombuffer(data, dtype=np.float16).reshape(len(rows), -1).astype(np.float32)
