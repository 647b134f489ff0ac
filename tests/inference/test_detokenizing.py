"""Tokens to text: no partial characters and no stop strings."""

from hypothesis import given
from hypothesis import strategies as st

from workers.engines.detokenize import TextStream, TokenTable

BYTES = TokenTable({bytes([value]): value for value in range(256)} | {b"<|im_end|>": 256}, special={256})


def _pieces(stream: TextStream, text: str) -> list[str]:
    return [stream.push([byte]) for byte in text.encode()] + [stream.close()]


def test_a_character_appears_with_its_last_byte() -> None:
    assert _pieces(TextStream(BYTES), "a∑b") == ["a", "", "", "∑", "b", ""]


def test_a_broken_last_character_becomes_the_replacement_character() -> None:
    stream = TextStream(BYTES)
    assert stream.push(list("∑".encode()[:2])) == ""
    assert stream.close() == "�"


def test_special_and_unknown_tokens_have_no_text() -> None:
    assert TextStream(BYTES).push([65, 256, 9999, 66]) == "AB"


def test_a_possible_beginning_of_a_stop_string_is_held_back() -> None:
    stream = TextStream(BYTES, stop=("END", "STOP"))
    assert [stream.push([byte]) for byte in b"aENx"] == ["a", "", "", "ENx"]
    assert [stream.push([byte]) for byte in b"bSTOPc"] == ["b", "", "", "", "", ""]
    assert stream.stopped
    assert stream.close() == ""


def test_a_held_tail_is_returned_at_the_end() -> None:
    stream = TextStream(BYTES, stop=("END",))
    assert "".join(_pieces(stream, "the EN")) == "the EN"
    assert not stream.stopped


@given(st.text(alphabet="ab∑", max_size=40), st.lists(st.text(alphabet="ab∑", min_size=1, max_size=4), max_size=3))
def test_the_shown_text_ends_before_the_first_stop_string(text: str, stops: list[str]) -> None:
    stream = TextStream(BYTES, stops)
    shown = ""
    for byte in text.encode():
        shown += stream.push([byte])
        if stream.stopped:
            break
    shown += stream.close()
    ends = [text.find(stop) + len(stop) for stop in stops if stop in text]
    if not ends:
        assert shown == text
    else:
        first = min(ends)
        assert text[:first].startswith(shown)
        assert any(text[:first] == shown + stop or text[len(shown) :].startswith(stop) for stop in stops)
