"""A run's page in every state, from recorded rows alone: nothing on it needs JavaScript or a running process."""

import uuid
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from apps.accounts.models import User
from apps.explorations.timeline import timeline
from apps.runs.models import Run, RunCommand, RunStatus
from apps.runs.selectors import open_calls
from tests.explorations.factory import add_open_call, make_exploration, make_unread
from tests.lemmas.factory import make_run


@pytest.fixture
def client(alice: User, client_for: Callable[[User | None], Client]) -> Client:
    return client_for(alice)


def page_of(client: Client, run: Run, query: str = "") -> str:
    response = client.get(reverse("explorations:run_detail", args=[run.public_id]) + query)
    assert response.status_code == 200
    return response.content.decode()


def test_a_queued_run_says_that_it_waits(client: Client) -> None:
    page = page_of(client, make_run(RunStatus.QUEUED))
    assert "queued; waiting for an orchestrator" in page
    assert "No round has begun yet." in page


def test_a_running_run_shows_its_open_calls(client: Client, alice: User) -> None:
    run = make_exploration(alice, RunStatus.RUNNING)
    add_open_call(run)
    page = page_of(client, run)
    assert "1 call under way" in page
    assert 'data-call="s0/r4/reason"' in page
    assert "Pause" in page


def test_a_run_that_has_chosen_its_proof_says_what_is_left(client: Client, alice: User) -> None:
    chosen, under_way = make_exploration(alice, RunStatus.RUNNING), make_exploration(alice, RunStatus.RUNNING)
    under_way.events.filter(kind="proof.selected").delete()
    assert "running; checking the last formulas" in page_of(client, chosen)
    assert "running; between calls" in page_of(client, under_way)


def test_a_run_and_a_command_without_a_user_have_their_page(client: Client) -> None:
    run = make_exploration(None, RunStatus.RUNNING)
    RunCommand.objects.create(run=run, command_id=uuid.uuid4(), name="pause", by=None)
    assert "command line, " in page_of(client, run)
    header = client.get(reverse("explorations:run_header", args=[run.public_id]), headers={"HX-Request": "true"})
    assert "command line, " in header.content.decode()


def test_a_run_without_a_driver_says_so(client: Client, alice: User) -> None:
    run = make_exploration(alice, RunStatus.RUNNING, lease_until=timezone.now() - timedelta(seconds=1))
    assert "stalled; another orchestrator will take it over soon" in page_of(client, run)


def test_a_finished_run_shows_proof_timeline_and_budget(client: Client, alice: User) -> None:
    page = page_of(client, make_exploration(alice))
    assert "finished: accepted" in page
    assert "All 4 valid votes passed." in page
    assert "Round 3" in page
    assert "Proof 2" in page
    assert ">20k<" in page
    assert "Pause" not in page


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        ({"accepted": False, "reason": "Two votes found a fault.", "ended_by": "exhausted"}, "finished: not accepted"),
        (
            {"accepted": None, "reason": "No text could be read.", "ended_by": "nothing-readable"},
            "finished: nothing readable",
        ),
        ({"accepted": None, "reason": "The budget is used up.", "ended_by": "budget"}, "finished: not judged"),
    ],
)
def test_the_end_of_a_run_is_named_honestly(client: Client, alice: User, outcome: dict[str, object], words: str) -> None:
    page = page_of(client, make_exploration(alice, outcome=outcome))
    assert words in page
    assert str(outcome["reason"]) in page


def test_a_failed_run_says_why_and_can_be_resumed(client: Client, alice: User) -> None:
    run = make_exploration(alice, RunStatus.FAILED, status_reason="The model server cannot be reached.")
    page = page_of(client, run)
    assert "The model server cannot be reached." in page
    assert "Resume the run" in page
    client.post(reverse("explorations:resume", args=[run.public_id]))
    run.refresh_from_db()
    assert run.status == RunStatus.QUEUED


def test_a_finished_run_cannot_be_resumed(client: Client, alice: User) -> None:
    run = make_exploration(alice)
    response = client.post(reverse("explorations:resume", args=[run.public_id]), follow=True)
    assert "Only a failed run can be resumed" in response.content.decode()


def test_authored_and_assisted_runs_are_labelled(client: Client, alice: User) -> None:
    page = page_of(client, make_exploration(alice, is_authored=True, is_assisted=True))
    assert "authored example" in page
    assert "assisted" in page
    assert reverse("explorations:fork", args=[Run.objects.get().public_id]) not in page


@pytest.mark.parametrize("tab", ["lemma&lemma=s0.7", "proof&proof=1", "agents", "log", "charts"])
def test_every_tab_opens_without_javascript(client: Client, alice: User, tab: str) -> None:
    page = page_of(client, make_exploration(alice), f"?tab={tab}")
    expected = {
        "lemma": "Lemma 7",
        "proof": "Proof 1",
        "agents": "Verify lemmas",
        "log": "74 calls",
        "charts": "Tokens over",
    }
    assert expected[tab.split("&")[0]] in page


def test_parts_come_alone_for_htmx_and_lead_to_the_page_otherwise(client: Client, alice: User) -> None:
    run = make_exploration(alice)
    for name in ("run_header", "run_timeline", "run_panel"):
        url = reverse(f"explorations:{name}", args=[run.public_id])
        part = client.get(url, headers={"HX-Request": "true"}).content.decode()
        assert "<html" not in part
        assert client.get(url).status_code == 302


def test_the_timeline_counts_calls_votes_and_survivors(alice: User) -> None:
    run = make_exploration(alice, RunStatus.RUNNING)
    add_open_call(run, round_=3)
    shown_timeline = timeline(run, open_calls(run))
    assert shown_timeline.columns == ["Round 1", "Round 2", "Round 3", "Round 4"]
    first = shown_timeline.rows[0].cells[0]
    assert [(bar.role, bar.done) for bar in first.bars] == [("reasoner", 1), ("summarizer", 1), ("theorem_verifier", 12)]
    assert (first.survived, first.proposed) == (3, 3)
    assert shown_timeline.rows[0].cells[2].bars[0].running == 1
    assert shown_timeline.rows[0].cells[2].bars[0].state == "running"


def test_the_charts_have_tokens_per_role_and_confidence_with_intervals(client: Client, alice: User) -> None:
    figures = client.get(reverse("explorations:run_charts", args=[make_exploration(alice).public_id])).json()
    assert {trace["name"] for trace in figures["tokens"]["data"]} >= {"Reason", "Summarise", "Verify lemmas"}
    trace = figures["confidence"]["data"][0]
    assert len(trace["x"]) == len(trace["y"]) == len(trace["error_y"]["array"]) > 8


def test_the_page_asks_few_questions_however_long_the_run(
    client: Client, alice: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    run = make_exploration(alice, RunStatus.RUNNING)
    for number in range(20):
        add_open_call(run, f"s0/r4/verify/{number}", "theorem_verifier")
    with django_assert_max_num_queries(26):
        page_of(client, run)


def test_a_call_page_shows_prompt_text_and_what_was_read(client: Client, alice: User) -> None:
    run = make_exploration(alice)
    page = client.get(reverse("explorations:call", args=[run.public_id, "s0/r1/summarise"])).content.decode()
    assert "You work on a problem." in page
    assert "Text of s0/r1/summarise" in page
    assert "Lemma 1" in page
    assert "1,234 written" in page


def test_an_unread_call_says_so_and_shows_the_raw_text(client: Client, alice: User) -> None:
    run = make_exploration(alice)
    step = run.steps.filter(role="theorem_verifier").earliest("pk")
    make_unread(run, step.key)
    page = client.get(reverse("explorations:call", args=[run.public_id, step.key])).content.decode()
    assert "This answer could not be read" in page
    assert "the verdict line is missing" in page
    assert f"Text of {step.key}" in page


def test_a_call_of_which_a_part_was_left_out_says_so_and_counts(client: Client, alice: User) -> None:
    run = make_exploration(alice)
    make_unread(run, "s0/r1/summarise", part=True)
    page = client.get(reverse("explorations:call", args=[run.public_id, "s0/r1/summarise"])).content.decode()
    assert "the rest counts" in page
    assert "the verdict line is missing" in page
    assert "This answer could not be read" not in page


def test_an_open_call_has_a_page_and_an_unknown_one_has_none(client: Client, alice: User) -> None:
    run = make_exploration(alice, RunStatus.RUNNING)
    add_open_call(run)
    open_page = client.get(reverse("explorations:call", args=[run.public_id, "s0/r4/reason"]))
    assert "This call is running." in open_page.content.decode()
    assert client.get(reverse("explorations:call", args=[run.public_id, "s9/r9/reason"])).status_code == 404


def test_an_event_has_a_permalink_with_its_neighbours(client: Client, alice: User) -> None:
    run = make_exploration(alice)
    page = client.get(reverse("explorations:event", args=[run.public_id, 5])).content.decode()
    assert reverse("explorations:event", args=[run.public_id, 4]) in page
    assert client.get(reverse("explorations:event", args=[run.public_id, 99_999])).status_code == 404
