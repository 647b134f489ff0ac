"""`manage.py grade` uses approved pieces for the same references, and repeats gradings made before the approval."""

from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from apps.accounts.models import User
from apps.graders.models import PieceVersion
from apps.graders.pieces import digest_of, value_digest
from apps.problems.models import Problem
from apps.reasoning.graders.pieces.pieces import Analysis
from apps.reasoning.graders.pieces.slots import Slot, analysis_slot, rubric_slot
from tests.graders.answers import FOLLOWS
from tests.graders.grade import REFERENCES
from tests.grading.test_grade_command import ASKED, Table, rows, run
from tests.grading.test_grade_command import scripts as scripts
from tests.grading.test_grade_command import table as table
from tests.problems.factory import make_problem

pytestmark = pytest.mark.django_db
STEPS = Analysis.model_validate({"main_steps": [{"title": "Factor"}, {"title": "Neighbours"}]})
RUBRIC = {"items": [{"title": "One", "points": 5, "full": "It."}, {"title": "Two", "points": 2, "full": "It."}]}


def approve(problem: Problem, slot: Slot, value: dict[str, Any], by: User) -> None:
    now = timezone.now()
    PieceVersion.objects.create(
        problem=problem, statement=digest_of("Prove it."), what=slot.what, slot=slot.name, basis=slot.basis, value=value,
        digest=value_digest(value), shown_at=now, approved_at=now, approved_by=by,
    )  # fmt: skip


def test_an_approval_is_part_of_the_question(table: Table, scripts: Path, tmp_path: Path, alice: User) -> None:
    table.update(FOLLOWS)
    out, one = tmp_path / "out.jsonl", ["--reference", "one"]
    run(scripts, out, *one, workflow="ref5_plain")
    assert "3 of 3 are already in the output." in run(scripts, out, *one, workflow="ref5_plain")
    problem = make_problem()
    approve(problem, analysis_slot("Prove it.", REFERENCES[0], False), STEPS.model_dump(mode="json"), alice)
    approve(problem, rubric_slot("Prove it.", REFERENCES[0], STEPS, "plain/steps"), RUBRIC, alice)
    ASKED.clear()
    run(scripts, out, *one, workflow="ref5_plain")
    assert ASKED == ["grade/ref5_plain"] * 3
    assert [[item["most"] for item in row["items"]] for row in rows(out)] == [["3", "4"]] * 3 + [["5", "2"]] * 3
    assert "3 of 3 are already in the output." in run(scripts, out, *one, workflow="ref5_plain")
