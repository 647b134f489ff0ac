"""The contest office in a real browser: a scheme changed by keyboard, charts drawn, axe and narrow screens on every page."""

import pytest
from playwright.sync_api import expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.contests.services import coach_add
from apps.marks.models import FinalGrade
from apps.marks.sealing.sealing import cases_settle
from apps.reasoning.marking.schemes.text_form import text_read, text_written
from apps.schemes.services import scheme_save
from tests.browser.marking_pages import ClientFor, room_of, session_of
from tests.browser.test_after_sealing import shot
from tests.marks.factory import ONE_PLACE, claimed, past_grace, problem_to_mark, sealed
from tests.ui.axe import faults
from tests.ui.browser import needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def problem(bob: User, settings: Settings) -> ContestProblem:
    """Three settled scripts, and a draft of the scheme in which one item is worth less."""
    settings.MARKING_GRADERS = []
    problem = problem_to_mark(bob, scripts=3)
    for line in ("A1", "A1", "B1"):
        reason = ("reason", {"words": "The error does not matter."})
        past_grace(sealed(claimed(problem, bob), bob, ("claim", {"line": line}), ("verdict", ONE_PLACE), reason))
    cases_settle(problem.contest)
    scheme = problem.setup.scheme
    assert scheme is not None
    text = text_written(scheme.versions.get(status="active").content)
    cheaper = text_read(text.replace("A1, 3 points", "A1, 2 points").replace("A2, 4 points", "A2, 5 points"))
    scheme_save(scheme=scheme, content=cheaper, by=bob, based_on=scheme.row_version)
    return problem


def test_a_scheme_is_changed_by_keyboard(
    problem: ContestProblem, live_server: LiveServer, client_for: ClientFor, bob: User
) -> None:
    with room_of(live_server, session_of(client_for, bob), viewport={"width": 1280, "height": 900}) as room:
        page = room.page(f"/office/problem/{problem.public_id}/scheme/")
        page.get_by_role("radio", name="Recompute the points").first.focus()
        page.keyboard.press("ArrowRight")
        expect(page.get_by_role("radio", name="Have the scripts marked again").first).to_be_checked()
        page.keyboard.press("ArrowLeft")
        page.get_by_role("button", name="Preview the effects").press("Enter")
        expect(page.get_by_role("heading", name="3 · Apply")).to_be_visible()
        expect(page.get_by_role("region", name="Grades that change")).to_contain_text("A1 2 = 2")
        assert faults(page) == []
        shot(page, "office-scheme")
        page.get_by_label("Reason").focus()
        page.keyboard.type("The statement gives it away.")
        page.get_by_role("button", name="Make version 2 active").press("Enter")
        expect(page.get_by_text("2 grades recomputed, 2 with changed points.")).to_be_visible()
    assert sorted(FinalGrade.objects.filter(superseded_by=None).values_list("points", flat=True)) == [2, 2, 7]


def test_no_page_has_a_serious_fault(
    problem: ContestProblem, live_server: LiveServer, client_for: ClientFor, bob: User
) -> None:
    number = problem.contest.papers.all()[0].number
    paths = {name: f"{problem.contest.public_id}/{name}/" for name in ("statistics", "results", "record")}
    paths |= {"paper": f"{problem.contest.public_id}/papers/{number}/", "table": f"problem/{problem.public_id}/table/"}
    found = {}
    session = session_of(client_for, bob)
    for width in (1280, 390):
        with room_of(live_server, session, viewport={"width": width, "height": 844}) as room:
            for name, path in paths.items():
                page = room.page(f"/office/{path}")
                if name == "statistics":
                    expect(page.locator(".js-plotly-plot")).to_have_count(4)
                found[name, width] = faults(page)
                shot(page, f"office-{name}-{width}")
                page.close()
    assert {seen: wrong for seen, wrong in found.items() if wrong} == {}


def test_the_markers_to_choose_are_in_one_row(
    problem: ContestProblem, live_server: LiveServer, client_for: ClientFor, bob: User, dana: User
) -> None:
    coach_add(contest=problem.contest, person=dana)
    with room_of(live_server, session_of(client_for, bob), viewport={"width": 1440, "height": 900}) as room:
        page = room.page(f"/office/{problem.contest.public_id}/team/")
        page.get_by_text("Assign scripts of problem").first.click()
        boxes = [one.bounding_box() for one in page.locator("details[open] input[name=marker]").all()]
        assert len(boxes) == 2
        assert len({box["y"] for box in boxes if box}) == 1
