"""Forks from a place that cannot be made: each refusal says what to do."""

import io
from typing import Any
from unittest.mock import Mock

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from apps.accounts.models import Role, User
from apps.explorations.forking.offers import offers_of
from apps.explorations.forking.places import Place
from apps.explorations.forking.walk import walk
from apps.explorations.management.commands import fork_run
from apps.explorations.services import worked_example_start
from apps.runs.models import Run, RunStatus
from tests.explorations.forking import Model, forked, here, make_parent, refusals

pytestmark = pytest.mark.django_db(transaction=True)


def test_what_cannot_be_done_is_refused_with_what_to_do(ada: User) -> None:
    parent = make_parent()
    assert "before the first call" in offers_of(parent, Place(seq=1), ada).trouble
    assert "Choose an event" in offers_of(parent, Place(), ada).trouble
    first = refusals(offers_of(parent, Place(call="s0/r1/reason"), ada))
    assert "nothing can be taken over" in first["unchanged"]
    assert first["without"] == "Open the lemma, and fork from its panel."
    assert first["hint"] == ""
    merged = refusals(offers_of(parent, Place(lemma="s0.5"), ada))
    assert merged["without"] == merged["corrected"] == "It is merged into lemma s0.3. Fork from that lemma."
    last = refusals(offers_of(parent, Place(seq=parent.last_seq), ada))
    assert last["hint"].startswith("No later prompt reads hints. The last that does: before revision 1")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"prompt_hashes": {"other": "x"}}, "The prompts of this method have changed"),
        ({"scaffold": "gone"}, "The method of this run no longer exists"),
        ({"roles": {"reasoner": {"alias": "small", "revision": "old", "sampling": {}}}}, "has another version now"),
        ({"roles": {"reasoner": {"alias": "off", "revision": "off", "sampling": {}}}}, "is no longer enabled"),
        ({"seed": 8}, "The code or the prompts have changed"),
    ],
)
def test_a_run_that_would_be_asked_otherwise_now_is_refused(ada: User, change: dict[str, Any], sentence: str) -> None:
    parent = make_parent()
    parent.spec = {**parent.spec, **change}
    parent.scaffold = parent.spec["scaffold"]
    assert sentence in offers_of(parent, Place(call="s0/r2/reason"), ada).trouble


def test_the_worked_example_and_imports_are_refused_in_words(client: Client, ada: User) -> None:
    example = worked_example_start(user=ada, start=False)
    assert "The worked example cannot be forked" in client.get(here(example, event=3)).content.decode()
    parent = make_parent()
    Run.objects.filter(pk=parent.pk).update(preset="imported")
    assert "An imported run cannot be forked" in client.get(here(parent, event=3)).content.decode()


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        ({"change": "hint", "text": " "}, "Write the hint."),
        ({"change": "corrected", "statement": " ", "proof": "p"}, "Write the corrected statement."),
        ({"change": "corrected", "statement": "S.", "proof": " "}, "Write a proof for the votes"),
        ({"change": "other"}, "The fork was not started."),
    ],
)
def test_a_wrong_form_starts_nothing_and_says_what_to_do(
    client: Client, ada: User, sent: dict[str, str], sentence: str
) -> None:
    parent = make_parent()
    answer = client.post(here(parent, lemma="s0.1"), sent)
    assert answer.status_code == 422
    assert sentence in answer.content.decode()
    assert not parent.forks.exists()


def test_a_student_forks_nothing_and_a_hidden_parent_is_not_named(client: Client, ada: User) -> None:
    parent = make_parent()
    fork = forked(client, parent, {"lemma": "s0.1"}, change="without")
    client.force_login(User.objects.create(username="charlie", role=Role.STUDENT))
    assert client.get(here(parent, lemma="s0.1")).status_code == 404
    assert client.post(here(parent, lemma="s0.1"), {"change": "without"}).status_code == 404
    Run.objects.filter(pk=fork.pk).update(forked_from=None)
    client.force_login(ada)
    page = client.get(reverse("explorations:run_detail", args=[fork.public_id])).content.decode()
    assert "a run that was deleted or that you may not see" in page


def test_an_interrupted_run_is_walked_with_all_calls_that_it_has(ada: User) -> None:
    parent = make_parent(Model(left=4))
    assert parent.status == RunStatus.FAILED
    found = walk(parent)
    assert [phase.point for phase in found.phases] == ["r1/reason", "r1/summarise", "r1/verify"]
    assert sum(len(phase.calls) for phase in found.phases) == parent.steps.filter(kind="call").count() == 4
    assert refusals(offers_of(parent, Place(lemma="s0.1"), ada))["without"] == ""


def said(*args: str) -> str:
    out = io.StringIO()
    call_command("fork_run", *args, "--user", "ada", stdout=out)
    return out.getvalue()


def test_the_command_shows_and_starts_the_same_fork(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fork_run, "is_stack_up", lambda: False)
    driven_here: list[Run] = []

    def drives(run: Run) -> Mock:
        driven_here.append(run)
        return Mock()

    monkeypatch.setattr(fork_run, "drive_in_thread", drives)
    parent = make_parent()
    place = (str(parent.public_id), "--lemma", "s0.1", "--without")
    assert said(*place, "--dry-run").startswith("Beginning: round 1, before the votes on its lemmas. Taken over: 2 calls")
    assert not parent.forks.exists()
    printed = said(*place)
    (fork,) = parent.forks.all()
    assert str(fork.public_id) in printed
    assert (fork.owner, driven_here) == (ada, [fork])
    for args, words in (
        (("--event", "1"), "before the first call"),
        (("--lemma", "s0.5", "--without"), "It is merged into lemma s0.3"),
        (("--lemma", "s0.1", "--statement", "S."), "Write a proof for the votes"),
    ):
        with pytest.raises(CommandError, match=words):
            said(str(parent.public_id), *args)
    with pytest.raises(CommandError, match="There is no run none"):
        said("none", "--event", "9")
