"""What columns mean: guesses from header and cells, and what cannot be."""

import pytest

from apps.files.grids import grid_read
from apps.tables.columns import Column, Role, columns_fault, columns_guess, columns_json, columns_read, header_digest
from apps.tables.reading import rows_read


def guessed(text: str, labels: tuple[str, ...] = ()) -> list[tuple[str, str, str]]:
    return [(str(one.role), one.label, one.out_of) for one in columns_guess(grid_read(text.encode()), labels)]


def roles(text: str) -> list[str]:
    return [role for role, _, _ in guessed(text)]


@pytest.mark.parametrize(
    ("header", "cells", "expected"),
    [
        ("Name,School,User name,E-mail", "Anna,North,anna,a@b.org", ["name", "school", "username", "email"]),
        ("Vorname;Nachname;Schule;Gruppe", "Jörg;Müller;Nord;A", ["given", "family", "school", "group"]),
        ("Nom,École", "Curie,Sèvres", ["name", "school"]),
        ("author,problem,text,points,out_of", "Anna,1,Proof.,5,7", ["name", "problem", "text", "points", "out_of"]),
        (
            "Problem,Statement,Solution,Guidelines",
            "1,Show x.,By y.,A1 (3) z",
            ["problem", "statement", "reference", "guidelines"],
        ),
        ("Name,Problem,Solution", "Anna,1,My proof", ["name", "problem", "text"]),
        ("Name,Statement,Answer", "P1,Find x.,7", ["problem", "statement", "answer"]),
        ("Student,Problem,Mark,Marked by,Comment", "Anna,1,6,Bob,ok", ["name", "problem", "points", "marker", "remark"]),
        ("Name,Total,Rank", "Anna,21,1", ["name", "", ""]),
        ("Name,Contact", "Anna,anna@example.org", ["name", "email"]),
    ],
)
def test_common_headers_are_guessed(header: str, cells: str, expected: list[str]) -> None:
    assert roles(f"{header}\n{cells}\n") == expected


def test_the_columns_of_gradingbench_are_guessed() -> None:
    header = "Grading ID,Problem ID,Problem,Solution,Grading guidelines,Response,Points"
    statement = "Prove that there are infinitely many primes of this form."
    assert roles(f"{header}\nG1,PB-1,{statement},By X.,(Partial) 1. y,Let.,7\n") == [
        "name", "problem", "statement", "reference", "guidelines", "text", "points",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "cell", "expected"),
    [
        ("P1", "7", ("points_of", "1", "")),
        ("Problem 2 (7)", "6,5", ("points_of", "2", "7")),
        ("Aufgabe 3", "5/7", ("points_of", "3", "")),
        ("Q4 [10]", "-", ("points_of", "4", "10")),
        ("A3", "0", ("points_of", "A3", "")),
        ("P2 text", "7", ("text_of", "2", "")),
        ("P1", "Let n be even.", ("text_of", "1", "")),
    ],
)
def test_a_column_of_one_problem_is_recognised(name: str, cell: str, expected: tuple[str, str, str]) -> None:
    assert guessed(f"Name;{name}\nAnna;{cell}\n")[1] == expected


def test_the_title_of_a_problem_of_the_contest_is_a_column_of_it() -> None:
    assert guessed("Name,Sums of squares\nAnna,5\n", ("1", "Sums of squares"))[1] == ("points_of", "Sums of squares", "")
    assert guessed("Name,Sums of squares\nAnna,5\n")[1] == ("", "", "")


def test_a_meaning_is_guessed_only_once() -> None:
    assert roles("Name,Student,School\nAnna,Anna,North\n") == ["name", "", "school"]


def test_meanings_that_cannot_be_are_explained() -> None:
    name, problem = Column(Role.NAME), Column(Role.PROBLEM)
    assert "Two columns mean “Name”" in columns_fault([name, name])
    assert "No column has names" in columns_fault([problem])
    assert "No column names the problem" in columns_fault([name, Column(Role.POINTS)])
    assert "its problem is missing" in columns_fault([name, Column(Role.POINTS_OF)])
    assert columns_fault([name, problem, Column(Role.POINTS), Column(Role.POINTS_OF, "2"), Column(Role.POINTS_OF, "3")]) == ""


def test_meanings_are_kept_by_a_header_that_ignores_case_and_spaces() -> None:
    assert header_digest(["First  Name", "P1"]) == header_digest(["first name", "p1"])
    assert header_digest(["Name"]) != header_digest(["School"])
    columns = [Column(Role.NAME), Column(Role.POINTS_OF, "2", "7")]
    assert columns_read(columns_json(columns), 2) == columns
    assert columns_read(columns_json(columns), 3) is None


def test_the_maximum_in_the_header_of_points_counts_for_all_rows() -> None:
    grid = grid_read(b"Name,Problem,Points (7)\nAnna,1,6\nBen,1,5/10\n")
    columns = columns_guess(grid)
    assert (columns[2].role, columns[2].out_of) == (Role.POINTS, "7")
    found = [(int(one.points.points), int(one.points.out_of)) for one in rows_read(grid, columns).entries if one.points]
    assert found == [(6, 7), (5, 10)]
