"""Notes and tags over the API: the rules of the pages, mentions, and the same request twice."""

from typing import Any

import pytest

from apps.accounts import throttle
from apps.accounts.models import User
from apps.desk.models import Tag
from apps.notes.models import Mention, Note
from apps.runs.models import Run
from tests.api.conftest import Ask
from tests.lemmas.factory import make_story_run


@pytest.fixture
def run(alice: User) -> Run:
    run = make_story_run()
    run.owner = alice
    run.save(update_fields=["owner"])
    return run


@pytest.fixture
def address(run: Run) -> str:
    return f"runs/{run.public_id}"


@pytest.mark.parametrize(("kind", "target"), [("run", ""), ("lemma", "s0.7"), ("step", "proof/2#1"), ("call", "s0/r1/reason")])
def test_a_reader_writes_a_note_that_all_readers_list(
    kind: str, target: str, address: str, ask: Ask, send: Ask, alice: User, bob: User
) -> None:
    answer = send(bob, f"{address}/notes", {"kind": kind, "target": target, "text": "Why $8$?"})
    assert answer.status_code == 201
    assert answer.json()["unreached"] == []
    (note,) = ask(alice, f"{address}/notes").json()["items"]
    assert (note["kind"], note["target"], note["text"], note["by"]) == (kind, target, "Why $8$?", "bob")
    assert (note["may_edit"], note["may_delete"], note["is_resolved"]) == (False, True, False)


def test_notes_are_listed_by_place_and_state(address: str, ask: Ask, send: Ask, alice: User) -> None:
    send(alice, f"{address}/notes", {"text": "One."})
    lemma = send(alice, f"{address}/notes", {"kind": "lemma", "target": "s0.7", "text": "Two."}).json()
    send(alice, f"{address}/notes", {"kind": "lemma", "target": "s0.2", "text": "Three."})
    send(alice, f"{address}/notes/{lemma['id']}", {"is_resolved": True}, method="patch")

    def texts(**query: Any) -> list[str]:
        return [one["text"] for one in ask(alice, f"{address}/notes", **query).json()["items"]]

    assert texts() == ["One.", "Two.", "Three."]
    assert texts(kind="lemma", target="s0.7") == ["Two."]
    assert texts(kind="lemma", is_open="true") == ["Three."]


def test_a_mention_reaches_a_reader_and_names_the_others(
    address: str, send: Ask, alice: User, bob: User, charlie: User
) -> None:
    text = "@bob, @charlie and @none: is this right?"
    note = send(alice, f"{address}/notes", {"text": text}).json()
    assert note["unreached"] == ["charlie", "none"]
    assert Mention.objects.get().person == bob
    changed = send(alice, f"{address}/notes/{note['id']}", {"text": "@none?"}, method="patch").json()
    assert changed["unreached"] == ["none"]
    assert not Mention.objects.exists()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"kind": "lemma", "target": "s9.9", "text": "Hm."}, "no such lemma, step or call"),
        ({"kind": "step", "target": "s0.7", "text": "Hm."}, "no such lemma, step or call"),
        ({"kind": "page", "text": "Hm."}, "kind: Input should be 'run', 'lemma', 'step' or 'call'."),
        ({"text": "  "}, "Write a text first."),
        ({"text": "x" * 10_001}, "text: String should have at most 10000 characters."),
        ({}, "text: it is missing."),
    ],
)
def test_an_unusable_note_is_refused(body: dict[str, str], words: str, address: str, send: Ask, alice: User) -> None:
    answer = send(alice, f"{address}/notes", body)
    assert (answer.status_code, words in answer.json()["detail"]) == (422, True)
    assert not Note.objects.exists()


def test_only_the_author_changes_a_note_and_every_reader_resolves_it(address: str, send: Ask, alice: User, bob: User) -> None:
    note = f"{address}/notes/{send(bob, f'{address}/notes', {'text': 'Why?'}).json()['id']}"
    refused = send(alice, note, {"text": "Because."}, method="patch")
    assert (refused.status_code, refused.json()["detail"]) == (403, "Only its author may change a note.")
    resolved = send(alice, note, {"is_resolved": True}, method="patch").json()
    assert (resolved["is_resolved"], resolved["resolved_by"], resolved["text"]) == (True, "alice", "Why?")
    changed = send(bob, note, {"text": "Why so?", "is_resolved": False}, method="patch")
    assert changed.status_code == 200
    assert (changed.json()["text"], changed.json()["is_resolved"], changed.json()["edited_at"] is None) == (
        "Why so?",
        False,
        False,
    )


def test_an_author_and_who_may_steer_the_run_delete_a_note_others_do_not(
    address: str, send: Ask, alice: User, bob: User
) -> None:
    mine, bobs = (f"{address}/notes/{send(one, f'{address}/notes', {'text': 'A.'}).json()['id']}" for one in (alice, bob))
    refused = send(bob, mine, method="delete")
    assert (refused.status_code, "may delete a note" in refused.json()["detail"]) == (403, True)
    for note in (mine, bobs):
        assert send(alice, note, method="delete").json()["text"] == "A."
    assert not Note.objects.exists()
    assert send(alice, mine, method="delete").status_code == 404


def test_the_same_request_twice_writes_and_deletes_once(address: str, send: Ask, alice: User) -> None:
    first, again = (send(alice, f"{address}/notes", {"text": "Once."}, key="a").json() for _ in range(2))
    assert first == again
    assert Note.objects.count() == 1
    deleted = [send(alice, f"{address}/notes/{first['id']}", method="delete", key="b") for _ in range(2)]
    assert [one.status_code for one in deleted] == [200, 200]
    tagged = [send(alice, f"{address}/tags", {"add": ["key"]}, method="patch", key="c").json() for _ in range(2)]
    assert tagged[0] == tagged[1]


def test_notes_and_tags_count_as_writing_requests(
    address: str, send: Ask, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throttle, "WRITES", 1)
    assert send(alice, f"{address}/notes", {"text": "One."}).status_code == 201
    assert send(alice, f"{address}/tags", {"add": ["key"]}, method="patch").status_code == 429


def test_a_student_finds_no_notes_and_no_tags(address: str, ask: Ask, send: Ask, charlie: User) -> None:
    for name, body in (("notes", {"text": "Hm."}), ("tags", {"add": ["key"]})):
        assert ask(charlie, f"{address}/{name}").status_code == 404
        assert send(charlie, f"{address}/{name}", body, method="post" if name == "notes" else "patch").status_code == 404


def test_tags_are_set_on_a_run_and_on_its_parts(address: str, ask: Ask, send: Ask, alice: User, bob: User) -> None:
    on_run = send(bob, f"{address}/tags", {"add": ["Key  lemma", "best"]}, method="patch")
    assert [one["name"] for one in on_run.json()["items"]] == ["best", "key lemma"]
    part = send(alice, f"{address}/tags", {"kind": "lemma", "target": "s0.7", "add": ["odd"]}, method="patch").json()
    assert [(one["name"], one["target"], one["by"]) for one in part["items"]] == [("odd", "s0.7", "alice")]
    assert {one["name"] for one in ask(alice, f"{address}/tags").json()["items"]} == {"best", "key lemma", "odd"}
    assert ask(alice, address).json()["tags"] == ["best", "key lemma"]
    assert [one["tags"] for one in ask(alice, "runs").json()["items"]] == [["best", "key lemma"]]


def test_a_tag_of_another_person_is_removed_only_by_who_may_steer_the_run_and_nothing_else_changes(
    address: str, send: Ask, alice: User, bob: User
) -> None:
    send(alice, f"{address}/tags", {"add": ["hers"]}, method="patch")
    refused = send(bob, f"{address}/tags", {"add": ["his"], "remove": ["hers"]}, method="patch")
    assert (refused.status_code, "Another person set this tag." in refused.json()["detail"]) == (422, True)
    assert [tag.name for tag in Tag.objects.all()] == ["hers"]
    send(bob, f"{address}/tags", {"add": ["his"]}, method="patch")
    assert send(alice, f"{address}/tags", {"remove": ["his", "hers", "none"]}, method="patch").json() == {"items": []}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "Send names of tags in add or remove."),
        ({"add": ["a,b"]}, "without a comma. Nothing was changed."),
        ({"add": [str(n) for n in range(21)]}, "add: List should have at most 20 items"),
        ({"kind": "lemma", "target": "s9.9", "add": ["a"]}, "no such lemma"),
    ],
)
def test_unusable_tags_are_refused(body: dict[str, Any], words: str, address: str, send: Ask, alice: User) -> None:
    answer = send(alice, f"{address}/tags", body, method="patch")
    assert (answer.status_code, words in answer.json()["detail"]) == (422, True)
    assert not Tag.objects.exists()
