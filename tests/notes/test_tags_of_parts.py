"""Tags on lemmas, steps and calls: who sets, sees and removes them."""

from collections.abc import Callable

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.desk.models import Tag
from apps.runs.models import Run
from tests.lemmas.factory import make_story_run

PARTS = [
    ("lemma", "s0.7", "lemmas/s0.7/"), ("step", "proof/2#1", "proofs/2/"), ("call", "s0/r1/reason", "calls/s0/r1/reason/"),
]  # fmt: skip
ClientFor = Callable[[User | None], Client]


@pytest.fixture
def run(alice: User) -> Run:
    run = make_story_run()
    run.owner = alice
    run.save(update_fields=["owner"])
    return run


def change(client: Client, run: Run, action: str = "tag", kind: str = "lemma", target: str = "s0.7", tag: str = "key") -> int:
    body = {"kind": kind, "target": target, "tag": tag, "action": action}
    return client.post(f"/runs/{run.public_id}/notes/tag/", body).status_code


@pytest.mark.parametrize(("kind", "target", "page"), PARTS)
def test_a_reader_tags_a_part_of_a_run_and_its_page_shows_the_tag(
    run: Run, bob: User, alice: User, client_for: ClientFor, kind: str, target: str, page: str
) -> None:
    for _ in range(2):
        assert change(client_for(bob), run, kind=kind, target=target, tag=" Key  Step ") == 302
    assert [(tag.name, tag.kind, tag.target, tag.by) for tag in Tag.objects.all()] == [("key step", kind, target, bob)]
    assert ">key step</span>" in client_for(alice).get(f"/runs/{run.public_id}/{page}").content.decode()
    assert ">key step</span>" not in client_for(alice).get(f"/runs/{run.public_id}/lemmas/s0.2/").content.decode()


def test_students_and_places_that_the_run_lacks_get_no_tag(run: Run, alice: User, charlie: User, client_for: ClientFor) -> None:
    assert change(client_for(charlie), run) == 404
    assert change(client_for(alice), run, target="s9.9") == 404
    assert change(client_for(alice), run, tag="a, b") == 422
    assert not Tag.objects.exists()


def test_people_remove_their_own_tags_and_steerers_those_of_others(
    run: Run, alice: User, bob: User, client_for: ClientFor
) -> None:
    change(client_for(alice), run)
    assert change(client_for(bob), run, "untag") == 422
    assert Tag.objects.count() == 1
    change(client_for(bob), run, tag="mine")
    assert change(client_for(bob), run, "untag", tag="mine") == 302
    change(client_for(bob), run, tag="his")
    assert change(client_for(alice), run, "untag", tag="his") == 302
    assert [tag.name for tag in Tag.objects.all()] == ["key"]


def test_a_part_has_a_limited_number_of_tags(run: Run, alice: User, client_for: ClientFor) -> None:
    for number in range(20):
        assert change(client_for(alice), run, tag=f"tag {number}") == 302
    assert change(client_for(alice), run, tag="one more") == 422
