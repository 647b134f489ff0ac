"""Each row of a file is imported or skipped with a clear reason."""

import json
from typing import Any

import pytest

from apps.files.tables import FileWrong
from apps.problems.importing.plans import plan_make
from apps.problems.models import Problem
from tests.problems.factory import csv_file, jsonl, make_problem

pytestmark = pytest.mark.django_db
HEADING = ["title", "topic", "statement", "answer"]
GOOD = {"title": "Good", "topic": "A", "statement": "Prove $1=1$."}


def refusals(data: bytes) -> list[tuple[int, str]]:
    return [(int(row.where), row.reason) for row in plan_make(data).wrong]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"statement": "  "}, "statement is empty"),
        ({"statement": None}, "statement is empty"),
        ({"title": ""}, "title is empty"),
        ({"statement": "null"}, "value of statement is “null”"),
        ({"answer": "None"}, "value of answer is “None”"),
        ({"source": "nan"}, "value of source is “nan”"),
        ({"answer": float("nan")}, "value of answer is “nan”"),
        ({"topic": "Calculus"}, "Unknown topic “Calculus”"),
        ({"topic": ""}, "topic is missing"),
        ({"statement": "x" * 20_001}, "20,001 characters"),
        ({"title": "x" * 201}, "limit is 200"),
        ({"year": "soon"}, "“soon” is not a year"),
        ({"year": 0}, "“0” is not a year"),
        ({"year": True}, "not text"),
        ({"statement": ["a"]}, "not text"),
        ({"solutions": "a text"}, "list of objects"),
        ({"solutions": [{"approach": "a", "text": ""}]}, "no text"),
        ({"solutions": [{"text": "x" * 100_001}]}, "reference solution has"),
        ({"solutions": [{"text": "x"}] * 13}, "13 reference solutions"),
        ({"hints": "a text"}, "list of texts"),
        ({"hints": ["a", 1]}, "list of texts"),
        ({"hints": ["a", " ", "c"]}, "Hints open in their order"),
        ({"hint_2": "b"}, "Hints open in their order"),
        ({"hints": ["a"] * 4}, "4 hints"),
        ({"hints": ["x" * 2001]}, "hint has 2,001"),
        ({"statment": "typo"}, "Unknown field statment"),
        ({"statement": "a\u0000b"}, "NUL"),
        ({"statement": "a\ud800b"}, "surrogate"),
    ],
)
def test_an_invalid_record_is_skipped_and_a_valid_one_is_kept(changes: dict[str, Any], words: str) -> None:
    plan = plan_make(jsonl({**GOOD, "title": "First", "statement": "Another."}, {**GOOD, **changes}))
    assert [int(row.where) for row in plan.good] == [1]
    assert [int(row.where) for row in plan.wrong] == [2]
    assert words in plan.wrong[0].reason


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"title": "x"', "Invalid JSON"),
        ("[1, 2]", "not an object"),
        ("title,topic", "Invalid JSON"),
        ('{"year": ' + "9" * 5000 + "}", "too long"),
        ('{"a": ' + "[" * 100_000, "JSON"),
    ],
)
def test_an_invalid_line_does_not_stop_reading(line: str, words: str) -> None:
    plan = plan_make(jsonl(GOOD, line, "", {**GOOD, "title": "Next", "statement": "Next."}))
    assert [int(row.where) for row in plan.good] == [1, 4]
    assert words in plan.wrong[0].reason


def test_shifted_columns_are_named() -> None:
    bench = ["Problem ID", "Problem", "Short Answer", "Category", "Subcategory", "Source"]
    rows = [["x-1", "Find $x$,3", "Algebra", "Inequality", "IMO"], ["x-2", "Find $y$,3", "Algebra", "Inequality", "IMO", ""]]
    (first, second) = refusals(csv_file(bench, *rows, ["x-3", "Find $z$.", "3", "Algebra", "Inequality", "IMO"]))
    assert first[0] == 1
    assert "5 cells for 6 columns" in first[1]
    assert "Short Answer contains “Algebra” and Category contains “Inequality”" in second[1]


def test_duplicates_within_the_file_name_the_earlier_row() -> None:
    rows = [["One", "A", "Prove  $1=1$."], ["Two", "A", "Prove $1=1$."], ["Three", "A", "Prove $1=2$."]]
    assert refusals(csv_file(HEADING[:3], *rows)) == [(2, "Same statement as row 1 of this file.")]
    same_id = jsonl({**GOOD, "slug": "one"}, {**GOOD, "slug": "one", "statement": "Other."})
    assert refusals(same_id) == [(2, "Same id as row 1 of this file.")]


def test_duplicates_in_the_library_are_named() -> None:
    problem = make_problem("Two squares")
    by_text, by_slug = {**GOOD, "statement": problem.current.statement}, {**GOOD, "slug": "two-squares", "title": "Else"}
    assert refusals(jsonl(by_text, by_slug)) == [
        (1, "Already in the library: “Two squares” has the same statement."),
        (2, "Already in the library: “Two squares” has the same id."),
    ]


def test_the_refusal_explains_how_to_add_a_duplicate_outside_the_library() -> None:
    problem = make_problem("Two squares")
    Problem.objects.filter(pk=problem.pk).update(is_listed=False)
    by_text, by_slug = {**GOOD, "statement": problem.current.statement}, {**GOOD, "slug": "two-squares", "title": "Else"}
    way_in = "Use the button on its page to add it."
    assert refusals(jsonl(by_text, by_slug)) == [
        (1, f"“Two squares” outside the library has the same statement. {way_in}"),
        (2, f"“Two squares” outside the library has the same id. {way_in}"),
    ]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b" \n \n", "empty"),
        (b"title,topic,statement\n", "no rows"),
        ("title,topic,statement\nΓ,A,x".encode("iso-8859-7"), "Line 2 is not in UTF-8"),
        (b"PK\x03\x04rest of a workbook", "not a text file"),
        (b"just a sentence", "neither CSV"),
        (b"name,age\nx,3\n", "Unknown columns"),
        (b"title,statement\nx,y\n", "missing: topic"),
        (b"title,topic,statement,statment\na,A,b,c\n", "Unknown columns: statment"),
        (b"title,topic,title,statement\na,A,b,c\n", "Duplicate columns in the header: title"),
        (b'[{"title": "x"}]', "JSON list"),
        (b'{"title"\n{"x"\n', "No line is a JSON object"),
    ],
)
def test_an_unusable_file_is_refused(data: bytes, words: str) -> None:
    with pytest.raises(FileWrong, match=words):
        plan_make(data)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_spreadsheets_of_all_kinds_are_read(delimiter: str, encoding: str) -> None:
    data = csv_file(HEADING, ["Größe", "Number Theory", 'Say "a, b; c"\r\nand more', "3"], delimiter=delimiter)
    (row,) = plan_make(data.decode().encode(encoding)).good
    assert (row.draft.title, row.draft.topic, row.draft.statement) == ("Größe", "N", 'Say "a, b; c"\nand more')


def test_an_unclosed_quotation_mark_keeps_the_rows_before_it() -> None:
    data = csv_file(HEADING, ["One", "A", "First.", ""]) + b'Two,A,"never closed,\nThree,A,x,\n'
    plan = plan_make(data)
    assert [row.draft.title for row in plan.good] == ["One"]
    assert "shifted" in plan.wrong[0].reason


def test_unknown_columns_of_a_bench_shape_are_listed() -> None:
    record = {"Problem ID": "1", "Problem": "Find it.", "Short Answer": 3, "Category": "Algebra", "Extra": "?"}
    plan = plan_make(json.dumps(record).encode())
    assert (plan.left_out, plan.good[0].draft.answer) == (["Extra"], "3")
