"""Exports can be imported again without loss, in every format, from terminal and page."""

import csv
import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client

from apps.accounts.models import User
from apps.problems.drafts import ProblemDraft, SolutionDraft, draft_of
from apps.problems.importing.exports import FORMATS, export_text
from apps.problems.importing.plans import plan_make
from apps.problems.models import Problem
from apps.problems.services import problems_import, sample_library_load
from tests.problems.factory import ANSWER, SECRET, make_problem

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
TRICKY = ProblemDraft(
    title="=Quotes “and” commas, α", topic="C", statement='Line "one", $a\\_b$;\n\n\tline two\\\nwith \\[x\\]', slug="tricky",
    subtopic="games", source="A, B", year=1999, level="hard", answer="3,5", scheme_text="- A1 (7)\n- B1 (7)",
    solutions=(SolutionDraft("first\nproof", "by, induction"), SolutionDraft("second"), SolutionDraft("third", "third way")),
    hints=("=goal", "try, $n=1$\nand more"), origin="elsewhere", external_id="e-1",
)  # fmt: skip


def library() -> list[ProblemDraft]:
    return [draft_of(problem) for problem in Problem.objects.order_by("slug")]


def test_the_lemmascope_format_is_lossless() -> None:
    sample_library_load()
    problems_import(drafts=[TRICKY, ProblemDraft(title="Bare", topic="G", statement="Prove it.", slug="bare")], by=None)
    before = library()
    for file_format in FORMATS:
        text = export_text(Problem.objects.all(), file_format=file_format)
        Problem.objects.all().delete()
        plan = plan_make(text.encode())
        assert plan.wrong == []
        problems_import(drafts=[row.draft for row in plan.good], by=None)
        assert library() == before, file_format


def test_no_cell_of_the_table_is_a_formula() -> None:
    problems_import(drafts=[TRICKY], by=None)
    (row,) = csv.DictReader(io.StringIO(export_text(Problem.objects.all(), file_format="csv"), newline=""))
    assert row["title"] == "'=Quotes “and” commas, α"
    assert "'- A1 (7)\n- B1 (7)" in row.values()
    assert not [text for text in row.values() if text.startswith(("=", "+", "-", "@"))]


@pytest.mark.parametrize("file_format", FORMATS)
@pytest.mark.parametrize("shape", ["proofbench", "answerbench"])
def test_bench_formats_are_lossless(shape: str, file_format: str) -> None:
    own = replace(TRICKY, origin=f"imo-{shape}", title="e-1", slug="e-1", year=2001, source="IMO 2001")
    own = replace(own, solutions=own.solutions[:1]) if shape == "proofbench" else replace(own, solutions=(), scheme_text="")
    own = replace(own, solutions=tuple(SolutionDraft(row.text) for row in own.solutions))
    own = replace(own, hints=())
    own = replace(own, subtopic="") if shape == "proofbench" else replace(own, level="")
    problems_import(drafts=[own], by=None)
    make_problem("Not of this origin")
    text = export_text(Problem.objects.all(), file_format=file_format, shape_name=shape)
    Problem.objects.all().delete()
    plan = plan_make(text.encode())
    assert plan.shape.name == shape
    problems_import(drafts=[row.draft for row in plan.good], by=None)
    assert library() == [own]


def test_importing_an_export_again_adds_nothing() -> None:
    sample_library_load()
    plan = plan_make(export_text(Problem.objects.all(), file_format="csv").encode())
    assert plan.good == []
    assert all("Already" in row.reason for row in plan.wrong)


def test_the_newest_version_is_exported() -> None:
    make_problem().versions.create(number=2, statement="The newer text.")
    assert "The newer text." in (text := export_text(Problem.objects.all(), file_format="jsonl"))
    assert "which primes" not in text


def test_the_page_exports_the_filtered_list(client_for: ClientFor, bob: User) -> None:
    make_problem("One", topic="A")
    make_problem("Two", topic="N")
    response = client_for(bob).get("/problems/export/?format=csv&topic=N")
    assert response.headers["Content-Disposition"].startswith('attachment; filename="problems-')
    rows = list(csv.DictReader(io.StringIO(response.content.decode(), newline="")))
    assert [(row["title"], row["approach_1"]) for row in rows] == [("Two", "descent")]
    for query in ("format=xlsx", "shape=other"):
        assert client_for(bob).get(f"/problems/export/?{query}").status_code == 404


def test_a_student_cannot_export(client_for: ClientFor, charlie: User) -> None:
    make_problem()
    response = client_for(charlie).get("/problems/export/?format=jsonl")
    assert response.status_code == 404
    assert SECRET not in response.content.decode()
    assert ANSWER not in response.content.decode()


def test_the_command_writes_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_problem()
    call_command("export_problems", "--output", str(tmp_path / "all.jsonl"))
    call_command("export_problems")
    assert (tmp_path / "all.jsonl").read_text() == capsys.readouterr().out
