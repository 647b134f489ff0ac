"""The parts of a recorded prompt have names: those of the headings that the prompt files put before them."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.explorations.calls.prompts import INSTRUCTIONS, sections
from apps.reasoning.prompts.loader import load, render
from apps.reasoning.scaffolds.running.hearing import asked_before
from tests.explorations.factory import make_exploration

NAMES = {
    "reasoner": ["Problem", "Lemma library", "Lemmas that did not pass verification", "Suggestions from people", "Your task"],
    "process_verifier": ["Problem", "Lemmas that the solution uses", "Solution to mark"],
    "writer": ["Problem", "Lemma library", "Working notes of a round that claimed a complete solution", "Your task"],
}


@pytest.mark.parametrize("role", NAMES)
def test_sections_are_named_by_their_headings_and_nothing_is_lost(role: str) -> None:
    prompt = load(f"intern_s1_mo/{role}")
    values = {name: f"({name})\n## Not a section\n" for name in prompt.placeholders}
    rendered = render(prompt, values)
    named = sections(rendered.parts)
    assert [section.name for section in named] == [INSTRUCTIONS, *NAMES[role]]
    assert "".join(section.text for section in named) == "".join(rendered.parts)


def test_a_prompt_without_headings_has_a_request() -> None:
    assert [section.name for section in sections(["Be brief.", "Which primes?"])] == [INSTRUCTIONS, "Request"]
    assert sections([]) == []


def test_a_second_question_has_the_first_answer_and_the_question_as_sections_of_their_own() -> None:
    parts = ["Be brief.", "\n\n## Problem\nWhich primes?", "## Problem\nAll of them.", "Write the claim."]
    named = sections(parts, is_second=True)
    assert [section.name for section in named] == [INSTRUCTIONS, "Problem", "First answer", "Asked once more"]
    assert "".join(section.text for section in named) == "".join(parts)
    assert asked_before("s0/r1/reason/again") == asked_before("s0/r1/reason/again/in_words") == "s0/r1/reason"
    assert asked_before("s0/r1/reason") == ""


def test_the_call_page_shows_the_names(client_for: Callable[[User | None], Client], alice: User) -> None:
    run = make_exploration(alice)
    url = reverse("explorations:call", args=[run.public_id, "s0/r1/reason"])
    page = client_for(alice).get(url).content.decode()
    assert "<summary>Instructions " in page
    assert "<summary>Request " in page
    assert "Part 1" not in page
