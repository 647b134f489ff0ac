"""A file becomes a set in one step; what the library has is used, and nothing of it is overwritten."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from apps.problem_sets.importing import set_import, set_plan
from apps.problem_sets.models import ProblemSet
from apps.problem_sets.services import items_of, version_split
from apps.problems.models import Problem
from tests.cast import person
from tests.problems.factory import SHARED, jsonl, make_problem, needs_shared_data

pytestmark = pytest.mark.django_db


def row(number: int, **changes: str) -> dict[str, str]:
    fields = {"Problem ID": f"b-{number}", "Problem": f"Find $x_{number}$.", "Short Answer": str(number), "Category": "Algebra"}
    return {**fields, **changes}


def imported(*rows: object, title: str = "A benchmark", into: ProblemSet | None = None):  # type: ignore[no-untyped-def]
    return set_import(plan=set_plan(jsonl(*rows), "auto", None), by=None, title=title, into=into)


def test_new_problems_are_added_outside_the_library_and_known_ones_are_used() -> None:
    listed = make_problem("Known", statement="Find  $x_1$.", answer="1")
    made = imported(row(1), row(2))
    assert [one.name for one in items_of(made)] == ["b-1", "b-2"]
    assert items_of(made)[0].problem.problem == listed
    assert not items_of(made)[1].problem.problem.is_listed
    assert Problem.objects.count() == 2


def test_another_answer_in_the_library_does_not_become_the_answer_of_the_set() -> None:
    make_problem("Known", statement="Find $x_1$.", answer="7")
    assert [one.problem.answer for one in items_of(imported(row(1)))] == ["1"]


def test_a_corrected_file_makes_a_version_keeps_splits_and_leaves_the_old_one_as_it_was() -> None:
    first = imported(row(1), row(2))
    version_split(version=first, shares={"train": 50, "test": 50}, seed=0, by=None)
    second = imported(row(1, **{"Short Answer": "11"}), row(2), row(3), into=first.problem_set)
    assert (second.number, [one.problem.answer for one in items_of(second)]) == (3, ["11", "2", "3"])
    assert [one.problem.answer for one in items_of(first)] == ["1", "2"]
    assert sorted(one.split for one in items_of(second)) == ["", "test", "train"]
    assert Problem.objects.count() == 3


def test_a_listed_problem_with_the_id_and_another_text_is_not_overwritten() -> None:
    made = imported(row(1))
    Problem.objects.update(is_listed=True)
    again = imported(row(1, Problem="Find $y$."), row(2), into=made.problem_set)
    assert [(where, name) for where, name, _ in again.left_out] == [("line 1", "b-1")]
    assert "of the library has this id and another text" in again.left_out[0][2]
    assert [one.name for one in items_of(again)] == ["b-2"]


def test_rows_with_faults_are_left_out_with_their_reasons() -> None:
    made = imported(row(1), row(2, Problem=""), row(1, Problem="Twice"), row(4, Category="Sums"))
    assert [(where, reason.split(".")[0]) for where, _, reason in made.left_out] == [
        ("line 2", "The statement is empty"),
        ("line 3", "Row 1 of this file has the same id"),
        ("line 4", "Unknown topic “Sums”"),
    ]


@pytest.mark.parametrize("shape", ["matharena", "deepseek"])
def test_other_benchmarks_are_detected_and_read(shape: str) -> None:
    rows = {
        "matharena": {
            "problem_idx": 3, "problem": "Find $n$.", "answer": "82", "problem_type": ["Combinatorics", "Number Theory"],
            "competition": "HMMT February 2025", "grading_scheme": [{"title": "Bound", "points": 3, "desc": "shows it"}],
        },
        "deepseek": {"problem_idx": "IMO2025-3", "question": "Find c.", "model_prediction": {"proof": "…"}, "type": "Algebra"},
    }  # fmt: skip
    plan = set_plan(jsonl(rows[shape]), "auto", None)
    draft = plan.rows[0].draft
    assert plan.shape.name == shape
    assert (draft.topic, draft.year) == (("C", 2025) if shape == "matharena" else ("A", 2025))
    assert draft.scheme_text == ("- Bound (3): shows it" if shape == "matharena" else "")


def test_a_number_alone_identifies_no_problem_of_another_contest() -> None:
    one, two = ({"problem_idx": 1, "problem": f"Find ${name}$.", "sample_solution": f"It is {name}."} for name in "xy")
    first, second = imported(one, title="A contest"), imported(two, title="Another")
    assert [item.problem.statement for version in (first, second) for item in items_of(version)] == ["Find $x$.", "Find $y$."]
    assert Problem.objects.count() == 2


def test_a_changed_text_brings_its_solution() -> None:
    given = {"problem_idx": 1, "problem": "Find $x$.", "competition": "A 2025", "sample_solution": "Old."}
    made = imported(given)
    imported({**given, "problem": "Find $x+1$.", "sample_solution": "New."}, into=made.problem_set)
    assert [one.text for one in Problem.objects.get().reference_solutions.all()] == ["New."]


def test_a_known_problem_that_is_held_back_is_left_out_without_its_title(monkeypatch: pytest.MonkeyPatch) -> None:
    make_problem("A secret title", statement="Find $x_1$.", answer="1")
    monkeypatch.setattr("apps.problem_sets.importing.solved_visible_to", lambda user: Problem.objects.none())
    plan = set_plan(jsonl(row(1)), "auto", person("bob"))
    assert [one.reason for one in plan.wrong] == ["This problem cannot be used for now."]


def test_a_scheme_that_is_no_list_of_parts_leaves_the_row_out() -> None:
    plan = set_plan(jsonl({"problem_idx": 1, "problem": "Find $n$.", "grading_scheme": [3]}), "auto", None)
    assert [one.reason for one in plan.wrong] == ["The grading_scheme is neither text nor a list of parts."]


@pytest.mark.parametrize(
    ("name", "problems", "left_out"), [("proofbench_v2.csv", 60, []), ("answerbench_v2.csv", 399, ["imo-bench-algebra-036"])]
)
@pytest.mark.parametrize("mark", [pytest.param(None, marks=needs_shared_data)])
def test_the_real_benchmarks_are_sets_after_one_command(name: str, problems: int, left_out: list[str], mark: None) -> None:
    out, err = StringIO(), StringIO()
    call_command("import_problem_set", str(SHARED / name), title=name, stdout=out, stderr=err)
    made = ProblemSet.objects.get().versions.get()
    assert made.items.count() == problems
    assert [label for _, label, _ in made.left_out] == left_out
    assert f"{problems} problems" in out.getvalue()
    call_command("import_problem_set", str(SHARED / name), into=made.problem_set.slug, stdout=out, stderr=err)
    assert made.problem_set.versions.count() == 1, "the same file is the same version"


@pytest.mark.parametrize(
    ("options", "reason"), [({"into": "none"}, "There is no set none"), ({}, "--title"), ({"title": "A"}, "cannot be read")]
)
def test_the_command_says_what_is_missing(options: dict[str, str], reason: str) -> None:
    with pytest.raises(CommandError, match=reason):
        call_command("import_problem_set", "/nowhere.csv", **options)
