"""A submitted version is graded with its steps and without any trace of its author."""

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from apps.accounts.models import User
from apps.graders.batches.jobs import jobs_of_versions
from apps.submissions.models import SubmissionVersion
from tests.graders.grade import finding, grading
from tests.grading import test_grade_command as command
from tests.marks.factory import problem_to_mark

table = command.table
pytestmark = pytest.mark.django_db
Table = dict[str, object]


def version_of(bob: User) -> SubmissionVersion:
    problem_to_mark(bob, scripts=1)
    return SubmissionVersion.objects.get()


def test_a_job_contains_the_steps_and_the_active_scheme_but_no_name(bob: User) -> None:
    version = version_of(bob)
    (job,) = jobs_of_versions([version])
    assert [(one.start, one.end) for one in job.material["spans"]] == list(version.steps.values_list("start", "end"))
    assert job.material["scheme"].items
    assert "author 0" not in repr(job)
    assert job.paper == str(version.public_id)


def test_the_command_grades_a_version_with_its_own_steps(table: Table, bob: User, tmp_path: Path) -> None:
    version = version_of(bob)
    table["grade"] = grading(3, finding(step=1, quote=""))
    command.run(None, tmp_path / "out.jsonl", "--submission", str(version.public_id))
    (row,) = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert (row["paper"], row["points"], row["findings"][0]["step"]) == (str(version.public_id), 3, 1)


@pytest.mark.parametrize("given", ["nonsense", "00000000-0000-4000-8000-000000000000"])
def test_an_unknown_version_is_refused(table: Table, bob: User, tmp_path: Path, given: str) -> None:
    with pytest.raises(CommandError, match="No submitted version with the id"):
        call_command(
            "grade", "--submission", given, "--workflow", "single_turn", "--out", str(tmp_path / "o"), "--alias", "served"
        )
