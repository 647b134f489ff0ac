"""The dense half of the search: the model is read right where it is installed, and nobody misses it where it is not."""

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


def test_without_vectors_the_lexical_order_stands() -> None:
    assert meaning.fused(_hits(3.0, 2.0), {}) == _hits(3.0, 2.0)


def test_both_orders_count_and_what_both_find_comes_first() -> None:
    found = meaning.fused(_hits(3.0, 2.0, 0.0), {"n1": 0, "n2": 1})
    assert [hit.name for hit in found] == ["n1", "n0", "n2"]
    assert found[0].score > found[1].score


def test_without_a_model_nothing_is_stored_and_nothing_is_near(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "file") as database:
        meaning.store(database, None)
        assert meaning.nearest(database, tmp_path / "file", SearchJob(query="gcd"), None) == {}


@installed
def test_sentences_are_as_near_as_the_model_card_says() -> None:
    assert FOLDER is not None
    texts = ["That is a happy person", "That is a happy dog", "That is a very happy person", "Today is a sunny day"]
    vectors = sentence_model(FOLDER).vectors(texts)
    assert [round(float(vectors[0] @ vector), 3) for vector in vectors] == [1.0, 0.695, 0.943, 0.257]


@installed
def test_a_vector_does_not_depend_on_its_neighbours_and_long_texts_are_cut() -> None:
    assert FOLDER is not None
    model = sentence_model(FOLDER)
    alone, among = model.vectors(["roots of a polynomial"]), model.vectors(["x", "roots of a polynomial", "a " * 500])
    assert float(alone[0] @ among[1]) == pytest.approx(1.0, abs=1e-4)
    assert len(model.tokens("word " * 500)) == MOST_TOKENS
