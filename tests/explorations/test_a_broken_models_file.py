"""models.toml broken while the server runs: every page that needs it says what is wrong with which line."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from apps.accounts.models import User
from apps.runs.models import Run
from tests.explorations.factory import make_problem


@pytest.fixture
def client(alice: User, client_for: Callable[[User | None], Client]) -> Client:
    return client_for(alice)


@pytest.fixture(params=["[a\n", '[a]\nbackend = "openvino"\n', None])
def _broken(request: pytest.FixtureRequest, settings: Settings, tmp_path: Path) -> None:
    settings.MODELS_FILE = tmp_path / "models.toml"
    if request.param is not None:
        settings.MODELS_FILE.write_text(request.param)


@pytest.mark.usefixtures("_broken")
def test_the_models_page_says_what_is_wrong(client: Client) -> None:
    page = client.get(reverse("explorations:model_list"))
    assert page.status_code == 200
    assert "models.toml" in page.content.decode()
    assert "Correct the file" in page.content.decode()


@pytest.mark.usefixtures("_broken")
def test_a_test_prompt_says_it_too(client: Client) -> None:
    answer = client.post(reverse("explorations:model_test", args=["a"]), {"text": "x"}, headers={"HX-Request": "true"})
    assert answer.status_code == 200
    assert "models.toml" in answer.content.decode()


@pytest.mark.usefixtures("_broken")
def test_the_start_form_and_the_worked_example_start_nothing(client: Client) -> None:
    problem = make_problem()
    form = client.get(reverse("explorations:start", args=[problem.slug]))
    assert "models.toml" in form.content.decode()
    assert client.post(reverse("explorations:start", args=[problem.slug]), {"scaffold": "intern_s1_mo"}).status_code == 422
    example = client.post(reverse("explorations:worked_example"), follow=True)
    assert example.status_code == 200
    assert "The worked example cannot be played" in example.content.decode()
    assert not Run.objects.exists()
