"""Statements that a model drafts: the request, one more question after a refusal, what lands in the form, who may ask."""

import html
import json
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from apps.accounts.models import User
from apps.geometry.constructions import CONSTRUCTIONS
from apps.geometry.predicates import PREDICATES
from apps.problems.geometry_drafts import KEPT, drafts_work
from apps.problems.models import DraftState, GeometryDraft
from apps.reasoning.domain.errors import BackendError, BackendRefused
from apps.reasoning.domain.generation import Final, GenerationRequest
from apps.reasoning.formal.geometry import statement_schema
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.ports import Dispatcher
from tests.problems.factory import make_problem

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
WORDS = "Let $H$ be the orthocentre of the triangle $ABC$. Show that $AH\\perp BC$."
GOOD = {"clauses": ["a b c = triangle a b c", "h = orthocenter h a b c"], "goals": ["perp a h b c"]}
BAD = {"clauses": ["a b c = triangle a b c", "h = orthocenter h a b d"], "goals": ["perp a h b c"]}
MODELS = """
[small]
backend = "openvino"
title = "The small one"
model = "m"
"""


@pytest.fixture
def client(bob: User, client_for: ClientFor, settings: Settings, tmp_path: Path) -> Client:
    settings.GEOMETRY_PYTHON, settings.MODELS_FILE = "/nowhere/python", tmp_path / "models.toml"
    settings.MODELS_FILE.write_text(MODELS)
    return client_for(bob)


class Model:
    """A model that gives one answer after another."""

    def __init__(self, *answers: dict[str, Any] | str | BackendError) -> None:
        self.answers = list(answers)
        self.requests: list[GenerationRequest] = []

    async def dispatch(self, request: GenerationRequest) -> Final:
        said = self.answers[min(len(self.requests), len(self.answers) - 1)]
        self.requests.append(request)
        if isinstance(said, BackendError):
            raise said
        return Final(text=said if isinstance(said, str) else json.dumps(said), finish_reason="stop", duration_s=0.1)


def ask(client: Client, words: str = WORDS, alias: str = "small") -> Any:
    return client.post(reverse("problems:geometry_draft"), {"words": words, "alias": alias})


def drafted(client: Client, *answers: dict[str, Any] | str | BackendError) -> tuple[str, Model]:
    """The page of a draft after a model with these answers was asked."""
    address = ask(client)["Location"]
    model = Model(*answers)

    @asynccontextmanager
    async def scripted(_run: str, _aliases: Sequence[Alias]) -> AsyncIterator[Dispatcher]:
        yield model

    assert drafts_work(scripted, lambda _: None) == 1
    return html.unescape(client.get(address).content.decode()), model


def test_a_draft_lands_in_the_form_and_is_not_checked(client: Client) -> None:
    waiting = ask(client)["Location"]
    assert 'hx-trigger="every 2s"' in client.get(waiting).content.decode()
    assert client.get(waiting, headers={"HX-Request": "true"}).status_code == 204
    said, model = drafted(client, GOOD)
    assert "a b c = triangle a b c; h = orthocenter h a b c ? perp a h b c</textarea>" in said
    assert "Written by the model small and not checked" in said
    assert "figure__point" not in said
    assert "Show that $AH" in said, "the words stay"
    assert "x = foot x a b c" in model.requests[0].messages[0].content, "the language is explained"
    assert client.get(waiting, headers={"HX-Request": "true"})["HX-Redirect"] == waiting


def test_after_a_refusal_the_model_is_asked_once_more_with_the_error(client: Client) -> None:
    said, model = drafted(client, BAD, GOOD)
    assert len(model.requests) == 2
    assert "character" in model.requests[1].messages[-1].content
    assert "“d”" in model.requests[1].messages[-1].content
    assert "field--error" not in said
    assert "h = orthocenter h a b c ?" in said


def test_a_statement_that_is_refused_twice_is_shown_with_the_error(client: Client) -> None:
    said, model = drafted(client, BAD)
    assert len(model.requests) == 2
    assert "h = orthocenter h a b d ? perp a h b c</textarea>" in said
    assert "field--error" in said
    assert "its last statement cannot be read" in said


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("I cannot do this.", "there is no JSON object with clauses"),
        ({"clauses": [], "goals": ["perp a b c d"]}, "there is no JSON object with clauses"),
        (BackendRefused("No worker serves small."), "No worker serves small."),
    ],
)
def test_without_a_statement_the_reason_is_said(client: Client, answer: Any, reason: str) -> None:
    said, _ = drafted(client, answer)
    assert f"No statement was written: {reason}" in said
    assert GeometryDraft.objects.get().state == DraftState.FAILED


def test_the_words_of_a_problem_are_offered(client: Client) -> None:
    problem = make_problem("Altitudes", topic="G", statement=WORDS)
    assert f"?problem={problem.slug}" in client.get(reverse("problems:detail", args=[problem.slug])).content.decode()
    said = html.unescape(client.get(reverse("problems:geometry"), {"problem": problem.slug}).content.decode())
    assert f"{WORDS}</textarea>" in said


def test_words_and_model_are_needed(client: Client) -> None:
    assert "Write the problem in words" in ask(client, " ").content.decode()
    said = html.unescape(ask(client, alias="gone").content.decode())
    assert "There is no such model" in said
    assert f"{WORDS}</textarea>" in said
    assert not GeometryDraft.objects.exists()


def test_a_student_has_no_drafts_and_others_see_only_their_own(
    client: Client, charlie: User, alice: User, client_for: ClientFor
) -> None:
    address = ask(client)["Location"]
    student = client_for(charlie)
    assert ask(student).status_code == 404
    assert "Draft with a model" not in student.get(reverse("problems:geometry")).content.decode()
    assert client_for(alice).get(address).status_code == 404
    assert client.get(f"{reverse('problems:geometry')}?draft=x").status_code == 404


def test_only_the_newest_drafts_are_kept(client: Client) -> None:
    for number in range(KEPT + 2):
        ask(client, f"Problem {number}")
    ask(client, "Problem 21")
    assert GeometryDraft.objects.count() == KEPT
    assert not GeometryDraft.objects.filter(words="Problem 0").exists()


def test_the_schema_holds_clauses_and_goals_to_the_language() -> None:
    fields = statement_schema(list(CONSTRUCTIONS), list(PREDICATES))["properties"]
    clause, goal = (fields[name]["items"]["pattern"] for name in ("clauses", "goals"))
    for good in (*GOOD["clauses"], "x = on_line x a b, on_circle x o a", "x = s_angle a b x 60o"):
        assert re.search(clause, good)
    assert re.search(goal, "aconst a b c d 60o")
    for bad in ("h = ortocenter a b c", "= triangle a b c", "A B C = triangle A B C"):
        assert not re.search(clause, bad)
