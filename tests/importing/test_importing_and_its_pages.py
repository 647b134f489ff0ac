"""The import as people meet it: the command, the upload form, the page of the run; twice the same file, and the refusals."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.explorations.importing.batches import Facts, batches
from apps.explorations.importing.imported_run import LogFile, LogWrong
from apps.explorations.importing.recording import batch_import
from apps.problems.holding import _RULES, Rule, Text
from apps.problems.models import Problem, ProblemVersion
from apps.runs.models import Run
from tests.importing.files import NUMBERS, STATEMENT, check, graph, import_of, imported, solver_log

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
FORM = reverse("explorations:run_import")


def posted(client: Client, *files: tuple[str, str], **fields: str) -> Any:
    uploads = [SimpleUploadedFile(name, text.encode()) for name, text in files]
    return client.post(FORM, {"logs": uploads, "topic": "N", "title": "", "source": "", "licence": "", **fields})


def test_the_same_bytes_twice_make_one_run_whatever_the_name() -> None:
    text = solver_log(*check("yes")).encode()
    first, second = import_of(LogFile("a.log", text)), import_of(LogFile("b.log", text))
    assert (first.is_new, second.is_new) == (True, False)
    assert first.run == second.run
    assert Run.objects.count() == Problem.objects.count() == 1


def test_two_logs_on_one_statement_share_its_problem() -> None:
    imported(solver_log(*check("yes")))
    imported(solver_log(*check("no")), "other.log", Facts())
    assert (Run.objects.count(), ProblemVersion.objects.count()) == (2, 1)


def test_a_new_problem_needs_a_topic() -> None:
    with pytest.raises(LogWrong, match="is new to the library and has no topic"):
        imported(solver_log(), facts=Facts())
    assert not Run.objects.exists()
    assert not Problem.objects.exists()


def test_the_page_says_where_it_is_from_and_what_was_not_taken_over(client_for: ClientFor, alice: User) -> None:
    run = imported(graph({"a": {"dependencies": ["missing"]}}), "ours.json")
    page = client_for(alice).get(reverse("explorations:run_detail", args=[run.public_id])).content.decode()
    for words in ("ours.json", "written for a test", "none needed", "1 part", "a depends on the unknown id", "Proof graph"):
        assert words in page
    assert reverse("explorations:fork", args=[run.public_id]) not in page


def test_an_imported_run_cannot_be_forked(client_for: ClientFor, alice: User) -> None:
    run = imported(solver_log(*check("yes")))
    assert client_for(alice).get(reverse("explorations:fork", args=[run.public_id])).status_code == 404


def test_an_upload_opens_its_run_and_a_second_one_the_same(client_for: ClientFor, alice: User) -> None:
    client = client_for(alice)
    answer = posted(client, ("ours.log", solver_log(*check("yes"))))
    run = Run.objects.get()
    assert answer.url == reverse("explorations:run_detail", args=[run.public_id])
    assert run.owner == alice
    assert posted(client, ("ours.log", solver_log(*check("yes")))).url == answer.url


def test_what_cannot_be_imported_is_said_and_the_rest_goes_in(client_for: ClientFor, alice: User) -> None:
    answer = posted(
        client_for(alice), ("ours.log", solver_log()), ("cat.json", "{}"), ("broken.json", '{"theorem": {"nodes": ')
    )
    assert answer.status_code == 422
    page = answer.content.decode()
    assert "cat.json was not imported: unknown format" in page
    assert "broken.json" in page
    assert Run.objects.count() == 1


def test_students_have_no_import(client_for: ClientFor, charlie: User) -> None:
    assert client_for(charlie).get(FORM).status_code == 404
    assert posted(client_for(charlie), ("ours.log", solver_log())).status_code == 404


def test_the_command_imports_folders_and_says_what_it_did(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "ours.log").write_text(solver_log(*check("yes")))
    (tmp_path / "g.json").write_text(graph({"a": {"dependencies": ["missing"]}}))
    (tmp_path / "meta.json").write_text("{}")
    out = io.StringIO()
    call_command("import_log", str(tmp_path), topic="N", stdout=out)
    said = out.getvalue()
    assert "deep/ours.log (solver–verifier log)" in said
    assert "node a: a depends on the unknown id missing" in said
    assert Run.objects.count() == 2


def test_the_command_continues_after_an_unknown_file(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}")
    (tmp_path / "b.log").write_text(solver_log())
    errors = io.StringIO()
    with pytest.raises(CommandError, match="1 could not be imported"):
        call_command(
            "import_log", str(tmp_path / "a.json"), str(tmp_path / "b.log"), topic="N", stdout=io.StringIO(), stderr=errors
        )
    assert "a.json: not imported, unknown format" in errors.getvalue()
    assert Run.objects.count() == 1


def test_the_command_takes_a_problem_of_the_library(tmp_path: Path) -> None:
    problem = Problem.objects.create(slug="odd", title="Odd", topic="N")
    problem.versions.create(number=1, statement="Show that $(2k+1)^2$ is $1$ modulo $8$.")
    (tmp_path / "b.log").write_text(solver_log())
    call_command("import_log", str(tmp_path / "b.log"), problem="odd", stdout=io.StringIO())
    assert Run.objects.get().problem_version.problem == problem
    with pytest.raises(CommandError, match="no problem missing"):
        call_command("import_log", str(tmp_path / "b.log"), problem="missing", stdout=io.StringIO())


def test_the_statement_of_the_file_becomes_the_problem() -> None:
    assert imported(solver_log(), facts=NUMBERS).problem_version.statement == STATEMENT


def test_a_file_with_values_of_another_kind_does_not_end_the_others(
    client_for: ClientFor, alice: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: object) -> None:
        raise TypeError("'int' object is not iterable")

    monkeypatch.setattr("apps.explorations.importing.proof_graphs.read", fails)
    answer = posted(client_for(alice), ("g.json", graph({"a": {}})), ("ours.log", solver_log()))
    assert answer.status_code == 422
    assert "g.json was not imported: it has invalid values" in answer.content.decode()
    (tmp_path / "g.json").write_text(graph({"a": {}}))
    (tmp_path / "other.log").write_text(solver_log(*check("yes")))
    with pytest.raises(CommandError, match="1 could not be imported"):
        call_command("import_log", str(tmp_path), topic="N", stdout=io.StringIO(), stderr=io.StringIO())
    assert Run.objects.count() == 2


def test_a_problem_that_is_held_back_and_its_runs_are_not_found_by_an_import(
    client_for: ClientFor, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = imported(solver_log())
    held = first.problem_version.problem
    monkeypatch.setitem(_RULES, Text.STATEMENT, [_held_from_all_but(alice, held)])
    assert posted(client_for(alice), ("ours.log", solver_log())).url.endswith(f"{first.public_id}/")
    alice_s = imported_by(alice, "no")
    assert alice_s.problem_version.problem == held
    answer = posted(client_for(bob), ("ours.log", solver_log()))
    own = Run.objects.get(owner=bob)
    assert str(first.public_id) not in answer.url
    assert own.problem_version.problem != held
    assert posted(client_for(bob), ("again.log", solver_log())).url == answer.url
    assert imported_by(bob, "yes").problem_version.problem == own.problem_version.problem


def imported_by(user: User, said: str) -> Run:
    """Another run on the same statement, which this person imports."""
    found, _ = batches([LogFile("more.log", solver_log(*check(said)).encode())])
    return batch_import(batch=found[0], user=user, facts=NUMBERS).run


def _held_from_all_but(user: User, problem: Problem) -> Rule:
    return lambda asking: Problem.objects.none() if asking == user else Problem.objects.filter(pk=problem.pk)
