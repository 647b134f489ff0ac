"""The list of runs with its filters, and the Models page."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from apps.accounts.models import User
from apps.explorations.views import models
from apps.reasoning.domain.errors import AliasError, BackendUnavailable
from apps.reasoning.domain.generation import Final, Usage
from apps.runs.models import Run, RunStatus
from apps.runs.models_status import AliasStatus
from tests.explorations.factory import make_problem

ROW = AliasStatus(
    name="smollm2", title="SmolLM2", backend="openvino", state="ready", detail="Loaded.", running=3, waiting=1, queue_length=7,
    tokens_per_s=123.4, workers=1, concurrency=64,
)  # fmt: skip


@pytest.fixture
def client(alice: User, client_for: Callable[[User | None], Client]) -> Client:
    return client_for(alice)


def make_runs(owner: User | None, count: int, **fields: object) -> None:
    from apps.problems.models import Problem

    problem = Problem.objects.first() or make_problem()
    for number in range(count):
        Run.objects.create(
            **{
                "title": f"Squares {number}", "problem_version": problem.current, "owner": owner, "scaffold": "intern_s1_mo",
                "spec": {}, "status": RunStatus.FINISHED, **fields,
            }
        )  # fmt: skip


def listed(client: Client, query: str = "") -> str:
    return client.get(reverse("explorations:run_list") + query).content.decode()


def test_an_empty_list_says_what_to_do_first(client: Client) -> None:
    assert "No runs yet." in listed(client)


def test_filters_narrow_the_list_and_can_be_taken_away(client: Client, alice: User, bob: User) -> None:
    make_runs(alice, 1, title="Ordinary line")
    make_runs(bob, 1, title="Nesbitt", status=RunStatus.FAILED)
    assert "Ordinary line" in listed(client, "?q=ordinary")
    assert "Nesbitt" not in listed(client, "?q=ordinary")
    assert "Nesbitt" in listed(client, "?status=failed")
    assert "Nesbitt" not in listed(client, "?mine=1")
    assert "No run matches these filters." in listed(client, "?topic=G")
    assert "Ordinary line" in listed(client, "?status=nonsense")


def test_the_runs_on_one_problem_have_an_address_and_its_page_leads_there(client: Client, alice: User) -> None:
    make_runs(alice, 1, title="Squares")
    other = make_problem("another")
    Run.objects.create(title="Primes", problem_version=other.current, scaffold="intern_s1_mo", spec={})
    page = listed(client, "?problem=another")
    assert "Primes" in page
    assert "Squares" not in page
    assert 'name="problem" value="another"' in page
    assert "No run matches these filters." in listed(client, "?problem=gone")
    about = client.get(reverse("problems:detail", args=["another"])).content.decode()
    assert f'href="{reverse("explorations:run_list")}?problem=another"' in about


def test_a_run_of_the_command_line_is_listed_without_an_owner(client: Client) -> None:
    make_runs(None, 1, title="From the command line")
    assert 'data-label="by"><span class="unknown">–</span></td>' in listed(client)


def test_the_list_is_paged_and_asks_as_much_for_a_page_as_for_a_row(
    client: Client, alice: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    make_runs(alice, 45)
    with django_assert_max_num_queries(13):
        page = listed(client)
    assert "1 of 2" in page
    assert "page=2" in page
    assert "2 of 2" in listed(client, "?page=99")


def test_the_models_page_shows_health_speed_and_queue(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "alias_status", lambda: [ROW])
    page = client.get(reverse("explorations:model_list")).content.decode()
    for words in ("SmolLM2", "status--ok", "123.4", "Loaded.", ">7<"):
        assert words in page
    assert "prompts for small models" not in page
    monkeypatch.setattr(models, "alias_status", lambda: [replace(ROW, prompts="small")])
    assert "prompts for small models" in client.get(reverse("explorations:model_list")).content.decode()
    part = client.get(reverse("explorations:model_list"), headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part


def test_a_wrong_models_file_is_explained(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> list[AliasStatus]:
        raise AliasError("models.toml, line 3, [a]: this key is missing.")

    monkeypatch.setattr(models, "alias_status", broken)
    assert "models.toml, line 3" in client.get(reverse("explorations:model_list")).content.decode()


def test_a_test_prompt_shows_the_answer_with_its_figures(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    final = Final(text="2 and <b>1 mod 4</b>", finish_reason="stop", usage=Usage(completion=9), duration_s=1.5, ttft_s=0.2)
    monkeypatch.setattr(models, "prompt_try", lambda alias, text: final)
    monkeypatch.setattr(models, "alias_status", lambda: [ROW])
    url = reverse("explorations:model_test", args=["smollm2"])
    part = client.post(url, {"text": "Which primes?"}, headers={"HX-Request": "true"}).content.decode()
    assert "2 and &lt;b&gt;1 mod 4&lt;/b&gt;" in part
    assert "9 tokens in 2 s" in part
    assert "Which primes?" in client.post(url, {"text": "Which primes?"}).content.decode()


def test_a_test_prompt_that_fails_says_what_to_do(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(alias: str, text: str) -> Final:
        raise BackendUnavailable

    monkeypatch.setattr(models, "prompt_try", away)
    url = reverse("explorations:model_test", args=["smollm2"])
    assert "Start it or correct its address" in client.post(url, {"text": "x"}, headers={"HX-Request": "true"}).content.decode()
    assert "Write a prompt" in client.post(url, {"text": ""}, headers={"HX-Request": "true"}).content.decode()
    assert client.post(reverse("explorations:model_test", args=["gone"]), {"text": "x"}).status_code == 404
