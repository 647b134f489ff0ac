"""Common parts of all pages: landmarks, a theme before the first paint, messages, no inline script or style, no CDN."""

import re
from collections.abc import Callable

import pytest
from django.contrib.staticfiles import finders
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User

PAGES = ["home", "api_docs", "accounts:profile", "accounts:password"]


@pytest.fixture
def pages(client_for: Callable[[User | None], Client], alice: User) -> dict[str, str]:
    client = client_for(alice)
    return {name: client.get(reverse(name)).content.decode() for name in PAGES}


def test_a_page_has_its_landmarks_and_a_skip_link(pages: dict[str, str]) -> None:
    for name, page in pages.items():
        assert page.count("<main ") == 1, name
        assert page.count("<h1") == 1, name
        assert '<a class="skip-link" href="#main">' in page
        assert 'aria-label="Main"' in page
        assert '<html lang="en">' in page


def test_a_page_has_no_inline_script_or_style_and_nothing_from_elsewhere(pages: dict[str, str]) -> None:
    for name, page in pages.items():
        assert "<style" not in page, name
        assert re.findall(r"<script(?![^>]*\bsrc=)", page) == [], name
        assert re.findall(r"\son\w+=", page) == [], name
        assert re.findall(r'(?:src|<link[^>]*href)="(?:https?:)?//', page) == [], name


def test_the_theme_is_set_before_the_styles_are_read(pages: dict[str, str]) -> None:
    for page in pages.values():
        assert page.index("js/theme.js") < page.index("css/tokens.css")
        assert re.search(r'<script src="[^"]*js/theme\.js"></script>', page)


def test_the_switch_offers_three_themes_and_hides_without_script(pages: dict[str, str]) -> None:
    page = pages["home"]
    assert re.findall(r'data-theme-choice="(\w+)"', page) == ["system", "light", "dark"]
    assert re.search(r"data-theme-switch hidden", page)


def test_htmx_may_not_evaluate_or_fetch_from_elsewhere(pages: dict[str, str]) -> None:
    page = pages["home"]
    for word in (
        '"allowEval": false',
        '"allowScriptTags": false',
        '"selfRequestsOnly": true',
        '"includeIndicatorStyles": false',
    ):
        assert word in page
    assert "X-CSRFToken" in page


def test_files_of_the_base_page_exist(pages: dict[str, str]) -> None:
    names = re.findall(r'(?:src|href)="/static/((?:css|js)/[^"]+|favicon\.svg)"', pages["home"])
    assert len(names) >= 6
    assert [name for name in names if finders.find(name) is None] == []


def test_the_nav_hides_runs_and_models_from_students(
    client_for: Callable[[User | None], Client], charlie: User, pages: dict[str, str]
) -> None:
    page = client_for(charlie).get(reverse("home")).content.decode()
    assert ">Runs</a>" not in page
    assert ">Models</a>" not in page


def test_messages_carry_their_kind(client_for: Callable[[User | None], Client], alice: User) -> None:
    client = client_for(alice)
    client.post(reverse("accounts:token_create"), {"name": "notebook"})
    page = client.post(reverse("accounts:token_revoke", args=[alice.api_tokens.get().public_id]), follow=True).content.decode()
    assert '<li class="message message--success">“notebook” was revoked.</li>' in page


def test_an_unknown_address_shows_advice(client_for: Callable[[User | None], Client], alice: User) -> None:
    answer = client_for(alice).get("/no-such-page/")
    assert answer.status_code == 404
    assert "This page does not exist, or you may not see it." in answer.content.decode()


def test_an_error_page_explains_what_was_kept(
    client_for: Callable[[User | None], Client], alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(user: User) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr("apps.config.home.views.home_runs", broken)
    client = client_for(alice)
    client.raise_request_exception = False
    answer = client.get(reverse("home"))
    assert answer.status_code == 500
    assert "Everything recorded before is kept" in answer.content.decode()
    assert "broken" not in answer.content.decode()


def test_a_form_without_its_token_is_rejected_with_a_reason(alice: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice)
    answer = client.post(reverse("accounts:logout"))
    assert answer.status_code == 403
    assert "The form that you sent has expired." in answer.content.decode()
