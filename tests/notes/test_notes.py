"""Notes: who reads, writes, edits, resolves and deletes them, on which parts of a run, and whom they mention."""

import html
from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.accounts.models import Role, User
from apps.notes.models import Mention, Note
from apps.runs.models import Run
from tests.lemmas.factory import make_story_run, make_user

PLACES = [
    ("run", "", "notes/"),
    ("lemma", "s0.7", "lemmas/s0.7/"),
    ("step", "s0.7#3", "lemmas/s0.7/"),
    ("step", "proof/2#1", "proofs/2/"),
    ("call", "s0/r1/reason", "calls/s0/r1/reason/"),
]


@pytest.fixture
def run(alice: User) -> Run:
    run = make_story_run()
    run.owner = alice
    run.save(update_fields=["owner"])
    return run


@pytest.fixture
def write(run: Run, client_for: Callable[[User | None], Client]) -> Callable[..., Note]:
    def write(user: User, text: str, kind: str = "run", target: str = "") -> Note:
        body = {"kind": kind, "target": target, "text": text}
        response = client_for(user).post(f"/runs/{run.public_id}/notes/write/", body)
        assert response.status_code == 302
        return Note.objects.latest("pk")

    return write


@pytest.mark.parametrize(("kind", "target", "page"), PLACES)
def test_a_reader_of_a_run_writes_a_note_that_its_page_shows(
    run: Run, bob: User, alice: User, client_for: Callable[[User | None], Client], write: Callable[..., Note],
    kind: str, target: str, page: str,
) -> None:  # fmt: skip
    note = write(bob, "Is $8 \\mid 12$ **meant**?", kind, target)
    shown = client_for(alice).get(f"/runs/{run.public_id}/{page}").content.decode()
    assert f'id="note-{note.pk}"' in shown
    assert "<strong>meant</strong>" in shown
    assert "Is $8" in note.text
    assert note.by == bob


def test_a_note_shows_only_at_its_place_and_in_the_list_of_the_run(
    run: Run, alice: User, client_for: Callable[[User | None], Client], write: Callable[..., Note]
) -> None:
    write(alice, "Only on the third step.", "step", "s0.7#3")
    client = client_for(alice)
    assert "Only on the third step." in client.get(f"/runs/{run.public_id}/notes/").content.decode()
    assert "Only on the third step." in client.get(f"/runs/{run.public_id}/?tab=notes").content.decode()
    assert "Only on the third step." not in client.get(f"/runs/{run.public_id}/lemmas/s0.2/").content.decode()


@pytest.mark.parametrize(
    ("kind", "target"),
    [("lemma", "s9.9"), ("lemma", "proof/2"), ("step", "s0.7#4"), ("step", "s0.7"), ("step", "s0.7#x"), ("call", "no/such"),
     ("page", "s0.7")],
)  # fmt: skip
def test_a_note_on_something_that_the_run_lacks_is_refused(
    run: Run, alice: User, client_for: Callable[[User | None], Client], kind: str, target: str
) -> None:
    client = client_for(alice)
    body = {"kind": kind, "target": target, "text": "Hm."}
    assert client.post(f"/runs/{run.public_id}/notes/write/", body).status_code == 404
    assert client.get(f"/runs/{run.public_id}/notes/write/", body).status_code == 404
    assert not Note.objects.exists()


@pytest.mark.parametrize(("text", "words"), [("  \n ", "Write a text first."), ("x" * 10_001, "at most 10,000 characters")])
def test_an_unusable_text_is_refused_and_stays_in_the_form(
    run: Run, alice: User, client_for: Callable[[User | None], Client], text: str, words: str
) -> None:
    response = client_for(alice).post(f"/runs/{run.public_id}/notes/write/", {"kind": "run", "text": text})
    assert response.status_code == 422
    assert words in response.content.decode()
    assert not Note.objects.exists()


def test_a_student_neither_reads_nor_writes_notes(
    run: Run, alice: User, charlie: User, client_for: Callable[[User | None], Client], write: Callable[..., Note]
) -> None:
    write(alice, "Not for students.")
    client = client_for(charlie)
    assert client.get(f"/runs/{run.public_id}/notes/").status_code == 404
    assert client.post(f"/runs/{run.public_id}/notes/write/", {"kind": "run", "text": "Hello"}).status_code == 404
    assert Note.objects.count() == 1


def test_a_script_in_a_note_is_shown_as_text(
    run: Run, bob: User, alice: User, client_for: Callable[[User | None], Client], write: Callable[..., Note]
) -> None:
    text = "<script>alert(1)</script> <img src=x onerror=alert(2)> [go](javascript:alert(3)) ![p](https://evil.example/p.png)"
    write(bob, text, "lemma", "s0.7")
    for page in ("lemmas/s0.7/", "notes/", "?tab=lemma&lemma=s0.7"):
        shown = client_for(alice).get(f"/runs/{run.public_id}/{page}").content.decode()
        assert "&lt;script&gt;alert(1)" in shown
        assert "<script>alert" not in shown
        assert "<img" not in shown
        assert 'href="javascript' not in shown


def test_authors_edit_their_notes_and_others_do_not(
    run: Run, bob: User, alice: User, client_for: Callable[[User | None], Client], write: Callable[..., Note]
) -> None:
    note = write(bob, "Frist.")
    address = f"/runs/{run.public_id}/notes/{note.pk}/edit/"
    assert client_for(alice).get(address).status_code == 404
    assert client_for(alice).post(address, {"text": "Mine now."}).status_code == 404
    assert "Frist." in client_for(bob).get(address).content.decode()
    client_for(bob).post(address, {"text": "First."})
    note.refresh_from_db()
    assert note.text == "First."
    assert note.edited_at is not None


def test_authors_and_steerers_delete_a_note_and_others_do_not(
    run: Run, bob: User, alice: User, client_for: Callable[[User | None], Client], write: Callable[..., Note]
) -> None:
    by_alice, first, second = write(alice, "By Alice."), write(bob, "One."), write(bob, "Two.")
    delete = {"action": "delete"}
    refused = client_for(bob).post(f"/runs/{run.public_id}/notes/{by_alice.pk}/change/", delete, follow=True)
    assert "may delete a note" in refused.content.decode()
    client_for(bob).post(f"/runs/{run.public_id}/notes/{first.pk}/change/", delete)
    client_for(alice).post(f"/runs/{run.public_id}/notes/{second.pk}/change/", delete)
    assert list(Note.objects.values_list("pk", flat=True)) == [by_alice.pk]


def test_readers_resolve_and_reopen_a_note(
    run: Run, bob: User, alice: User, client_for: Callable[[User | None], Client], write: Callable[..., Note]
) -> None:
    note, client = write(alice, "Check the base case."), client_for(bob)
    address = f"/runs/{run.public_id}/notes/{note.pk}/change/"
    tab = 'Notes <span class="num">1</span>'
    assert tab in client.get(f"/runs/{run.public_id}/").content.decode()
    client.post(address, {"action": "resolve"})
    note.refresh_from_db()
    assert note.is_resolved
    assert note.resolved_by == bob
    assert tab not in client.get(f"/runs/{run.public_id}/").content.decode()
    client.post(address, {"action": "reopen"})
    note.refresh_from_db()
    assert not note.is_resolved


def test_a_note_of_another_run_is_not_changed_through_this_one(
    run: Run, alice: User, client_for: Callable[[User | None], Client], write: Callable[..., Note]
) -> None:
    note, other = write(alice, "Stay."), make_story_run()
    assert client_for(alice).post(f"/runs/{other.public_id}/notes/{note.pk}/change/", {"action": "delete"}).status_code == 404
    assert Note.objects.filter(pk=note.pk).exists()


def test_a_mentioned_person_finds_the_note_on_the_home_page_until_it_is_seen(
    run: Run, alice: User, bob: User, client_for: Callable[[User | None], Client], write: Callable[..., Note]
) -> None:
    note = write(alice, "Please look, @bob: is this a gap?", "step", "proof/2#1")
    client = client_for(bob)
    page = html.unescape(client.get("/").content.decode())
    assert "Notes that mention you" in page
    assert f'href="/runs/{run.public_id}/proofs/2/#note-{note.pk}"' in page
    client.post(f"/notes/{note.pk}/seen/")
    assert "Notes that mention you" not in client.get("/").content.decode()
    assert "Notes that mention you" not in client_for(alice).get("/").content.decode()


@pytest.mark.parametrize("name", ["charlie", "nosuchperson"])
def test_a_mention_of_someone_who_may_not_see_the_run_stays_text_and_says_the_same_as_an_unknown_name(
    run: Run, alice: User, charlie: User, client_for: Callable[[User | None], Client], name: str
) -> None:
    body = {"kind": "run", "text": f"Ask @{name}. And write to a@{name}.org"}
    page = client_for(alice).post(f"/runs/{run.public_id}/notes/write/", body, follow=True).content.decode()
    assert f"@{name} received nothing: no person of this name may see this run." in page
    assert not Mention.objects.exists()
    assert "mention you" not in client_for(charlie).get("/").content.decode()


def test_a_mention_disappears_from_home_when_the_person_may_no_longer_see_the_run(
    alice: User, bob: User, client_for: Callable[[User | None], Client], write: Callable[..., Note]
) -> None:
    write(alice, "@bob")
    bob.role = Role.STUDENT
    bob.save()
    assert "mention you" not in client_for(bob).get("/").content.decode()


def test_a_mention_written_later_by_an_edit_counts_and_a_removed_one_does_not(
    run: Run, alice: User, bob: User, client_for: Callable[[User | None], Client], write: Callable[..., Note]
) -> None:
    note, eve = write(alice, "@bob"), make_user("eve")
    client_for(alice).post(f"/runs/{run.public_id}/notes/{note.pk}/edit/", {"text": "@eve, I, @alice, agree"})
    assert [mention.person for mention in Mention.objects.all()] == [eve]


def test_a_note_leaves_the_run_as_it_was(
    run: Run, bob: User, client_for: Callable[[User | None], Client], write: Callable[..., Note]
) -> None:
    before = Run.objects.values().get(pk=run.pk)
    exported = b"".join(client_for(bob).get(f"/runs/{run.public_id}/export.jsonl"))
    write(bob, "Secret of the readers.", "lemma", "s0.7")
    assert Run.objects.values().get(pk=run.pk) == before
    assert not run.commands.exists()
    assert b"".join(client_for(bob).get(f"/runs/{run.public_id}/export.jsonl")) == exported


def test_htmx_receives_the_notes_of_the_place_alone(run: Run, alice: User, client_for: Callable[[User | None], Client]) -> None:
    client, address = client_for(alice), f"/runs/{run.public_id}/notes/write/"
    form = client.get(address, {"kind": "lemma", "target": "s0.7"}, headers={"HX-Request": "true"}).content.decode()
    assert "<textarea" in form
    assert "<html" not in form
    body = {"kind": "lemma", "target": "s0.7", "text": "Short."}
    part = client.post(address, body, headers={"HX-Request": "true"}).content.decode()
    assert "Short." in part
    assert "<textarea" not in part
    assert part.lstrip().startswith('<div class="notes notes--lemma" data-notes>')


def test_many_notes_cost_one_query_however_many_steps_a_proof_has(
    run: Run, alice: User, client_for: Callable[[User | None], Client], write: Callable[..., Note]
) -> None:
    for step in (1, 2, 3):
        write(alice, f"On step {step}.", "step", f"proof/2#{step}")
    client = client_for(alice)
    with CaptureQueriesContext(connection) as queries:
        client.get(f"/runs/{run.public_id}/proofs/2/")
    assert sum('FROM "notes_note"' in one["sql"] for one in queries) == 1
