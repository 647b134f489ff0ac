"""What a prompt lacks so that it fits its model's context is shown: on the run's page, in its log and on the call's page."""

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.explorations.progress import Progress
from apps.explorations.run_warnings import TooLong, long_prompts
from apps.explorations.words import role_word
from apps.reasoning.domain.prompt_events import PromptFitted, PromptRefused
from apps.runs.models import Run
from tests.explorations.factory import add_event, make_exploration

pytestmark = pytest.mark.django_db

WHY = "the prompt takes about 9,000 of the 8,192 tokens that its model can hold: choose a model with a longer context"
FITTED = PromptFitted(
    call="s0/r1/summarise", role="summarizer", left_out=("Lemma 3", "Lemma 5"), shortened={"the thinking": 12_400}
)


def make_fitted_run(owner: User) -> Run:
    run = make_exploration(owner)
    add_event(run, "s0/r1/summarise/fitted", FITTED)
    add_event(run, "final/check/1/1/refused", PromptRefused(call="final/check/1/1", role="process_verifier", reason=WHY))
    return run


def test_the_page_counts_by_role_what_was_left_out_and_says_why_a_call_was_not_made(client: Client, alice: User) -> None:
    client.force_login(alice)
    run = make_fitted_run(alice)
    assert long_prompts(run) == [
        TooLong("process_verifier", "Check the proof", 0, 0, 0, 1, WHY),
        TooLong("summarizer", role_word("summarizer"), 1, 2, 1, 0, ""),
    ]
    page = " ".join(client.get(reverse("explorations:run_detail", args=[run.public_id])).content.decode().split())
    assert "1 prompt did not fit the model&#x27;s context" in page or "1 prompt did not fit the model's context" in page
    assert "2 texts were left out of it and 1 was shortened" in page
    assert f"1 call was not made: {WHY}" in page


def test_a_run_whose_prompts_fit_says_nothing(client: Client, alice: User) -> None:
    client.force_login(alice)
    run = make_exploration(alice)
    assert long_prompts(run) == []
    assert "did not fit" not in client.get(reverse("explorations:run_detail", args=[run.public_id])).content.decode()


@pytest.mark.parametrize("query", ["", "?q=Text of s0/r1/summarise"])
def test_the_log_says_what_each_prompt_lacks(client: Client, alice: User, query: str) -> None:
    client.force_login(alice)
    run = make_fitted_run(alice)
    page = client.get(reverse("explorations:run_log", args=[run.public_id]) + query).content.decode()
    assert "left out: Lemma 3, Lemma 5; shortened: the thinking (12,400 characters)" in page


def test_the_page_of_a_call_and_the_terminal_say_it_too(client: Client, alice: User) -> None:
    client.force_login(alice)
    run = make_fitted_run(alice)
    page = client.get(reverse("explorations:call", args=[run.public_id, "s0/r1/summarise"])).content.decode()
    assert "left out: Lemma 3, Lemma 5; shortened: the thinking (12,400 characters)." in page
    row = {"seq": 1, "key": "x", "kind": "prompt.fitted", "body": FITTED.model_dump(mode="json"), "at": None}
    assert Progress().take(row) == (  # type: ignore[arg-type]
        "fitted to the context: s0/r1/summarise (left out: Lemma 3, Lemma 5; shortened: the thinking (12,400 characters))"
    )
