"""Accessibility violations that axe finds on an open page."""

from typing import Any

import pytest
from django.conf import settings
from playwright.sync_api import Page

AXE = settings.BASE_DIR / "node_modules" / "axe-core" / "axe.min.js"
needs_axe = pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed")

#: Rules about colours. No other rules of axe depend on the theme.
_OF_COLOURS = ["color-contrast", "link-in-text-block"]


#: Rule, impact and first element of each violation. The whole result has all elements that pass, several MB on a long page, and
#: takes ten times as long to fetch.
_RUN = """async (options) => {
  const result = await axe.run(document, {resultTypes: ["violations"], ...options});
  return result.violations.map((row) => [row.id, row.impact, row.nodes[0].html.slice(0, 200)]);
}"""


def faults(page: Page, *, all_of_them: bool = False) -> list[tuple[str, str]]:
    """Rule and element of serious violations, or of all, and whether the page is wider than its window."""
    found = _found(page, {}, all_of_them)
    wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    return found + ([("wide", page.url)] if wide else [])


def faults_in_both_themes(page: Page, *, all_of_them: bool = False) -> list[tuple[str, str]]:
    """Violations in the light theme, and colour violations in the dark theme. Restores the light theme."""
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    found = faults(page, all_of_them=all_of_them)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    dark = _found(page, {"runOnly": {"type": "rule", "values": _OF_COLOURS}}, all_of_them)
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    return found + [(f"dark: {rule}", element) for rule, element in dark]


def _found(page: Page, options: dict[str, Any], all_of_them: bool) -> list[tuple[str, str]]:
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text())
    rows: list[tuple[str, str, str]] = page.evaluate(_RUN, options)
    return [(rule, element) for rule, impact, element in rows if all_of_them or impact in ("serious", "critical")]
