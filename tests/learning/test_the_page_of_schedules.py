"""The page of schedules: access, table, figures, and errors."""

import json

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import Role, User

pytestmark = pytest.mark.django_db

SMALL = {"problems": "4", "slots": "32", "steps": "3"}


def client_of(role: Role) -> Client:
    client = Client()
    client.force_login(User.objects.create_user(f"a {role}", role=role))
    return client


def test_a_researcher_sees_five_schedules_and_their_parameters() -> None:
    page = client_of(Role.RESEARCHER).get(reverse("learning:schedule"), SMALL)
    text = page.content.decode()
    assert page.status_code == 200
    for title in ("Barrier after each role", "Each problem by itself", "Pipeline of roles", "Pipeline in segments", "Ideal"):
        assert title in text
    assert 'name="slots" value="32"' in text
    assert 'name="group" value="8"' in text
    assert "figures.json?problems=4&amp;slots=32&amp;steps=3" in text


def test_coaches_and_students_cannot_open_the_page() -> None:
    for role in (Role.COACH, Role.STUDENT):
        client = client_of(role)
        for name in ("learning:schedule", "learning:schedule_data"):
            assert client.get(reverse(name), SMALL).status_code == 404


def test_the_figures_are_plain_plotly_with_every_schedule() -> None:
    figures = json.loads(client_of(Role.RESEARCHER).get(reverse("learning:schedule_data"), SMALL).content)
    assert set(figures) == {"utilisation", "busy", "staleness"}
    assert len(figures["utilisation"]["data"][0]["x"]) == 5
    assert [len(trace["x"]) for trace in figures["busy"]["data"]] == [160] * 4
    assert [sum(trace["y"]) for trace in figures["staleness"]["data"]] == pytest.approx([1, 1, 1], abs=1e-3)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"slots": "0"}, "greater than or equal to 1"),
        ({"first_flagged": "nan"}, "Enter a number"),
        ({"spread": "many"}, "Enter a number"),
        ({"steps": "60"}, "552,960 answers exceed the limit"),
        ({"segment": "1"}, "at most 16 segments"),
        ({"seed": "-1"}, "greater than or equal to 0"),
    ],
)
def test_invalid_parameters_are_reported_at_their_field(wrong: dict[str, str], words: str) -> None:
    client = client_of(Role.RESEARCHER)
    page = client.get(reverse("learning:schedule"), wrong)
    assert page.status_code == 422
    assert words in page.content.decode()
    answer = client.get(reverse("learning:schedule_data"), wrong)
    assert answer.status_code == 422
    assert set(answer.json()["detail"]) == set(wrong)
