"""No file has the words that docs/english.md replaces, and documents have short sentences."""

import pytest

from tests.architecture import prose

#: Words of the guide's list that are left in the whole repository.
MOST_EXCEPTIONS = 50


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


@pytest.fixture(scope="module")
def found() -> list[prose.Found]:
    return prose.words_found()


def test_no_file_has_those_words_without_an_exception(found: list[prose.Found]) -> None:
    new = [f"{one.path}:{one.line}: {one.word}: {prose.WORDS[one.word]}" for one in found if not prose.is_allowed(one)]
    assert new == [], "see docs/english.md"


def test_every_exception_has_a_reason_and_is_needed(found: list[prose.Found]) -> None:
    for exception in prose.ALLOWED:
        assert exception["reason"]
        assert any(prose.allows(exception, one) for one in found), f"remove {exception}"


def test_exceptions_are_few(found: list[prose.Found]) -> None:
    texts_of_others = [one for one in prose.ALLOWED if "path" in one]
    assert len([one for one in found if not any(prose.allows(path, one) for path in texts_of_others)]) < MOST_EXCEPTIONS


def test_an_exception_covers_its_passage_or_path_only() -> None:
    passage, folder = {"text": "/told"}, {"path": "tests/graders"}
    assert prose.allows(passage, prose.Found("a.py", 1, "told", 'key = "x/told"'))
    assert not prose.allows(passage, prose.Found("a.py", 1, "told", "It told us."))
    assert not prose.allows(passage, prose.Found("a.py", 1, "nobody", 'nobody = "x/told"'))
    assert prose.allows(folder, prose.Found("tests/graders/a.py", 1, "told", "It told us."))
    assert not prose.allows(folder, prose.Found("tests/graders_b/a.py", 1, "told", "It told us."))


@pytest.mark.parametrize("document", [*prose.documents()])
def test_a_document_has_short_sentences(document: str) -> None:
    assert prose.mean_sentence((prose.ROOT / document).read_text(encoding="utf-8")) <= prose.LONGEST_MEAN
