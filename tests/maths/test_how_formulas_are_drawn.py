"""Readers may choose the browser's own formulas; staff see which ones cannot be typeset, and where they stand."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from playwright.sync_api import expect

from apps.accounts.models import User
from tests.explorations.factory import make_problem
from tests.ui.browser import Pages, browser_page, needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium]


def test_a_reader_may_choose_native_mathml(client_for: Callable[[User | None], Client], alice: User) -> None:
    problem = make_problem()
    problem.versions.create(number=2, statement="Let $p>2$ be a prime.")
    address = reverse("problems:detail", args=[problem.slug])
    with browser_page(Pages({address: client_for(alice).get(address)})) as page:  # type: ignore[dict-item]
        page.goto(address)
        page.wait_for_selector("article .katex-html")
        page.click(".site-header .menu summary")
        page.click('[data-maths-choice="mathml"]')
        page.wait_for_selector("article .katex math")
        expect(page.locator("article .katex-html")).to_have_count(0)
        assert page.get_attribute('[data-maths-choice="mathml"]', "aria-pressed") == "true"


def test_staff_see_the_formulas_that_fail_and_where_they_stand(client_for: Callable[[User | None], Client], dana: User) -> None:
    problem = make_problem()
    problem.versions.create(number=2, statement=r"Good: $a^2$. Bad: $$\nosuchthing x$$")
    client = client_for(dana)
    addresses = [reverse("explorations:formula_list"), reverse("explorations:formula_data")]
    with browser_page(Pages({address: client.get(address) for address in addresses})) as page:  # type: ignore[misc]
        page.goto(addresses[0])
        page.wait_for_selector('[data-part="status"][data-done]')
        assert "1 cannot be typeset" in page.inner_text('[data-part="status"]')
        assert r"\nosuchthing" in page.inner_text("tbody")
        assert page.get_attribute("tbody a", "href") == reverse("problems:detail", args=[problem.slug]) + "?version=2"


def test_no_other_user_sees_that_page(client_for: Callable[[User | None], Client], alice: User, charlie: User) -> None:
    for user in (alice, charlie):
        assert client_for(user).get(reverse("explorations:formula_list")).status_code == 404
        assert client_for(user).get(reverse("explorations:formula_data")).status_code == 404
