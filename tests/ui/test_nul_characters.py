"""NUL characters in requests: pages ignore them or reject them with a reason; none fails."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.explorations.views import models
from apps.reasoning.domain.generation import Final
from apps.runs.models import RunCommand, RunStatus
from tests.explorations.factory import command_form, make_exploration


@pytest.fixture
def client(alice: User, client_for: Callable[[User | None], Client]) -> Client:
    return client_for(alice)


def test_search_fields_and_filters_ignore_nul(client: Client, alice: User) -> None:
    run = make_exploration(alice)
    page = reverse("explorations:run_detail", args=[run.public_id])
    addresses = [
        reverse("explorations:run_list") + "?q=two%00&topic=%00&scaffold=%00",
        reverse("problems:list") + "?q=two%00&source=%00&topic=%00&year=%00&level=%00",
        f"{page}?lemma=s0.1%00&tab=lemma",
        f"{page}?proof=%00&tab=proof",
        f"{page}?node=%00s0.1",
        f"{page}log/?q=residues%00&role=%00&round=%00&status=%00&after=%00",
        f"{page}graph.json?after=%00",
        reverse("home") + "?%00=%00",
    ]
    for address in addresses:
        assert client.get(address, follow=True).status_code == 200, address
    assert "consider the residues" in client.get(f"{page}log/?q=resi%00dues").content.decode()


def test_an_address_with_nul_in_its_path_is_not_found(client: Client, alice: User) -> None:
    run = make_exploration(alice)
    for name in ("calls/s0%00/r1", "lemmas/s0.1%00", "proofs/1%00"):
        assert client.get(f"/runs/{run.public_id}/{name}/").status_code == 404


def test_the_steering_form_rejects_nul_with_a_reason(client: Client, alice: User) -> None:
    run = make_exploration(alice, RunStatus.RUNNING)
    url = reverse("explorations:command", args=[run.public_id])
    for form in (command_form("hint", text="a\0b"), command_form("reject_lemma", lemma="s0.1\0", reason="\0x")):
        assert "must be plain text" in client.post(url, form, follow=True).content.decode()
    assert "There is no command" in client.post(url, command_form("hi\0nt", text="a"), follow=True).content.decode()
    assert not RunCommand.objects.exists()


def test_a_test_prompt_is_sent_without_nul(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []

    def answer(alias: str, text: str) -> Final:
        sent.append(text)
        return Final(text="2", finish_reason="stop")

    monkeypatch.setattr(models, "prompt_try", answer)
    url = reverse("explorations:model_test", args=["smollm2"])
    assert client.post(url, {"text": "1+\x001"}, headers={"HX-Request": "true"}).status_code == 200
    assert client.post(url, {"text": "\0"}, headers={"HX-Request": "true"}).status_code == 200
    assert sent == ["1+1"]


def test_a_sign_in_with_nul_is_rejected(db: None) -> None:
    answer = Client().post(reverse("accounts:login"), {"username": "ali\0ce", "password": "x\0"})
    assert answer.status_code == 200
    assert "user name or the password is wrong" in answer.content.decode()


def test_the_api_rejects_nul(client: Client) -> None:
    assert client.get("/api/v1/problems?q=%00").status_code == 422
