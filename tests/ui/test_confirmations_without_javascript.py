"""Without JavaScript a form with a question leads to a page with the question; the change follows the confirmation."""

import html
import re
from collections.abc import Callable

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import Contest, ContestState
from tests.contests.factory import make_contest

ClientFor = Callable[[User | None], Client]
FIELD = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')


@pytest.fixture
def contest(bob: User) -> Contest:
    return make_contest(bob, state=ContestState.OPEN)


def fields(form: str) -> dict[str, str]:
    return {name: html.unescape(value) for name, value in FIELD.findall(form)}


def test_the_page_asks_and_then_processes_the_form(contest: Contest, bob: User, client_for: ClientFor) -> None:
    client, page = client_for(bob), reverse("contests:detail", args=[contest.public_id])
    move = reverse("contests:move", args=[contest.public_id, "mark"])
    form = client.get(page).content.decode().split(f'action="{move}"')[1].split("</form>")[0]
    asked = client.post(move, fields(form), headers={"referer": f"http://testserver{page}"})
    contest.refresh_from_db()
    assert contest.state == ContestState.OPEN, "a question changes nothing"
    words = asked.content.decode()
    assert "Begin marking “Selection test”?" in words
    assert f'href="http://testserver{page}"' in words, "the cancel link leads to the form"
    again = words.split(f'action="{move}"')[1].split("</form>")[0]
    assert "ask" not in fields(again)
    client.post(move, fields(again))
    contest.refresh_from_db()
    assert contest.state == ContestState.MARKING


def test_a_question_applies_only_to_its_button(contest: Contest, bob: User, client_for: ClientFor) -> None:
    client, address = client_for(bob), reverse("contests:problem_change", args=[contest.public_id])
    sent = {"ask": "remove=1|Remove|Really remove it?", "captain_of": str(contest.problems.get().public_id), "captain": "bob"}
    assert "Really remove it?" not in client.post(address, sent, follow=True).content.decode()
    assert contest.problems.get().captain == bob
    assert "Really remove it?" in client.post(address, {**sent, "remove": "1"}).content.decode()


def test_a_form_with_a_file_is_processed_at_once(contest: Contest, bob: User, client_for: ClientFor) -> None:
    client, address = client_for(bob), reverse("submissions:import", args=[contest.public_id])
    file = SimpleUploadedFile("texts.csv", b"author,problem,text\nA,1,Text.\n")
    assert client.post(address, {"ask": "|Yes|Really?", "file": file}).status_code == 302


def test_another_site_cannot_choose_the_question(contest: Contest, bob: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(bob)
    answer = client.post(reverse("contests:move", args=[contest.public_id, "mark"]), {"ask": "|Win|You have won!"})
    assert answer.status_code == 403
    assert "You have won!" not in answer.content.decode()


def test_the_cancel_link_stays_on_this_site(contest: Contest, bob: User, client_for: ClientFor) -> None:
    sent = {"ask": "|Yes|Really <b>now</b>?"}
    address = reverse("contests:move", args=[contest.public_id, "mark"])
    page = client_for(bob).post(address, sent, headers={"referer": "https://elsewhere.example/"}).content.decode()
    assert "elsewhere.example" not in page
    assert "Really &lt;b&gt;now&lt;/b&gt;?" in page
