"""The pages of gradings in a browser: readable on a telephone, light and dark, without serious findings of axe."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from tests.graders.answers import FOLLOWS
from tests.grading.test_grade_command import MODELS
from tests.grading.test_pages_of_gradings import graded
from tests.problems.factory import make_problem
from tests.ui.axe import faults_in_both_themes
from tests.ui.browser import Pages, browser_page, needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium, pytest.mark.django_db(transaction=True)]
ClientFor = Callable[[User | None], Client]
WIDE = "[...document.querySelectorAll('main *')].filter((one) => !one.closest('.scroll-x, pre, .katex, .visually-hidden')"
WIDE += " && one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.outerHTML.slice(0, 120))"


@pytest.fixture
def addresses(alice: User, settings: LazySettings, tmp_path: Path) -> list[str]:
    """A form, a result with items and findings, and one that is unscored."""
    settings.MODELS_FILE = tmp_path / "models.toml"
    settings.MODELS_FILE.write_text(MODELS)
    problem = make_problem()
    done = graded(alice, problem, "ref5_plain", FOLLOWS)
    unread = graded(alice, problem, "single_turn", {"*": "I like turtles. " * 60})
    runs = [reverse("graders:detail", args=[run.public_id]) for run in (done, unread)]
    return [reverse("graders:start", args=[problem.slug]), *runs]


def test_pages_of_gradings_have_no_serious_fault_and_fit_a_telephone(
    addresses: list[str], alice: User, client_for: ClientFor, tmp_path: Path
) -> None:
    client = client_for(alice)
    pages = Pages({address: client.get(address) for address in addresses})  # type: ignore[misc]
    with browser_page(pages, bypass_csp=True) as page:
        for number, address in enumerate(addresses):
            page.set_viewport_size({"width": 1200, "height": 900})
            page.goto(address)
            assert faults_in_both_themes(page) == []
            page.screenshot(path=tmp_path / f"{number}.png", full_page=True)
            page.set_viewport_size({"width": 390, "height": 844})
            for details in page.locator("main details").all():
                details.evaluate("(one) => { one.open = true; }")
            assert page.evaluate(WIDE) == []
            page.screenshot(path=tmp_path / f"{number}-narrow.png", full_page=True)
