"""Import of graded sets: layouts, points by people, issues with invalid positions, problems of the library."""

import io
import json
import os
import zipfile
from collections.abc import Callable
from decimal import Decimal
from io import StringIO
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.files.tables import FileWrong
from apps.graded_sets.importing import Upload, set_import, set_read, upload_of
from apps.graded_sets.models import GradedScript, GradedSet, HumanScore
from apps.graded_sets.script_text import pieces_of
from apps.preparation.contamination import benchmark_of
from apps.problems.models import Problem, Topic
from tests.problems.factory import make_problem

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
SHARED = Path(__file__).resolve().parents[2] / os.environ.get("SHARED_DATA", "../shared/data")
needs_shared = [
    pytest.mark.shared_data,
    pytest.mark.skipif(not SHARED.is_dir() and os.environ.get("CI") != "true", reason="there is no SHARED_DATA"),
]
OURS = {"problem": "P1", "statement": "Prove it.", "script": "It is so.\n\nReally.", "points": 3, "max": 7, "author": "a model"}


def uploaded(*rows: dict[str, Any], name: str = "set.jsonl") -> Upload:
    return Upload("set", {PurePosixPath(name): "\n".join(json.dumps(row) for row in rows).encode()})


def imported(upload: Upload) -> GradedSet:
    return set_import(upload=upload, draft=set_read(upload), title="A set", by=None)


def test_scripts_are_imported_with_points_and_their_problem() -> None:
    made = imported(uploaded(OURS | {"max": "10", "rater": "Ann", "comment": "Good.", "reference": "Because."}))
    script = made.scripts.get()
    score = script.human_scores.get()
    assert (score.points, score.out_of, score.rater, score.words) == (Decimal(3), Decimal(10), "Ann", "Good.")
    assert script.problem is not None
    assert script.problem.statement == "Prove it."
    assert script.problem.problem.topic == Topic.OTHER
    assert script.problem.problem.reference_solutions.get().text == "Because."


def test_an_unknown_author_kind_is_not_guessed(alice: User, client_for: ClientFor) -> None:
    rows = [OURS | {"name": str(number), **more} for number, more in enumerate(({}, {"kind": "Student"}, {"kind": "model"}))]
    made = imported(uploaded(*rows, OURS | {"name": "x", "kind": "robot"}))
    assert list(made.scripts.values_list("author_kind", flat=True)) == ["", "student", "model"]
    assert made.left_out == [["line 4", "The kind of author must be student or model."]]
    made.scripts.update(author="")
    page = client_for(alice).get(reverse("graded_sets:detail", args=[made.public_id])).content.decode()
    assert '<td data-label="author">unknown</td>' in page


def test_problems_of_a_published_layout_count_as_benchmark_problems() -> None:
    row = {"Grading ID": "G1", "Problem ID": "PB-1", "Problem": "Prove it.", "Response": "It is so.", "Points": "7"}
    script = imported(uploaded(row)).scripts.get()
    assert script.problem is not None
    assert benchmark_of(script.problem.problem) == "GradingBench"
    ours = imported(uploaded(OURS | {"statement": "Prove another."})).scripts.get()
    assert ours.problem is not None
    assert benchmark_of(ours.problem.problem) == ""


def test_an_existing_problem_of_the_library_is_reused_unchanged() -> None:
    known = make_problem()
    statement = known.current.statement.replace(" ", "\n ", 1)
    made = imported(uploaded(OURS | {"statement": statement, "reference": "Other words."}))
    assert made.scripts.get().problem == known.current
    assert Problem.objects.count() == 1
    assert known.reference_solutions.count() == 2


def test_importing_the_same_file_again_gives_the_same_set() -> None:
    assert imported(uploaded(OURS)) == imported(uploaded(OURS))
    assert (GradedSet.objects.count(), HumanScore.objects.count()) == (1, 1)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"points": "many"}, "are not numbers"),
        ({"points": 9}, "9 exceeds the maximum 7"),
        ({"points": -1}, "Invalid points: -1"),
        ({"points": "nan"}, "original value was probably lost"),
        ({"script": "", "points": ""}, "Neither a script nor points"),
        ({"problem": ""}, "No problem name"),
        ({"kind": "robot"}, "student or model"),
        ({"script": "x" * 200_001}, "longer than 200,000"),
        ({"statement": "x" * 20_001}, "Its problem: The statement has 20,001 characters"),
    ],
)
def test_an_invalid_row_is_skipped_with_the_reason(changes: dict[str, Any], why: str) -> None:
    made = imported(uploaded(OURS, OURS | {"author": "another"} | changes))
    assert made.scripts.count() == 1
    ((where, reason),) = made.left_out
    assert where == "line 2"
    assert why in reason


def test_a_row_with_a_duplicate_name_is_skipped() -> None:
    made = imported(uploaded(OURS, OURS))
    assert made.left_out == [["line 2", "Duplicate script name P1 · a model."]]


@pytest.mark.parametrize("column", ["name", "paper"])
def test_a_script_is_named_by_name_or_paper_as_the_grade_command_does(column: str) -> None:
    made = imported(uploaded(OURS | {column: "anna-1"}, OURS | {column: 2}))
    assert (list(made.scripts.values_list("name", flat=True)), made.left_out) == (["anna-1", "2"], [])


def test_scripts_without_a_name_are_numbered_and_none_is_dropped() -> None:
    other, third = OURS | {"script": "Another way."}, OURS | {"script": "A third.", "author": ""}
    made = imported(uploaded(OURS, other, third, OURS | {"script": "A fourth."}))
    names = ["P1 · a model", "P1 · a model (2)", "P1", "P1 · a model (3)"]
    assert (list(made.scripts.values_list("name", flat=True)), made.left_out) == (names, [])


def test_the_command_and_the_page_report_skipped_rows(tmp_path: Path, alice: User, client_for: ClientFor) -> None:
    (tmp_path / "set.jsonl").write_text("\n".join(json.dumps(row) for row in (OURS, OURS | {"points": 9, "name": "x"}, OURS)))
    output = StringIO()
    call_command("import_graded", tmp_path / "set.jsonl", stdout=output)
    assert "scripts: 1, scores by people: 1." in output.getvalue()
    assert "2 rows were skipped out of 3; results of this set do not include them." in output.getvalue()
    page = client_for(alice).get(reverse("graded_sets:detail", args=[GradedSet.objects.get().public_id])).content.decode()
    assert "2 rows of the file were skipped and are in no result." in page


@pytest.mark.parametrize("text", ['{"a": 1}', "", "problem,script\nP,x"])
def test_a_file_with_an_unknown_layout_is_refused(text: str) -> None:
    with pytest.raises(FileWrong):
        set_read(Upload("x", {PurePosixPath("x.csv"): text.encode()}))


@pytest.mark.parametrize("text", ["[" * 100_000, "[1]", '{"a": 1' + "0" * 5000 + "}"], ids=["deep", "list", "long number"])
def test_a_corpus_that_is_not_an_object_is_refused(text: str) -> None:
    with pytest.raises(FileWrong):
        set_read(Upload("x", {PurePosixPath("x.json"): text.encode()}))


def test_issues_have_a_valid_position_or_the_reason_why_not() -> None:
    text = "First, a line.\n\nThen another, which is wrong."
    issues = [
        {"description": "Wrong.", "category": "Other", "text": "which is wrong", "start_index": 30, "end_index": 44},
        {"description": "Far out.", "text": "?", "start_index": 40, "end_index": 900},
        {"description": "Backwards.", "text": "?", "start_index": 9, "end_index": 3},
        {"description": "Nowhere.", "text": "?"},
    ]
    attempt = {"model_id": "m", "solution": text, "llm_judgment": {"result": {"issues": issues}}}
    document = {"problem_id": "C1", "problem": "Prove it.", "attempts": [attempt]}
    upload = Upload("c", {PurePosixPath("c.json"): json.dumps(document).encode()})
    script = imported(upload).scripts.get()
    assert [issue["lost"] for issue in script.issues] == [
        "",
        f"position 40 to 900 is outside the script of {len(text)} characters",
        "invalid position 9 to 3",
        "no position given",
    ]
    assert [[one["words"] for one in piece.issues] for piece in pieces_of(script)] == [[], ["Wrong."]]


def test_a_zip_of_folders_gives_statements_points_and_missing_texts() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("submissions/m/putnam/a/A1.md", "# A1\n\n## Problem\n\nProve it.\n\n## Submission\n\nDone.")
        archive.writestr("submissions/m/putnam/a/A2.md", "# A2\n\n## Submission\n\nDone too.")
        archive.writestr("submissions/m/putnam/grader-comments.md", "A1: 10/10\n- good\n\nA3: 2/10\n- thin\n")
    made = imported(Upload("z", {PurePosixPath("z.zip"): buffer.getvalue()}))
    first, second, third = made.scripts.order_by("name")
    assert (first.name, first.text, first.problem is not None) == ("putnam A1 · m", "Done.", True)
    assert first.human_scores.get().out_of == 10
    assert (second.problem, second.human_scores.count()) == (None, 0)
    assert (third.name, third.text, third.human_scores.get().words) == ("putnam A3 · m", "", "- thin")


def test_the_page_imports_a_file_and_shows_its_credit(alice: User, client_for: ClientFor) -> None:
    client = client_for(alice)
    row = {"section": "PB-1", "model": "m", "human_grade": 4, "max": 7, "comment": "A gap."}
    bad = {"section": "PB-2", "model": "m", "human_grade": 9, "max": 7, "comment": ""}
    file = SimpleUploadedFile("human.jsonl", "\n".join(map(json.dumps, (row, bad))).encode())
    response = client.post(reverse("graded_sets:import"), {"file": file})
    made = GradedSet.objects.get()
    assert response.headers["Location"] == f"/graded-sets/{made.public_id}/"
    text = client.get(response.headers["Location"]).content.decode()
    assert "QED-Nano, human evaluation of App. G · CC-BY-4.0" in text
    assert "1 script cannot be graded" in text
    assert "Invalid points" in text
    script = made.scripts.get()
    text = client.get(reverse("graded_sets:script", args=[made.public_id, script.public_id])).content.decode()
    assert "4 of 7" in text
    assert "A gap." in text
    assert "was not published" in text
    nonsense = SimpleUploadedFile("x.csv", b"a,b\n1,2")
    refused = client.post(reverse("graded_sets:import"), {"file": nonsense})
    assert (refused.status_code, GradedSet.objects.count()) == (422, 1)


def test_the_command_refuses_an_unreadable_file(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="Could not read"):
        call_command("import_graded", tmp_path / "nothing.csv")


@pytest.mark.parametrize(
    ("path", "scripts", "scores", "without_text"),
    [
        pytest.param("gradingbench/gradingbench_filtered_100_train.csv", 100, 100, 0, marks=needs_shared),
        pytest.param("gradingbench/gradingbench_filtered_100_test.csv", 100, 100, 0, marks=needs_shared),
        pytest.param("deepseek-math-v2/IMO-ProofBench-Advanced.jsonl", 30, 30, 0, marks=needs_shared),
        pytest.param("deepseek-math-v2/IMO2025.jsonl", 6, 6, 0, marks=needs_shared),
        pytest.param("nomos", 59, 23, 0, marks=needs_shared),
        pytest.param("qed-nano/human_eval.jsonl", 38, 38, 38, marks=needs_shared),
        pytest.param("open-proof-corpus/solved", 230, 0, 0, marks=needs_shared),
    ],
)
def test_published_sets_are_imported_completely(path: str, scripts: int, scores: int, without_text: int) -> None:
    call_command("import_graded", SHARED / path)
    made = GradedSet.objects.get()
    assert (made.scripts.count(), made.left_out) == (scripts, [])
    assert HumanScore.objects.count() == scores
    assert GradedScript.objects.filter(text="").count() == without_text
    assert made.credit
    assert made.licence


def test_a_folder_gives_the_same_set_from_any_parent_folder(tmp_path: Path) -> None:
    below = tmp_path / "nomos" / "submissions"
    below.mkdir(parents=True)
    for name in ("A1.md", "A2.md"):
        (below / name).write_text(f"A proof of {name}.")
    digest = upload_of(below).digest
    assert upload_of(tmp_path).digest == digest
    (below / "A1.md").write_text("Another proof.")
    assert upload_of(tmp_path).digest != digest


def test_a_folder_of_tables_is_refused_with_the_names_of_the_tables(tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text("{}")
    (tmp_path / "two.csv").write_text("a,b")
    with pytest.raises(FileWrong, match=r"one by one: one\.jsonl, two\.csv"):
        upload_of(tmp_path)
