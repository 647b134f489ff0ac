"""A text that streams is drawn as sealed blocks and a live tail; at every moment this equals the whole text drawn at once."""

from tests.maths.corpus import WRITTEN, long_texts, random_texts
from tests.node import run_script


def test_sealed_and_tail_equal_the_full_render_for_every_prefix() -> None:
    answer = run_script("check_blocks.mjs", {"exhaustive": [*WRITTEN, *random_texts(400)], "sampled": []})

    assert answer["found"] == []


def test_sealed_and_tail_equal_the_full_render_of_long_texts_in_random_pieces() -> None:
    texts = [*long_texts(), "\n\n".join(WRITTEN), *random_texts(300, seed=11)]

    answer = run_script("check_blocks.mjs", {"exhaustive": [], "sampled": texts})

    assert answer["found"] == []


def test_the_tail_stays_short_without_blank_lines() -> None:
    answer = run_script("check_blocks.mjs", {"exhaustive": [], "sampled": long_texts()})

    assert answer["longestTail"] < 17_000
