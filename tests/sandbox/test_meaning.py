"""The dense half of the search: correct vectors where the model is installed, and a working search where it is not."""

import sqlite3
from pathlib import Path

import pytest

from apps.reasoning.domain.tools import SearchHit, SearchJob
from workers.library import meaning
from workers.library.embedding import MOST_TOKENS, model_folder, sentence_model

FOLDER = model_folder()
installed = pytest.mark.minilm


def _hits(*scores: float) -> list[SearchHit]:
    return [SearchHit(library="math", name=f"n{at}", text="", score=score) for at, score in enumerate(scores)]


def test_without_vectors_the_lexical_order_is_kept() -> None:
    assert meaning.fused(_hits(3.0, 2.0), {}) == _hits(3.0, 2.0)


def test_both_rankings_count_and_common_hits_are_first() -> None:
    found = meaning.fused(_hits(3.0, 2.0, 0.0), {"n1": 0, "n2": 1})
    assert [hit.name for hit in found] == ["n1", "n0", "n2"]
    assert found[0].score > found[1].score


def test_without_a_model_no_vectors_are_stored_or_found(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "file") as database:
        meaning.store(database, None)
        assert meaning.nearest(database, tmp_path / "file", SearchJob(query="gcd"), None) == {}


@installed
def test_similarities_match_the_model_card() -> None:
    assert FOLDER is not None
    texts = ["That is a happy person", "That is a happy dog", "That is a very happy person", "Today is a sunny day"]
    vectors = sentence_model(FOLDER).vectors(texts)
    assert [round(float(vectors[0] @ vector), 3) for vector in vectors] == [1.0, 0.695, 0.943, 0.257]


@installed
def test_a_vector_is_independent_of_its_batch_and_long_texts_are_cut() -> None:
    assert FOLDER is not None
    model = sentence_model(FOLDER)
    alone, among = model.vectors(["roots of a polynomial"]), model.vectors(["x", "roots of a polynomial", "a " * 500])
    assert float(alone[0] @ among[1]) == pytest.approx(1.0, abs=1e-4)
    assert len(model.tokens("word " * 500)) == MOST_TOKENS
