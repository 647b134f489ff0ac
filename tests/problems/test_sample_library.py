"""The sample library is loaded once, follows its files and never overwrites edits."""

from dataclasses import replace
from pathlib import Path

import pytest
from django.core.management import call_command

from apps.accounts.models import User
from apps.problems.drafts import draft_of
from apps.problems.models import Problem, ProblemVersion
from apps.problems.samples import FOLDER, SampleBroken, sample_read
from apps.problems.services import problem_create, problem_revise, sample_library_load

pytestmark = pytest.mark.django_db


def test_every_file_becomes_a_problem_with_solutions_and_a_marking_scheme() -> None:
    assert sample_library_load() == len(list(FOLDER.rglob("*.md"))) >= 15
    for problem in Problem.objects.all():
        assert problem.current.statement
        assert problem.current.scheme_text
        assert problem.reference_solutions.count() >= 1
    assert set(Problem.objects.values_list("topic", flat=True)) == {"A", "C", "G", "N"}


def test_loading_again_changes_nothing() -> None:
    sample_library_load()
    before = list(Problem.objects.values_list("pk", "updated_at"))
    assert sample_library_load() == 0
    assert list(Problem.objects.values_list("pk", "updated_at")) == before


def test_an_edited_problem_is_never_overwritten(bob: User) -> None:
    sample_library_load()
    problem = Problem.objects.get(slug="nesbitt-inequality")
    problem_revise(problem=problem, draft=replace(draft_of(problem), title="Ours now", solutions=()), by=bob)
    assert sample_library_load() == 0
    problem.refresh_from_db()
    assert problem.title == "Ours now"
    assert not problem.reference_solutions.exists()


def test_an_untouched_problem_follows_its_file_in_a_new_version() -> None:
    sample_library_load()
    version = ProblemVersion.objects.get(problem__slug="nesbitt-inequality")
    ProblemVersion.objects.filter(pk=version.pk).update(statement="An older text.")
    assert sample_library_load() == 1
    assert [row.number for row in version.problem.versions.all()] == [1, 2]
    assert version.problem.current.statement == version.statement


def test_a_sample_does_not_take_a_used_slug() -> None:
    own = problem_create(draft=replace(sample_read(FOLDER / "nesbitt-inequality.md"), origin="", external_id="", title="Mine"))
    sample_library_load()
    own.refresh_from_db()
    assert own.title == "Mine"
    assert Problem.objects.get(origin="samples", external_id="nesbitt-inequality").slug == "nesbitt-inequality-2"


def test_the_error_names_an_invalid_file(tmp_path: Path) -> None:
    path = tmp_path / "broken.md"
    path.write_text("+++\nslug = 'x'\n+++\n## Statement\n\nProve it.\n")
    with pytest.raises(SampleBroken, match=r"broken\.md"):
        sample_read(path)


def test_the_command_reports_changes(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("load_samples")
    call_command("load_samples")
    assert "added or updated" in (out := capsys.readouterr().out)
    assert "up to date" in out
