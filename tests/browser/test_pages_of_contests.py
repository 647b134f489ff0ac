"""The pages of contests and of what is handed in, in a real browser: axe, a narrow screen, and handing in by keyboard alone."""

import io
import re
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Route, expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import User
from apps.contests.models import Contest, ContestState
from apps.submissions.models import Submission, SubmissionVersion, Transcription
from apps.submissions.services import import_file_keep
from apps.submissions.transcriptions import transcription_ask
from tests.browser.marking_pages import ClientFor, room_of, session_of
from tests.contests.factory import enter, hand_in, make_contest, moved
from tests.problems.factory import make_problem
from tests.submissions.pages import models_file, pages_given, read
from tests.ui.axe import faults, needs_axe
from tests.ui.browser import needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def _room(settings: Settings, tmp_path: Any) -> None:
    settings.MARKING_GRADERS = []
    settings.MODELS_FILE = models_file(tmp_path)


def jpeg() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (90, 120), "beige").save(out, "JPEG")
    return out.getvalue()


def written(bob: User, charlie: User) -> tuple[Contest, SubmissionVersion]:
    """An open contest; Charlie handed a text in, with three pages: read, being read, and not asked for."""
    contest = make_contest(bob, make_problem("One"), make_problem("Two"), state=ContestState.OPEN)
    paper, problem = enter(contest, charlie)
    pages = pages_given(paper, problem, jpeg(), jpeg(), jpeg())
    version = hand_in(paper, problem)
    transcription_ask(scan=pages[0])
    read("<transcription>Let $p$ be a prime.</transcription>")
    transcription_ask(scan=pages[1])
    assert Transcription.objects.count() == 2
    return contest, version


@needs_axe
@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 390)])
def test_the_pages_of_contests_can_be_used_by_all(
    live_server: LiveServer, client_for: ClientFor, bob: User, charlie: User, scheme: str, width: int
) -> None:
    contest, version = written(bob, charlie)
    kept = import_file_keep(
        contest=contest, user=bob, filename="a.csv", data=b"author,problem,text\nAda,1,It is so.\n,1,x\n", adds_problems=False
    )
    here, problem = f"/contests/{contest.public_id}", version.submission.problem
    options: dict[str, Any] = {"color_scheme": scheme, "viewport": {"width": width, "height": 900}}

    def looked_at(who: User, paths: list[str]) -> None:
        with room_of(live_server, session_of(client_for, who), **options) as room:
            for path in paths:
                page = room.page(path)
                assert faults(page) == [], path
                page.close()

    own = [f"{here}/own/", f"/contests/problems/{problem.public_id}/write/", f"/submissions/{version.public_id}/"]
    looked_at(charlie, ["/contests/", *own])
    office = [f"{here}/", f"{here}/edit/", f"{here}/roster/", f"{here}/import/", f"{here}/import/{kept.public_id}/"]
    looked_at(bob, ["/contests/new/", *office])
    moved(contest, ContestState.MARKING)
    paper = version.submission.paper
    looked_at(bob, [f"{here}/papers/", f"/scripts/{version.public_id}/", f"{here}/papers/{paper.public_id}/author/"])


def test_what_is_typed_before_the_script_has_loaded_is_kept_and_shown(
    live_server: LiveServer, client_for: ClientFor, bob: User, charlie: User
) -> None:
    contest = make_contest(bob, make_problem("One"), state=ContestState.OPEN)
    _, problem = enter(contest, charlie)
    with room_of(live_server, session_of(client_for, charlie)) as room:
        held: list[Route] = []
        page = room.page(f"/contests/{contest.public_id}/own/")
        page.route("**/js/draft*.js", lambda route: held.append(route))
        page.locator(f'a[href$="/{problem.public_id}/write/"]').first.click(no_wait_after=True)
        page.get_by_label("Your solution").fill("Let $n = 1$.")
        page.get_by_label("Text format").select_option("latex")
        held[0].continue_()
        expect(page.locator("#preview .katex").first).to_be_visible()
        expect(page.locator("[data-draft-status]")).to_contain_text("Saved")
    draft = Submission.objects.get()
    assert (draft.draft, draft.draft_format) == ("Let $n = 1$.", "latex")


def test_back_shows_the_newest_draft_and_not_what_the_browser_remembers(
    live_server: LiveServer, client_for: ClientFor, bob: User, charlie: User
) -> None:
    contest = make_contest(bob, make_problem("One"), state=ContestState.OPEN)
    _, problem = enter(contest, charlie)
    with room_of(live_server, session_of(client_for, charlie)) as room:
        page = room.page(f"/contests/{contest.public_id}/own/")
        for text in ("Older.", "Newer, and longer."):
            page.goto(f"{live_server.url}/contests/{contest.public_id}/own/")
            page.locator(f'a[href$="/{problem.public_id}/write/"]').first.click()
            page.get_by_label("Your solution").fill(text)
            expect(page.locator("[data-draft-status]")).to_contain_text("Saved")
        for _ in range(2):  # To the list, then to where the older draft was typed.
            page.go_back()
        expect(page.get_by_label("Your solution")).to_have_value("Newer, and longer.")


def test_a_student_writes_and_hands_in_by_keyboard_alone(
    live_server: LiveServer, client_for: ClientFor, bob: User, charlie: User
) -> None:
    contest = make_contest(bob, make_problem("One"), state=ContestState.OPEN)
    _, problem = enter(contest, charlie)
    with room_of(live_server, session_of(client_for, charlie)) as room:
        page = room.page(f"/contests/{contest.public_id}/own/")
        page.locator(f'a[href$="/{problem.public_id}/write/"]').first.focus()
        page.keyboard.press("Enter")
        page.get_by_label("Your solution").focus()
        page.keyboard.type("Let $n = 1$.")
        expect(page.locator("#preview .katex").first).to_be_visible()
        page.evaluate("document.querySelector('#preview .katex').dataset.first = 'yes'")
        page.keyboard.type("\n\nThen $n < 2$, and $n$.")
        expect(page.locator("#preview .katex")).to_have_count(3)
        assert page.locator("#preview [data-first]").count() == 1, "a formula in an unchanged paragraph is not drawn again"
        page.keyboard.type(" So")
        expect(page.locator("#preview")).to_contain_text(", and")
        expect(page.locator("#preview .solution p").last).to_have_text(re.compile(r"\. So$"))
        expect(page.locator("[data-draft-status]")).to_contain_text("Saved")
        page.keyboard.press("Tab")
        expect(page.get_by_role("button", name="Hand in")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.get_by_text("Version 1 is handed in.")).to_be_visible()
    assert SubmissionVersion.objects.get().source == "Let $n = 1$.\n\nThen $n < 2$, and $n$. So"
