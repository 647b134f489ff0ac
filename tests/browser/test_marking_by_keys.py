"""A script is marked with the keyboard alone, and with how many keys."""

from decimal import Decimal

import pytest
from playwright.sync_api import Page, expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import User
from apps.marks.models import Mark, Pass, Phrase
from tests.browser.marking_pages import ClientFor, Hands, paper_of, room_of, session_of, settled
from tests.marks.factory import problem_to_mark
from tests.ui.browser import needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def _no_graders(settings: Settings) -> None:
    settings.MARKING_GRADERS = []  # Sealing asks them through the broker, which these tests do not have.


def next_shown(page: Page, before: str) -> None:
    expect(page.locator(".marking__title .contest-number")).not_to_have_text(before)
    settled(page)


def test_a_score_without_items_costs_two_keys(live_server: LiveServer, client_for: ClientFor, bob: User) -> None:
    problem_to_mark(bob)
    with room_of(live_server, session_of(client_for, bob)) as room:
        page = room.begin()
        first, hands = paper_of(page), Hands(page)
        hands.press("7", "Enter")
        next_shown(page, first)
        assert hands.pressed == 2
        expect(page.locator('[data-part="grace-words"]')).to_contain_text(f"{first}, problem 1: sealed with 7 points")
        expect(page.locator('[data-part="mine"]')).to_have_text("1")
    mark = Mark.objects.get(sealed_at__isnull=False)
    assert mark.points == 7
    assert mark.task.case.version.submission.paper.number == first


def test_a_score_with_k_items_costs_k_and_two_keys(live_server: LiveServer, client_for: ClientFor, bob: User) -> None:
    problem_to_mark(bob)
    with room_of(live_server, session_of(client_for, bob)) as room:
        page = room.begin()
        first, hands = paper_of(page), Hands(page)
        hands.press("i", "a", "s", "Enter")
        next_shown(page, first)
        assert hands.pressed == 2 + 2
        second, hands = paper_of(page), Hands(page)
        hands.press("i", "a")
        expect(page.locator('[data-item="A1"] [data-place]')).to_contain_text("at step")
        hands.press("Enter")
        next_shown(page, second)
        assert hands.pressed == 1 + 2, "points between none and all: the tick is the evidence"
    whole, part = Mark.objects.filter(sealed_at__isnull=False).order_by("-points")
    assert [whole.points, part.points] == [Decimal(7), Decimal(3)]
    assert (whole.sealed_sheet or {})["ticks"] == ["A1", "A2"]
    assert (part.sealed_sheet or {})["places"]["A1"] >= 1


def test_a_typed_verdict_costs_at_most_four_keys(live_server: LiveServer, client_for: ClientFor, bob: User) -> None:
    problem_to_mark(bob)
    with room_of(live_server, session_of(client_for, bob)) as room:
        page = room.begin()
        hands = Hands(page).press("e", "g", "r")
        settled(page)
        assert hands.pressed <= 4
        note = page.get_by_role("article", name="Verdict: gap, root error")
        expect(note).to_contain_text("first error")
        hands.press("j", "e", "w", "q")
        expect(page.get_by_role("article", name="Verdict: wrong conclusion, consequence")).to_contain_text(
            "consequence of step 1"
        )
        expect(page.locator('[data-step="2"]')).to_have_class("proof__step marking__step marking__step--follows")
        settled(page)
    verdicts = Mark.objects.get(row_version__gt=0).sheet["verdicts"]
    assert [(one["step"], one["fallacy"], one["role"]) for one in verdicts] == [
        (1, "gap", "root"),
        (2, "wrong-logical-conclusion", "consequence"),
    ]
    assert verdicts[1]["root"] == verdicts[0]["id"]


def test_a_comment_used_before_costs_at_most_five_keys(live_server: LiveServer, client_for: ClientFor, bob: User) -> None:
    problem = problem_to_mark(bob)
    Phrase.objects.create(problem=problem, author=bob, words="Why is $p$ odd?", uses=3)
    Phrase.objects.create(problem=problem, author=bob, words="Zero is missing.", uses=9)
    with room_of(live_server, session_of(client_for, bob)) as room:
        page = room.begin()
        hands = Hands(page).press("/", "w", "h")
        expect(page.get_by_role("option")).to_have_count(1)
        hands.press("Enter")
        settled(page)
        assert hands.pressed <= 5
        expect(page.locator('[data-step="1"] .marking__note--comment .katex')).to_be_visible()
    assert Mark.objects.get(row_version__gt=0).sheet["comments"][0]["words"] == "Why is $p$ odd?"


AT_ONCE = """async (keys) => {
  for (const key of keys) {
    if (key === "click") document.querySelector('[data-dialog="error"] button[value="gap"]').click();
    else document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    for (let turn = 0; turn < 20; turn += 1) await null;  // No task comes between, not even the event "close" of a dialog.
  }
}"""


def test_a_key_that_follows_the_kind_of_an_error_at_once_has_its_effect(
    live_server: LiveServer, client_for: ClientFor, bob: User
) -> None:
    problem_to_mark(bob)
    with room_of(live_server, session_of(client_for, bob)) as room:
        page = room.begin()
        page.evaluate(AT_ONCE, ["j", "e", "g", "k"])
        settled(page)
        page.evaluate(AT_ONCE, ["j", "e", "g", "e"])
        page.evaluate("() => new Promise((done) => setTimeout(() => setTimeout(done)))")  # "close" of the first has come.
        page.evaluate(AT_ONCE, ["g", "k", "e", "Escape", "j", "e", "g", "e", "click", "k"])
        settled(page)
        page.keyboard.press("m")
        page.keyboard.type("Why?")
        page.keyboard.press("Escape")
        settled(page)
    sheet = Mark.objects.get(row_version__gt=0).sheet
    assert [one["step"] for one in sheet["verdicts"]] == [2, 2, 2, 2, 2], "what Escape left at step 1 is not among them"
    assert [one["step"] for one in sheet["comments"]] == [1]


def test_a_whole_case_is_marked_without_a_pointer(live_server: LiveServer, client_for: ClientFor, bob: User) -> None:
    problem_to_mark(bob)
    with room_of(live_server, session_of(client_for, bob)) as room:
        page = room.begin()
        first, hands = paper_of(page), Hands(page)
        hands.press("p")
        expect(page.locator("#pane-problem .statement")).to_be_visible()
        hands.press("t")
        expect(page.locator('[data-step="1"] [data-source]')).to_be_visible()
        hands.press("t", "s", "-", "4", "Enter")
        expect(page.locator(".toast")).to_contain_text("4 is in the middle of the scale")
        expect(page.get_by_label("Reason", exact=True)).to_be_focused()
        page.keyboard.type("The second case is as good as done.")
        hands.press("Escape", "g", "j", "e", "m", "h", "k", "m")
        page.keyboard.type("Say why $a$ is odd.")
        hands.press("Control+Enter")
        next_shown(page, first)
        hands.press("b")
        page.wait_for_url("**/task/*/")
        expect(page.locator(".marking__title .contest-number")).to_have_text(first)
        expect(page.get_by_label("Claim line")).to_be_disabled()
    mark = Mark.objects.get(sealed_at__isnull=False)
    sheet = mark.sealed_sheet or {}
    assert mark.points == 4
    assert mark.band == "solution"
    assert sheet["reason"].startswith("The second case")
    assert sheet["granted"] == [1]
    assert sheet["comments"][0]["step"] == 1
    assert [(one["step"], one["fallacy"], one["role"]) for one in sheet["verdicts"]] == [(2, "missing-case", "harmless")]


def test_the_claim_line_is_the_typed_form_of_the_items_and_reports_an_unknown_code(
    live_server: LiveServer, client_for: ClientFor, bob: User
) -> None:
    problem_to_mark(bob)
    with room_of(live_server, session_of(client_for, bob)) as room:
        page = room.begin()
        page.keyboard.press("c")
        page.keyboard.type("A1 A9")
        page.keyboard.press("Enter")
        expect(page.get_by_text("A9 is no item of this scheme.")).to_be_visible()
        expect(page.get_by_label("Claim line")).to_have_value("A1 A9")
        page.keyboard.press("Backspace")
        page.keyboard.type("2 !K5")
        page.keyboard.press("Enter")
        expect(page.locator('[data-part="derivation"]')).to_have_text("Chain A: A1 3 + A2 4 = 7; cap 5 → 5")
        expect(page.locator('[data-tick="K5"]')).to_be_checked()
        expect(page.get_by_label("Claim line")).to_have_value("A1 A2 !K5")


def test_next_and_ask_hand_the_script_on(live_server: LiveServer, client_for: ClientFor, bob: User) -> None:
    problem = problem_to_mark(bob)
    problem.captain = None
    problem.save()
    with room_of(live_server, session_of(client_for, bob)) as room:
        page = room.begin()
        first = paper_of(page)
        page.keyboard.press("n")
        next_shown(page, first)
        second = paper_of(page)
        page.keyboard.press("a")
        expect(page.get_by_role("dialog", name="Ask the captain")).to_be_visible()
        page.get_by_role("textbox", name="Your question").fill("Is this lemma known?")
        page.get_by_role("button", name="Unsure").press("Enter")
        next_shown(page, second)
    assert list(Pass.objects.values_list("reason", "words")) == [("skip", ""), ("unsure", "Is this lemma known?")]


def test_a_question_typed_at_once_is_words_and_gives_nothing_away(
    live_server: LiveServer, client_for: ClientFor, bob: User
) -> None:
    problem = problem_to_mark(bob)
    problem.captain = None
    problem.save()
    with room_of(live_server, session_of(client_for, bob)) as room:
        page = room.begin()
        first = paper_of(page)
        dialog = page.get_by_role("dialog", name="Ask the captain")
        page.keyboard.press("a")
        expect(page.get_by_role("textbox", name="Your question")).to_be_focused()
        page.keyboard.press("Alt+u")
        expect(dialog).to_be_visible()  # A question has words.
        page.keyboard.type("can the pattern count?")
        expect(page.get_by_role("textbox", name="Your question")).to_have_value("can the pattern count?")
        page.keyboard.press("Alt+u")
        next_shown(page, first)
    assert list(Pass.objects.values_list("reason", "words")) == [("unsure", "can the pattern count?")]


def test_a_script_is_given_away_after_a_second_question_alone(
    live_server: LiveServer, client_for: ClientFor, bob: User
) -> None:
    problem_to_mark(bob)
    with room_of(live_server, session_of(client_for, bob)) as room:
        page = room.begin()
        first = paper_of(page)
        sure = page.get_by_role("button", name="Give it away for good")
        page.keyboard.press("a")
        page.get_by_role("button", name="I know whose it is").press("c")
        expect(page.get_by_role("dialog", name="Ask the captain")).to_be_visible()
        page.get_by_role("button", name="I know whose it is").press("Enter")
        expect(sure).to_be_visible()
        page.keyboard.press("Escape")
        expect(sure).to_have_count(0)
        assert paper_of(page) == first
        page.keyboard.press("a")
        page.get_by_role("button", name="I know whose it is").press("Enter")
        sure.press("Enter")
        next_shown(page, first)
    assert list(Pass.objects.values_list("reason", flat=True)) == ["conflict"]


def test_commands_are_found_by_name_and_keys_mean_letters_in_text(
    live_server: LiveServer, client_for: ClientFor, bob: User
) -> None:
    problem_to_mark(bob)
    with room_of(live_server, session_of(client_for, bob)) as room:
        page = room.begin()
        page.keyboard.press("Control+k")
        page.keyboard.type("grant")
        page.keyboard.press("Enter")
        settled(page)
        expect(page.get_by_text("granted: would the rest hold?")).to_be_visible()
        page.get_by_label("Reason", exact=True).focus()
        page.keyboard.type("7 eg")
        expect(page.get_by_role("dialog")).to_have_count(0)
        settled(page)
        expect(page.locator('[data-part="points"]')).to_have_text("–")
        page.keyboard.press("Escape")
        page.keyboard.press("?")
        expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
        page.keyboard.press("7")
        page.keyboard.press("Escape")
        expect(page.locator('[data-part="points"]')).to_have_text("–")
    assert Mark.objects.get(row_version__gt=0).sheet["reason"] == "7 eg"
