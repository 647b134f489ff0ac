"""Every row of a file is either taken or refused for a reason that a person understands."""

import json
from typing import Any

import pytest

from apps.problems.importing.files import FileWrong
from apps.problems.importing.plans import plan_make
from apps.problems.models import Problem
from tests.problems.factory import csv_file, jsonl, make_problem

pytestmark = pytest.mark.django_db
HEADING = ["title", "topic", "statement", "answer"]
GOOD = {"title": "Good", "topic": "A", "statement": "Prove $1=1$."}


def refusals(data: bytes) -> list[tuple[int, str]]:
    return [(row.number, row.reason) for row in plan_make(data).wrong]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"statement": "  "}, "statement is empty"),
        ({"statement": None}, "statement is empty"),
        ({"title": ""}, "title is empty"),
        ({"statement": "null"}, "“null” stands as text under statement"),
        ({"answer": "None"}, "“None” stands as text under answer"),
        ({"source": "nan"}, "“nan” stands as text under source"),
        ({"answer": float("nan")}, "“nan” stands under answer"),
        ({"topic": "Calculus"}, "Unknown topic “Calculus”"),
        ({"topic": ""}, "no topic"),
        ({"statement": "x" * 20_001}, "20,001 characters"),
        ({"title": "x" * 201}, "at most 200"),
        ({"year": "soon"}, "“soon” is not a year"),
        ({"year": 0}, "“0” is not a year"),
        ({"year": True}, "not text"),
        ({"statement": ["a"]}, "not text"),
        ({"solutions": "a text"}, "list of objects"),
        ({"solutions": [{"approach": "a", "text": ""}]}, "no text"),
        ({"solutions": [{"text": "x" * 100_001}]}, "reference solution has"),
        ({"solutions": [{"text": "x"}] * 13}, "13 reference solutions"),
        ({"statment": "typo"}, "Unknown field statment"),
        ({"statement": "a\u0000b"}, "NUL"),
        ({"statement": "a\ud800b"}, "surrogate"),
    ],
)
def test_a_wrong_record_is_refused_beside_a_good_one(changes: dict[str, Any], words: str) -> None:
    plan = plan_make(jsonl({**GOOD, "title": "First", "statement": "Another."}, {**GOOD, **changes}))
    assert [row.number for row in plan.good] == [1]
    assert [row.number for row in plan.wrong] == [2]
    assert words in plan.wrong[0].reason


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"title": "x"', "not JSON"),
        ("[1, 2]", "not an object"),
        ("title,topic", "not JSON"),
        ('{"year": ' + "9" * 5000 + "}", "too long"),
        ('{"a": ' + "[" * 100_000, "JSON"),
    ],
)
def test_a_bad_line_is_refused_and_the_next_is_read(line: str, words: str) -> None:
    plan = plan_make(jsonl(GOOD, line, "", {**GOOD, "title": "Next", "statement": "Next."}))
    assert [row.number for row in plan.good] == [1, 4]
    assert words in plan.wrong[0].reason


def test_shifted_columns_are_called_by_name() -> None:
    bench = ["Problem ID", "Problem", "Short Answer", "Category", "Subcategory", "Source"]
    rows = [["x-1", "Find $x$,3", "Algebra", "Inequality", "IMO"], ["x-2", "Find $y$,3", "Algebra", "Inequality", "IMO", ""]]
    (first, second) = refusals(csv_file(bench, *rows, ["x-3", "Find $z$.", "3", "Algebra", "Inequality", "IMO"]))
    assert first[0] == 1
    assert "5 cells under 6 headings" in first[1]
    assert "“Algebra” stands under Short Answer and “Inequality” under Category" in second[1]


def test_duplicates_within_the_file_name_the_earlier_row() -> None:
    rows = [["One", "A", "Prove  $1=1$."], ["Two", "A", "Prove $1=1$."], ["Three", "A", "Prove $1=2$."]]
    assert refusals(csv_file(HEADING[:3], *rows)) == [(2, "It has the same statement as row 1 of this file.")]
    same_id = jsonl({**GOOD, "slug": "one"}, {**GOOD, "slug": "one", "statement": "Other."})
    assert refusals(same_id) == [(2, "It has the same id as row 1 of this file.")]


def test_what_the_library_has_is_named() -> None:
    problem = make_problem("Two squares")
    by_text, by_slug = {**GOOD, "statement": problem.current.statement}, {**GOOD, "slug": "two-squares", "title": "Else"}
    assert refusals(jsonl(by_text, by_slug)) == [
        (1, "The library has it already: “Two squares” has the same statement."),
        (2, "The library has it already: “Two squares” has the same id."),
    ]


def test_a_problem_outside_the_library_is_named_with_the_way_in() -> None:
    problem = make_problem("Two squares")
    Problem.objects.filter(pk=problem.pk).update(is_listed=False)
    by_text, by_slug = {**GOOD, "statement": problem.current.statement}, {**GOOD, "slug": "two-squares", "title": "Else"}
    way_in = "It is kept outside the library; its page has a button that puts it in."
    assert refusals(jsonl(by_text, by_slug)) == [
        (1, f"“Two squares” has the same statement. {way_in}"),
        (2, f"“Two squares” has the same id. {way_in}"),
    ]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b" \n \n", "empty"),
        (b"title,topic,statement\n", "no row"),
        ("title,topic,statement\nΓ,A,x".encode("iso-8859-7"), "Line 2 is not in UTF-8"),
        (b"PK\x03\x04rest of a workbook", "not a text file"),
        (b"just a sentence", "neither CSV"),
        (b"name,age\nx,3\n", "None of the columns is known"),
        (b"title,statement\nx,y\n", "lacks: topic"),
        (b"title,topic,statement,statment\na,A,b,c\n", "Unknown columns: statment"),
        (b"title,topic,title,statement\na,A,b,c\n", "column twice: title"),
        (b'[{"title": "x"}]', "JSON list"),
        (b'{"title"\n{"x"\n', "No line is a JSON object"),
    ],
)
def test_a_file_that_gives_nothing_is_refused_whole(data: bytes, words: str) -> None:
    with pytest.raises(FileWrong, match=words):
        plan_make(data)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_spreadsheets_of_all_kinds_are_read(delimiter: str, encoding: str) -> None:
    data = csv_file(HEADING, ["Größe", "Number Theory", 'Say "a, b; c"\r\nand more', "3"], delimiter=delimiter)
    (row,) = plan_make(data.decode().encode(encoding)).good
    assert (row.draft.title, row.draft.topic, row.draft.statement) == ("Größe", "N", 'Say "a, b; c"\nand more')


def test_an_unclosed_quotation_mark_does_not_take_the_good_rows_before_it() -> None:
    data = csv_file(HEADING, ["One", "A", "First.", ""]) + b'Two,A,"never closed,\nThree,A,x,\n'
    plan = plan_make(data)
    assert [row.draft.title for row in plan.good] == ["One"]
    assert "shifted" in plan.wrong[0].reason


def test_columns_that_a_bench_shape_does_not_know_are_told() -> None:
    record = {"Problem ID": "1", "Problem": "Find it.", "Short Answer": 3, "Category": "Algebra", "Extra": "?"}
    plan = plan_make(json.dumps(record).encode())
    assert (plan.left_out, plan.good[0].draft.answer) == (["Extra"], "3")
