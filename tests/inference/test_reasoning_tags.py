"""Reasoning between tags in the text is separated, however the stream is cut into pieces."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from apps.reasoning.inference.reasoning_tags import TagSplitter

TAGS = ("<think>", "</think>")


def _split(pieces: list[str], *, opened: bool = False) -> tuple[str, str]:
    splitter = TagSplitter(TAGS, opened=opened)
    found = [splitter.push(piece) for piece in pieces] + [splitter.close()]
    return "".join(piece.text for piece in found), "".join(piece.reasoning for piece in found)


def test_reasoning_is_separated_from_the_answer() -> None:
    assert _split(["<think>Hm, 3 < 4.</think>\n\nThe answer."]) == ("The answer.", "Hm, 3 < 4.")


def test_reasoning_that_the_prompt_opened_ends_at_the_closing_tag() -> None:
    assert _split(["Hm.</think>Yes."], opened=True) == ("Yes.", "Hm.")


def test_reasoning_cut_off_by_the_limit_is_all_reasoning() -> None:
    assert _split(["<think>I was still thin"]) == ("", "I was still thin")


def test_text_without_tags_is_text_and_a_broken_tag_is_shown() -> None:
    assert _split(["a < b and <thin"]) == ("a < b and <thin", "")


@given(st.text(alphabet="<think>/ ab\n", max_size=60), st.lists(st.integers(0, 60), max_size=8))
def test_where_the_stream_is_cut_makes_no_difference(text: str, cuts: list[int]) -> None:
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[start:end] for start, end in itertools.pairwise(places)]
    assert _split(pieces) == _split([text])
