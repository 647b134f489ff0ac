"""Targets are large enough, a long scheme leaves the row of tabs whole, and one Escape closes the commands."""

import pytest
from playwright.sync_api import expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.marks.models import ReleasePart
from apps.reasoning.marking.schemes.text_form import text_read, text_written
from apps.schemes.services import scheme_activate, scheme_save
from tests.browser.marking_pages import ClientFor, room_of, session_of
from tests.marks.factory import problem_to_mark
from tests.marks.office.listed import listed
from tests.marks.office.test_certificates_and_letters import made_ready
from tests.results.factory import released
from tests.ui.browser import needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium, pytest.mark.django_db(transaction=True)]

#: Links and controls lower than a limit in px. Links within a sentence are exempt, as in WCAG 2.5.8.
LOW = """(limit) => [...document.querySelectorAll('.wordmark, main :is(a[href], button, select, summary)')]
  .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height && !one.closest('.visually-hidden'))
  .filter((one) => one.getBoundingClientRect().height < limit - 0.5)
  .filter((one) => ![...one.parentElement.childNodes].some((node) => node.nodeType === 3 && /[a-z]{3}/i.test(node.data)))
  .map((one) => one.outerHTML.slice(0, 120))"""


@pytest.fixture(autouse=True)
def _no_graders(settings: Settings) -> None:
    settings.MARKING_GRADERS = []


def test_links_are_24_px_high_and_44_on_a_phone(live_server: LiveServer, client_for: ClientFor, bob: User, dana: User) -> None:
    problem = listed(bob)
    made_ready(problem, bob)
    released(problem.contest, bob, ReleasePart.POINTS)
    contest, base = f"/contests/{problem.contest.public_id}/", f"/office/{problem.contest.public_id}/"
    scripts = f"/marking/problem/{problem.public_id}/scripts/"
    paths = [
        "/contests/",
        contest,
        f"{contest}roster/",
        "/marking/",
        scripts,
        f"{base}results/",
        f"{base}awards/",
        f"{base}record/",
        f"{base}statistics/",
        f"{base}letters/certificate/",
        f"{contest}ranking/",
    ]
    session = session_of(client_for, bob)
    for width, limit in ((1440, 24), (390, 44)):
        with room_of(live_server, session, viewport={"width": width, "height": 900}) as room:
            page = room.page()
            for path in paths:
                page.goto(path)
                page.evaluate("document.querySelectorAll('details').forEach((one) => one.open = true)")
                assert page.evaluate(LOW, limit) == [], (path, width)
                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (path, width)


def long_scheme(problem: ContestProblem, by: User) -> None:
    """Give the problem a scheme with forty remarks."""
    scheme = problem.setup.scheme
    assert scheme is not None
    text = text_written(scheme.versions.get(status="active").content)
    remarks = "".join(f"\nfeedback R{number}: The text names case {number}." for number in range(40))
    scheme_save(scheme=scheme, content=text_read(text + remarks), by=by, based_on=scheme.row_version)
    scheme.refresh_from_db()
    scheme_activate(scheme=scheme, by=by, based_on=scheme.row_version)


def test_a_long_scheme_leaves_the_tabs_whole_and_one_escape_closes_the_commands(
    live_server: LiveServer, client_for: ClientFor, bob: User
) -> None:
    long_scheme(problem_to_mark(bob), bob)
    with room_of(live_server, session_of(client_for, bob), viewport={"width": 1440, "height": 800}) as room:
        page = room.begin()
        row, tab = (page.locator(f".marking__panes {what}").first.bounding_box() for what in (".tabs", "[role=tab]"))
        assert row is not None
        assert tab is not None
        assert row["height"] >= tab["height"] >= 24
        page.keyboard.press("Control+k")
        page.keyboard.type("grant")
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
