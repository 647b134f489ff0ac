"""The page *Geometry*: form, figure, outcomes, another configuration, and what it says without the engine."""

import html
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.problems.models import Problem, Topic
from apps.problems.views.geometry import EXAMPLES

TRUE = "a b c = triangle; h = orthocenter a b c ? perp a h b c"
FALSE = "a b c = triangle; i = incenter a b c; h = orthocenter a b c ? coll a i h"
pytestmark = pytest.mark.django_db


@pytest.fixture
def client(charlie: User, client_for: Callable[[User | None], Client], settings: Any) -> Client:
    settings.GEOMETRY_PYTHON = "/nowhere/python"
    return client_for(charlie)


def page(client: Client, name: str = "geometry", **asked: Any) -> str:
    return html.unescape(client.get(reverse(f"problems:{name}"), asked).content.decode())


def test_the_empty_page_offers_examples_and_the_language(client: Client) -> None:
    said = page(client)
    assert "Thales’ theorem" in said
    assert "x = foot x a b c" in said
    assert "eqangle a b c d e f g h" in said
    for _, text in EXAMPLES:
        assert "figure__point" in page(client, statement=text)


def test_a_statement_has_a_figure_with_words_and_the_outcome_of_its_goal(client: Client) -> None:
    said = page(client, statement=TRUE)
    assert 'role="img"' in said
    assert "H: orthocentre of ABC. Asserted: AH ⟂ BC." in said
    assert "Survived 200 configurations." in said
    assert "style=" not in said.partition('<svg class="figure"')[2].partition("</svg>")[0]


def test_another_configuration_has_another_figure(client: Client) -> None:
    first = page(client, statement=TRUE)
    following = first.partition("configuration=")[2].partition("#")[0]
    second = page(client, statement=TRUE, configuration=following)
    assert first.partition('<svg class="figure"')[2] != second.partition('<svg class="figure"')[2]
    assert "figure__point" in page(client, statement=TRUE, configuration="999999")


def test_a_refuted_goal_has_its_coordinates_and_its_figure(client: Client) -> None:
    said = page(client, statement=FALSE)
    assert "refuted" in said
    assert "Computed with 50 digits." in said
    assert "Coordinates" in said
    assert "Show this configuration" in said


def test_an_error_keeps_the_text_and_names_the_place(client: Client) -> None:
    said = page(client, statement="a b c = triangle; h = ortocenter a b c")
    assert "Do you mean “orthocenter”?" in said
    assert "a b c = triangle; h = ortocenter a b c</textarea>" in said
    assert "Line 1, character 23" in page(client, "geometry_proof", statement="a b c = triangle; h = ortocenter a b c")


def test_without_the_engine_the_page_says_so_and_how_to_install_it(client: Client) -> None:
    said = page(client, "geometry_proof", statement=TRUE)
    assert (
        "No proof was searched: the geometry engine is not installed. On the server, make setup-geometry installs it." in said
    )
    assert "Survived 200 configurations." in said
    assert "proved" not in said.replace("not proved", "")


def test_text_of_a_statement_is_never_markup(client: Client) -> None:
    raw = client.get(reverse("problems:geometry"), {"statement": "<script>alert(1)</script> = free"}).content.decode()
    assert "<script>alert" not in raw


def test_a_problem_of_geometry_leads_to_the_page(client: Client) -> None:
    for slug, topic in (("g", Topic.GEOMETRY), ("n", Topic.NUMBER_THEORY)):
        Problem.objects.create(slug=slug, title=slug, topic=topic).versions.create(number=1, statement="A problem.")
    link = f'href="{reverse("problems:geometry")}?problem=g"'
    assert link in client.get(reverse("problems:detail", args=["g"])).content.decode()
    assert link not in client.get(reverse("problems:detail", args=["n"])).content.decode()
