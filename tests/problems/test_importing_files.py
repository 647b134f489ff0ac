"""Upload, preview and confirmation: valid rows are imported together, and only on confirmation."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from unittest import mock

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from apps.accounts.models import User
from apps.problems.importing.plans import plan_make
from apps.problems.models import ImportDraft, Problem, ProblemVersion, ReferenceSolution
from apps.problems.services import problems_import
from tests.problems.factory import jsonl, make_problem

ClientFor = Callable[[User | None], Client]
FILE = jsonl(
    {"title": "One", "topic": "A", "statement": "First.", "solutions": [{"text": "a"}, {"approach": "b", "text": "c"}]},
    {"title": "Two", "topic": "A", "statement": ""},
    {"title": "Three", "topic": "N", "statement": "Third."},
)


def upload(client: Client, data: bytes = FILE, shape: str = "auto") -> str:
    """Upload a file and return the URL of its preview."""
    response = client.post("/problems/import/", {"file": SimpleUploadedFile("p.jsonl", data), "shape": shape})
    assert response.status_code == 302
    return str(response.headers["Location"])


@pytest.fixture
def client(client_for: ClientFor, bob: User) -> Client:
    return client_for(bob)


def test_the_preview_shows_both_kinds_of_rows_and_imports_nothing(client: Client) -> None:
    page = client.get(upload(client)).content.decode()
    assert "1 row will be skipped" in page
    assert "The statement is empty." in page
    assert "Import 2 problems" in page
    assert not Problem.objects.exists()


def test_confirming_imports_the_valid_rows_and_deletes_the_upload(client: Client, bob: User) -> None:
    address = upload(client)
    response = client.post(f"{address}confirm/", follow=True)
    assert "2 problems imported; 1 skipped." in response.content.decode()
    assert sorted(Problem.objects.values_list("title", flat=True)) == ["One", "Three"]
    assert Problem.objects.get(title="One").created_by == bob
    assert list(ReferenceSolution.objects.values_list("approach", "text")) == [("", "a"), ("b", "c")]
    assert not ImportDraft.objects.exists()
    assert client.post(f"{address}confirm/").status_code == 404
    assert Problem.objects.count() == 2


def test_discarding_imports_nothing(client: Client) -> None:
    address = upload(client)
    client.post(f"{address}confirm/", {"action": "discard"})
    assert not ImportDraft.objects.exists()
    assert not Problem.objects.exists()


def test_only_the_owner_can_use_an_upload(client: Client, client_for: ClientFor, alice: User) -> None:
    address = upload(client)
    assert client_for(alice).get(address).status_code == 404
    assert client_for(alice).post(f"{address}confirm/").status_code == 404
    assert ImportDraft.objects.count() == 1


def test_a_new_upload_replaces_the_old_one(client: Client, client_for: ClientFor, alice: User) -> None:
    upload(client_for(alice))
    ImportDraft.objects.update(created_at=timezone.now() - timedelta(days=2))
    first, second = upload(client), upload(client)
    assert client.get(first).status_code == 404
    assert client.get(second).status_code == 200
    assert ImportDraft.objects.count() == 1


def test_problems_added_meanwhile_are_skipped(client: Client) -> None:
    address = upload(client)
    make_problem("Elsewhere", statement="First.")
    assert "1 problem imported; 2 skipped." in client.post(f"{address}confirm/", follow=True).content.decode()


def test_a_failed_import_stores_nothing(client: Client) -> None:
    address = upload(client)
    failing = mock.patch.object(ReferenceSolution.objects, "bulk_create", side_effect=RuntimeError("disk full"))
    with failing, pytest.raises(RuntimeError):
        client.post(f"{address}confirm/")
    assert not Problem.objects.exists()
    assert not ProblemVersion.objects.exists()
    assert ImportDraft.objects.count() == 1


@pytest.mark.parametrize(("data", "words"), [(b"nonsense", "neither CSV"), (b"", "empty"), (b"\xff\xfb\x00", "not in UTF-8")])
def test_the_reason_of_an_unusable_file_is_shown_next_to_the_field(client: Client, data: bytes, words: str) -> None:
    response = client.post("/problems/import/", {"file": SimpleUploadedFile("x.csv", data), "shape": "auto"})
    assert response.status_code == 422
    assert words in response.content.decode()
    assert not ImportDraft.objects.exists()


def test_a_file_without_valid_rows_offers_no_import(client: Client) -> None:
    page = client.get(upload(client, jsonl({"title": "x", "topic": "A", "statement": ""}))).content.decode()
    assert "No valid rows" in page
    assert 'value="import"' not in page


def test_a_large_import_takes_few_queries(bob: User, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    drafts = [
        row.draft
        for row in plan_make(jsonl(*({"title": "Same", "topic": "A", "statement": f"No. {n}"} for n in range(400)))).good
    ]
    with django_assert_max_num_queries(15):
        problems_import(drafts=drafts, by=bob)
    assert Problem.objects.filter(slug="same-400").exists()


def test_the_command_imports_and_lists_what_it_skipped(db: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.jsonl"
    path.write_bytes(FILE)
    call_command("import_problems", str(path), "--dry-run")
    assert not Problem.objects.exists()
    call_command("import_problems", str(path))
    out, err = capsys.readouterr()
    assert "2 problems would be imported, 1 skipped" in out
    assert "2 problems imported, 1 skipped" in out
    assert "line 2 (Two): The statement is empty." in err
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("import_problems", str(tmp_path / "absent.csv"))
    with pytest.raises(CommandError, match="are missing"):
        call_command("import_problems", str(path), "--format", "proofbench")
