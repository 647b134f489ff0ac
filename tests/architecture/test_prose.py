"""The check of our English finds the words that docs/english.md replaces and counts the words of sentences."""

import pytest

from tests.architecture import prose


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("Nobody is told of it.", ["nobody", "told"]),
        ("def what_is_told(): ...", ["told"]),
        ("const isNobodyHere = 1", ["nobody"]),
        ("It was so\u00a0many.", ["so many"]),
        ("The threshold of household goods is understandable.", []),
    ],
)
def test_words_are_found_in_prose_and_in_identifiers(line: str, words: list[str]) -> None:
    assert prose.words_in(line) == words


def test_headings_tables_and_code_are_no_sentences() -> None:
    unread = "# A heading of five words\n\n| a | table |\n\n```\ncode code code\n```\n"
    text = f"{unread}One two three. Four `five six`!\n\n- Seven eight nine ten."
    assert prose.mean_sentence(text) == pytest.approx((3 + 2 + 4) / 3)
    assert prose.mean_sentence("# Nothing") == 0


def test_every_exception_has_a_reason_and_a_file() -> None:
    for one in prose.ALLOWED:
        assert one["reason"]
        assert (prose.ROOT / one["path"]).exists()
        assert one.get("word") in (None, *prose.WORDS)


@pytest.mark.parametrize("document", [*prose.documents()])
def test_a_document_has_short_sentences_and_none_of_those_words(document: str) -> None:
    assert [str(one) for one in prose.words_found([document])] == []
    assert prose.mean_sentence((prose.ROOT / document).read_text(encoding="utf-8")) <= prose.LONGEST_MEAN
