"""Commands: recorded once, pending until applied, refused in words, and only for those who may steer."""

import uuid
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.runs.models import Run, RunCommand, RunStatus
from tests.explorations.factory import command_form, make_exploration


@pytest.fixture
def run(alice: User) -> Run:
    return make_exploration(alice, RunStatus.RUNNING)


@pytest.fixture
def client(alice: User, client_for: Callable[[User | None], Client]) -> Client:
    return client_for(alice)


def send(client: Client, run: Run, form: dict[str, str]) -> str:
    response = client.post(reverse("explorations:command", args=[run.public_id]), form, follow=True)
    assert response.status_code == 200
    return response.content.decode()


def test_a_command_is_recorded_and_shown_as_pending(client: Client, run: Run, alice: User) -> None:
    page = send(client, run, command_form("hint", text="Look at residues modulo 16."))
    asked = RunCommand.objects.get()
    assert (asked.name, asked.by, asked.state) == ("hint", alice, "pending")
    assert asked.args == {"text": "Look at residues modulo 16."}
    assert "pending" in page
    assert "Look at residues modulo 16." in page


def test_the_same_click_twice_is_one_command(client: Client, run: Run) -> None:
    form = command_form("pause")
    send(client, run, form)
    page = send(client, run, form)
    assert RunCommand.objects.count() == 1
    assert "Pausing …" in page


def test_htmx_gets_the_header_back(client: Client, run: Run) -> None:
    url = reverse("explorations:command", args=[run.public_id])
    part = client.post(url, command_form("write_up"), headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part
    assert 'id="run-header"' in part
    assert "takes effect at the run" in part


@pytest.mark.parametrize(
    ("form", "words"),
    [
        (command_form("dance"), "There is no command dance."),
        (command_form("hint"), "Hint needs a text."),
        (command_form("hint", text="x" * 20_001), "longer than 20,000 characters"),
        (command_form("extend_budget", tokens="many"), "Tokens must be a number"),
        (command_form("extend_budget", tokens="-5"), "positive numbers"),
        ({"command_id": "7", "name": "pause"}, "the form has no valid id"),
        (command_form("inject_lemma", proof="Trivial."), "needs a statement"),
    ],
)
def test_a_refused_command_says_why(client: Client, run: Run, form: dict[str, str], words: str) -> None:
    assert words in send(client, run, form)
    assert not RunCommand.objects.exists()


def test_a_finished_run_takes_no_command(client: Client, alice: User) -> None:
    run = make_exploration(alice)
    assert "it accepts no commands" in send(client, run, command_form("pause"))


def test_more_budget_is_added_at_once(client: Client, run: Run) -> None:
    send(client, run, command_form("extend_budget", tokens="5,000", calls="10"))
    run.refresh_from_db()
    assert run.budget == {"tokens": 25_000, "calls": 110, "seconds": None}


def test_a_coach_watches_but_does_not_steer(run: Run, bob: User, client_for: Callable[[User | None], Client]) -> None:
    coach = client_for(bob)
    page = coach.get(reverse("explorations:run_detail", args=[run.public_id])).content.decode()
    assert 'value="pause"' not in page
    assert "Only the owner of a run or a researcher may steer it." in send(coach, run, command_form("pause"))
    assert not RunCommand.objects.exists()


def test_a_student_sees_and_steers_no_run(run: Run, charlie: User, client_for: Callable[[User | None], Client]) -> None:
    student = client_for(charlie)
    for name in ("run_detail", "run_log", "export", "run_header", "run_charts", "fork"):
        assert student.get(reverse(f"explorations:{name}", args=[run.public_id])).status_code == 404
    for name in ("command", "resume"):
        assert student.post(reverse(f"explorations:{name}", args=[run.public_id]), command_form("pause")).status_code == 404
    assert student.post(reverse("explorations:worked_example")).status_code == 404
    assert not RunCommand.objects.exists()


def test_an_unknown_run_does_not_exist(client: Client) -> None:
    assert client.get(reverse("explorations:run_detail", args=[uuid.uuid4()])).status_code == 404


def test_lemmas_are_offered_where_a_library_takes_them(client: Client, run: Run, alice: User) -> None:
    address = reverse("explorations:run_detail", args=[run.public_id])
    assert 'id="inject-statement"' in client.get(address).content.decode()
    Run.objects.filter(pk=run.pk).update(scaffold="rsa")
    page = client.get(address).content.decode()
    assert "Your lemma" not in page
    assert "Send hint" in page
