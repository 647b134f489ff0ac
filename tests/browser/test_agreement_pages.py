"""The agreement pages in a browser: a file compared and a bucket given by keyboard alone; axe, charts, narrow screens."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import User
from apps.agreement.models import DisagreementBucket
from apps.contests.models import ContestProblem
from apps.marks.models import Mark, Slot
from tests.agreement.factory import MARKS, marked, settled_contest
from tests.agreement.test_buckets_sets_and_cards import graded_set, run_of
from tests.agreement.test_the_page_of_a_file import table, upload
from tests.browser.marking_pages import ClientFor, room_of, session_of
from tests.browser.test_after_sealing import shot
from tests.marks.factory import marker
from tests.problems.factory import make_problem
from tests.ui.axe import faults, faults_in_both_themes
from tests.ui.browser import needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium, pytest.mark.django_db(transaction=True)]
BODY = {"items": [{"code": "A1", "reason": ""}], "findings": [{"id": "f1", "step": 1, "fallacy": "gap", "words": "Why?"}]}
SHEET = {"ticks": ["A1"], "verdicts": [{"id": "v1", "step": 1, "fallacy": "gap", "role": "root"}]}


def reached(page: Page, name: str) -> None:
    """Tab to the thing of this name."""
    for _ in range(80):
        page.keyboard.press("Tab")
        label = page.evaluate("document.activeElement.getAttribute('aria-label') || document.activeElement.textContent")
        if name in " ".join(str(label).split()):
            return
    raise AssertionError(f"“{name}” is not reached by Tab")


def test_a_file_is_compared_and_a_disagreement_put_into_a_bucket_by_keyboard(
    live_server: LiveServer, client_for: ClientFor, alice: User, tmp_path: Path
) -> None:
    file = tmp_path / "marks.csv"
    file.write_bytes(table(160))
    with room_of(live_server, session_of(client_for, alice), viewport={"width": 1280, "height": 900}) as room:
        page = room.page("/grading/agreement/")
        page.locator("input[type=file]").set_input_files(file)
        page.get_by_role("button", name="Upload", exact=True).press("Enter")
        expect(page.get_by_role("heading", name="Map the columns")).to_be_visible()
        page.get_by_role("button", name="Compare").press("Enter")
        expect(page.locator(".js-plotly-plot")).to_have_count(1)
        reached(page, "100% of the row: person 2, grader 4")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="20 pairs")).to_be_visible()
        reached(page, "Why they differ on s3")
        page.keyboard.type("Over")
        page.keyboard.press("Tab")
        page.keyboard.type("It took the claim for its proof.")
        page.keyboard.press("Enter")
        expect(page.get_by_text("Reason saved.")).to_be_visible()
        page.get_by_role("link", name="marks.csv").press("Enter")
        expect(
            page.get_by_role("region", name="Reasons for disagreements").get_by_role("link", name="1", exact=True)
        ).to_be_visible()
    said = DisagreementBucket.objects.get()
    assert (said.paper, said.bucket, said.note) == ("s3", "generous", "It took the claim for its proof.")


@pytest.fixture
def problem(bob: User) -> ContestProblem:
    """Settled scripts with marks of two people, some of them contaminated, and suggestions with findings."""
    problem = settled_contest(bob, marker("marga"), 40, [SHEET] * 40, [BODY] * 40)
    version = Mark.objects.all()[0].scheme_version
    for number, case in enumerate(problem.cases.order_by("pk")):
        marked(case, marker("otto"), MARKS[number % 8] if number % 5 else 3, version, Slot.SECOND, is_assisted=number == 7)
    return problem


def test_pages_of_agreement_have_no_serious_fault_and_fit_the_window(
    problem: ContestProblem, live_server: LiveServer, client_for: ClientFor, bob: User
) -> None:
    client = client_for(bob)
    file = upload(client, table(160, half=["3.5", *map(str, MARKS[1:])]), human="half", predicted=["prediction", "Points"])
    run_of(bob, make_problem("Another"), "a", 7.0)
    contest, made = problem.contest.public_id, graded_set().public_id
    paths = {
        "list": "",
        "columns": f"file/{file.public_id}/columns/",
        "file": f"file/{file.public_id}/?split=problem",
        "contest": f"contest/{contest}/?split=marker",
        "set": f"set/{made}/",
        "pairs": f"contest/{contest}/pairs/?author=student&difference=differ",
        "file-pairs": f"file/{file.public_id}/pairs/",
        "places": f"contest/{contest}/places/",
        "placed": f"contest/{contest}/places/?of=scripted&author=student&show=first_exact",
        "cards": "cards/",
    }
    found, session = {}, session_of(client_for, bob)
    for width in (1280, 390):
        with room_of(live_server, session, viewport={"width": width, "height": 844}) as room:
            for name, path in paths.items():
                page = room.page(f"/grading/agreement/{path}")
                if name == "file":
                    expect(page.locator(".js-plotly-plot")).to_have_count(1)
                found[name, width] = faults_in_both_themes(page) if width == 1280 else faults(page)
                shot(page, f"agreement-{name}-{width}")
                page.close()
    assert {seen: wrong for seen, wrong in found.items() if wrong} == {}
