"""Every file of the sample library has all of its parts, and its marking scheme adds up."""

from collections import Counter
from pathlib import Path

import pytest

from tests.problems_sample.library import FILES, FIRST_STEPS, read_problem, read_scheme

every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
KEYS = {"slug", "title", "topic", "source", "year", "level", "answer"}


def test_the_library_covers_the_four_topics() -> None:
    topics = Counter(read_problem(path).header["topic"] for path in FILES)
    assert len(FILES) >= 15
    assert set(topics) == {"A", "C", "G", "N"}
    assert min(topics.values()) >= 4


def test_slugs_and_titles_are_unique() -> None:
    headers = [read_problem(path).header for path in FILES]
    assert len({header["slug"] for header in headers}) == len(FILES)
    assert len({header["title"] for header in headers}) == len(FILES)


def test_at_least_five_problems_have_a_second_solution() -> None:
    assert sum(len(read_problem(path).solutions) >= 2 for path in FILES) >= 5


@every_file
def test_the_header_is_complete(path: Path) -> None:
    header = read_problem(path).header
    assert KEYS - {"year"} <= set(header) <= KEYS
    assert header["slug"] == path.stem
    assert header["title"]
    assert header["source"]
    assert header["level"]
    assert isinstance(header.get("year", 1), int)


@every_file
def test_statement_and_solutions_are_written_out(path: Path) -> None:
    problem = read_problem(path)
    is_easy = path in FIRST_STEPS
    assert len(problem.statement) >= (60 if is_easy else 100)
    assert problem.solutions
    for approach, text in problem.solutions.items():
        assert len(text) >= (400 if is_easy else 600), approach
        assert r"\blacksquare" in text[-20:], approach


@every_file
def test_every_chain_of_the_scheme_comes_to_seven(path: Path) -> None:
    scheme = read_scheme(read_problem(path).scheme_text)
    assert scheme.names.keys() == scheme.items.keys()
    assert list(scheme.names) == list("ABCDEF"[: len(scheme.names)])
    assert {chain: sum(points) for chain, points in scheme.items.items()} == dict.fromkeys(scheme.names, 7)


@every_file
def test_the_scheme_names_zero_credit_deductions_and_caps(path: Path) -> None:
    scheme = read_scheme(read_problem(path).scheme_text)
    assert scheme.zeros
    assert scheme.deductions
    assert all(0 < cap < 7 for cap in scheme.caps)
    assert scheme.caps


@pytest.mark.parametrize(
    "text",
    [
        "- A1 (2) An item before its chain.",
        "**Chain A: numbers**\n- A2 (2) The first item has number two.",
        "**Chain A: numbers**\n- A1 (2) First.\n- A2 (5) The plus sign is missing.",
        "**Chain A: numbers**\n- B1 (2) An item of another chain.",
        "**Chain A: numbers**\nFree text.",
        "- Deduct -1: a hyphen instead of a minus sign.",
    ],
)
def test_a_scheme_with_a_malformed_line_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        read_scheme(text)


@pytest.mark.parametrize(
    "text",
    [
        "No header.\n+++\n+++\n## Statement\n## Hints\n## Marking scheme\n",
        "+++\n+++\n## Statement\nOnly a statement.\n",
        "+++\n+++\n## Statement\n## Marking scheme\n",
        "+++\n+++\n## Statement\n## Hints\n## Marking scheme\n## Remarks\n",
        "+++\n+++\n## Statement\n## Statement\n## Hints\n## Marking scheme\n",
        "+++\n+++\nText.\n## Statement\n## Hints\n## Marking scheme\n",
    ],
)
def test_a_file_with_wrong_parts_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "wrong.md"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError):
        read_problem(path)
