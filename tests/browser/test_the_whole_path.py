"""A person's whole path in a real browser against real processes: sign in, read, explore, watch, survive a kill, come back."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.screenshot import free_port, sign_in
from tests.flows.stack import Stack
from tests.ui.browser import needs_chromium
from tests.ui.chromium import chromium

pytestmark = [
    pytest.mark.browser,
    pytest.mark.kill,
    pytest.mark.xdist_group("whole path"),  # One stack of processes, not one a worker.
    needs_chromium,
]


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with tempfile.TemporaryDirectory(prefix="ls-path-") as folder, Stack(Path(folder), tokens_per_s=150) as stack:
        stack.port = free_port()
        stack.agent("samples")
        stack.start("valkey", "orchestrator", "inference", "web")
        yield stack


@pytest.fixture
def page(stack: Stack) -> Iterator[Page]:
    with chromium() as browser:
        page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
        page.set_default_timeout(20_000)
        complaints: list[str] = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        stack.wait_for_web()
        sign_in(page, address(stack))
        yield page
        assert complaints == []


def address(stack: Stack) -> str:
    return f"http://127.0.0.1:{stack.port}"


def test_a_problem_is_read_with_typeset_formulas_and_explore_shows_the_cost_first(stack: Stack, page: Page) -> None:
    page.get_by_role("link", name="Problems", exact=True).first.click()
    page.get_by_role("link", name="A quotient that must be a square").first.click()
    expect(page.locator(".prose .katex").first).to_be_visible()
    page.get_by_role("link", name="Explore").first.click()
    expect(page.get_by_text("calls").first).to_be_visible()
    expect(page.locator("form").filter(has=page.get_by_role("button", name="Start")).first).to_be_visible()


def test_the_worked_example_streams_grows_its_graph_survives_kills_and_is_there_when_one_comes_back(
    stack: Stack, page: Page, tmp_path: Path
) -> None:
    page.get_by_text("See a worked example").first.click()
    page.wait_for_url("**/runs/*/")
    run = page.url.rstrip("/").rpartition("/")[2]
    expect(page.get_by_text("authored example")).to_be_visible()
    expect(page.locator(".lane__text").first).to_contain_text("prime", timeout=30_000)
    stack.wait_for(run, lambda dump: len(dump["lemmas"]) >= 4, within_s=60)
    stack.kill("web")
    stack.kill("orchestrator")
    stack.start("web", "orchestrator")
    stack.wait_for_web()
    expect(page.locator("[data-part=link]")).to_have_text("live", timeout=40_000)
    dump = stack.wait_until_ended(run, keep=("valkey", "orchestrator", "inference", "web"), within_s=120)
    expect(page.locator("[data-part=liveness]")).to_contain_text("ccepted", timeout=30_000)
    expect(page.get_by_text(f"{len(dump['lemmas'])} lemmas").or_(page.locator(".graph")).first).to_be_visible()
    page.screenshot(path=tmp_path / "finished.png")
    page.get_by_role("button", name="Replay", exact=True).click()
    expect(page.locator("[data-part=liveness]")).to_have_text("replay")
    expect(page.locator(".replay__now")).to_contain_text("Event")
    page.get_by_role("button", name="Leave the replay").click()
    expect(page.locator("[data-part=liveness]")).to_contain_text("ccepted")

    page.goto(f"{address(stack)}/runs/{run}/?tab=proof")
    expect(page.locator("#panel .katex").first).to_be_visible()
    page.goto(f"{address(stack)}/runs/{run}/?tab=lemma&lemma=s0.4")
    expect(page.locator("#panel")).to_contain_text("0 of 4 votes")
    page.goto(f"{address(stack)}/runs/")
    expect(page.get_by_role("link", name="Pairs with prime sums").first).to_be_visible()


def test_two_tabs_show_the_same_run(stack: Stack, page: Page) -> None:
    run = stack.agent("start")
    page.goto(f"{address(stack)}/runs/{run}/")
    other = page.context.new_page()
    other.goto(f"{address(stack)}/runs/{run}/")
    stack.wait_until_ended(run, keep=("valkey", "orchestrator", "inference", "web"), within_s=120)
    for tab in (page, other):
        expect(tab.locator("[data-part=liveness]")).to_contain_text("ccepted", timeout=30_000)
    rows = [tab.locator('[data-part="outline"] [data-node]') for tab in (page, other)]
    for tab in (page, other):
        tab.reload()
    assert rows[0].count() == rows[1].count() > 0
    other.close()


def test_javascript_switched_off_still_shows_everything_recorded(stack: Stack, page: Page) -> None:
    run = stack.agent("start")
    stack.wait_until_ended(run, keep=("valkey", "orchestrator", "inference", "web"), within_s=120)
    browser = page.context.browser
    assert browser is not None
    plain = browser.new_context(java_script_enabled=False, storage_state=page.context.storage_state()).new_page()
    plain.goto(f"{address(stack)}/runs/{run}/?tab=proof")
    expect(plain.locator("#panel")).to_contain_text("proof")
    expect(plain.locator("#run-header")).to_contain_text("ccepted")
    plain.context.close()
