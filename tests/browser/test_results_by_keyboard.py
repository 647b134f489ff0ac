"""A student's way by keyboard alone in a real browser: results, an appeal, hints. Pages are read by axe and fit a telephone."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Page, expect

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.marks.models import Appeal
from apps.reasoning.feedback.ladder import Rules
from apps.results import feedback
from apps.results.models import FeedbackRequest
from tests.marks.factory import marker
from tests.results.factory import appeal_of, case_of, day_after, marked, version_of
from tests.ui.axe import faults_in_both_themes, needs_axe
from tests.ui.browser import Pages, browser_page, needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium]


@pytest.fixture
def problem(bob: User, charlie: User) -> ContestProblem:
    """Marked, all released a day ago, with an appeal and a hint."""
    problem = marked(bob, charlie, marker("eve"), scripts=4)
    day_after(problem.contest, bob)
    appeal_of(problem, charlie, "verdict:v2")
    feedback.rules_save(problem=problem, is_on=True, rules=Rules(highest=6), by=bob)
    request = feedback.request_open(version=version_of(problem, charlie), track="repair", words="Is step 2 right?")
    feedback.rung_give(asked=request.asked.get(), text="The first step holds, $p$ is a prime.", by=bob)
    return problem


def paths_of(problem: ContestProblem, student: User) -> dict[str, dict[str, str]]:
    """The addresses of both sides, by name."""
    contest, version = f"/contests/{problem.contest.public_id}", version_of(problem, student).public_id
    mine = f"/submissions/{version}"
    return {
        "student": {
            "results": f"{contest}/results/",
            "result": f"{mine}/result/",
            "appeal": f"{mine}/appeal/",
            "hints": f"{mine}/feedback/",
        },
        "coach": {
            "release": f"{contest}/release/",
            "preview": f"{contest}/release/preview/{case_of(problem, student).public_id}/",
            "appeals": f"{contest}/appeals/",
            "heard": f"/appeals/{Appeal.objects.get().public_id}/",
            "queue": f"{contest}/feedback/",
            "hint": f"/feedback/{FeedbackRequest.objects.get().public_id}/",
        },
    }


@contextmanager
def opened(client: Client, paths: dict[str, str], start: str, **options: Any) -> Iterator[Page]:
    """Rendered pages in a browser, without a complaint of a script or of the content policy."""
    trouble: list[str] = []
    answers = {path: client.get(path) for path in paths.values()}
    assert {answer.status_code for answer in answers.values()} == {200}
    with browser_page(Pages(answers), **options) as page:  # type: ignore[arg-type]
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("console", lambda line: trouble.append(line.text) if "Content Security Policy" in line.text else None)
        page.goto(paths[start])
        yield page
        assert trouble == []


def tab_to(page: Page, words: str, most: int = 80) -> None:
    """Press Tab until the thing with this text has the focus."""
    for _ in range(most):
        page.keyboard.press("Tab")
        focused = page.evaluate("(document.activeElement.innerText || document.activeElement.value || '').trim()")
        if focused == words:
            return
    raise AssertionError(f"Tab does not reach “{words}”")


def test_a_student_goes_from_the_results_to_an_appeal_by_keyboard(
    problem: ContestProblem, charlie: User, client_for: Callable[[User | None], Client]
) -> None:
    paths = paths_of(problem, charlie)["student"]
    with opened(client_for(charlie), paths, "results") as page:
        tab_to(page, "Version 1")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Points")).to_be_visible()
        expect(page.locator("#step-2 .finding")).to_contain_text("A case is missing")
        expect(page.locator("#step-3 .finding")).to_contain_text("follows from the error at step 2")
        expect(page.locator("#step-2 .katex").first).to_be_visible()
        tab_to(page, "Appeal")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Appeal", exact=True)).to_be_visible()
        tab_to(page, "verdict:v1")
        page.keyboard.press("Space")
        expect(page.locator("input[name=target]:checked")).to_have_value("verdict:v1")
        for _ in range(40):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.id") == "id_words":
                break
        page.keyboard.type("The case p = 2 is in my last step.")
        expect(page.locator("#id_words")).to_have_value("The case p = 2 is in my last step.")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.innerText") == "Hand in"


def test_hints_are_read_and_the_next_is_asked_for_by_keyboard(
    problem: ContestProblem, charlie: User, bob: User, client_for: Callable[[User | None], Client]
) -> None:
    with opened(client_for(charlie), paths_of(problem, charlie)["student"], "result") as page:
        tab_to(page, "Hints")
        page.keyboard.press("Enter")
        expect(page.locator(".ladder__rung--given")).to_contain_text("The first step holds")
        expect(page.locator(".ladder__rung")).to_have_count(7)
        expect(page.get_by_text("The next hint can be asked for")).to_be_visible()


@needs_axe
@pytest.mark.parametrize("side", ["student", "coach"])
def test_axe_finds_nothing_wrong_and_no_page_is_wider_than_a_telephone(
    problem: ContestProblem, charlie: User, bob: User, client_for: Callable[[User | None], Client], side: str
) -> None:
    paths = paths_of(problem, charlie)[side]
    with opened(client_for(charlie if side == "student" else bob), paths, next(iter(paths))) as page:
        for name, path in paths.items():
            page.goto(path)
            assert faults_in_both_themes(page, all_of_them=True) == [], name
            page.set_viewport_size({"width": 390, "height": 844})
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
            page.set_viewport_size({"width": 1280, "height": 900})
