"""The page of schedules in a real browser: charts in the theme's colours, and no overflow on a phone."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from playwright.sync_api import expect

from apps.accounts.models import User
from tests.ui.axe import faults
from tests.ui.browser import Pages, browser_page, needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium]
SMALL = {"problems": "8", "slots": "64", "steps": "5"}


@pytest.fixture
def pages(client_for: Callable[[User | None], Client], alice: User) -> Pages:
    client = client_for(alice)
    names = ("learning:schedule", "learning:schedule_data")
    return Pages({reverse(name): client.get(reverse(name), SMALL) for name in names})  # type: ignore[misc]


@pytest.mark.parametrize("look", [{}, {"color_scheme": "dark"}, {"viewport": {"width": 390, "height": 844}}])
def test_three_charts_are_drawn_without_errors(pages: Pages, look: dict[str, Any]) -> None:
    trouble: list[str] = []
    with browser_page(pages, **look) as page:
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("console", lambda line: trouble.append(line.text) if "Content Security Policy" in line.text else None)
        page.goto(reverse("learning:schedule"))
        expect(page.locator(".chart svg.main-svg >> nth=0")).to_be_visible()
        expect(page.locator(".chart.js-plotly-plot")).to_have_count(3)
        bar = page.locator("[data-chart=utilisation] .point path").first
        accent = page.evaluate(RAMP_COLOUR)
        expect(bar).to_have_css("fill", accent)
        assert faults(page, all_of_them=True) == []
    assert trouble == []


RAMP_COLOUR = """(() => {
  const probe = document.body.appendChild(document.createElement('i'));
  probe.style.color = 'var(--ramp-3)';
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
})()"""
