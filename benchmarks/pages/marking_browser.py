"""Waits of a marker in the browser: from Enter to the next script with its formulas, and the typesetting of a 20 kB script.

Headless Chromium and the web process share this machine's cores. All formulas are different, so that no cache helps.
*Readable*: the next script is shown, and each formula in the window is drawn. *Typeset whole*: every formula of the script at
once, until the window is painted. The workspace never does that: it typesets formulas near the window, and others as they come
near.
"""

from statistics import quantiles
from typing import Any

from benchmarks.figures import Figure

SEALS, QUICK_SEALS = 30, 4
SETS, QUICK_SETS = 30, 4
AHEAD = "**/next-up"
PATIENCE_MS = 60_000
#: Time that the page needs to typeset a prefetched script.
SETTLING_MS = 1_000
#: Defines a promise that resolves to the milliseconds from the next key to the next script.
WAIT = """() => { window.benchWait = new Promise((resolve) => {
  const before = document.querySelector("[data-marking]").dataset.url;
  let start = 0;
  addEventListener("keydown", () => { start = performance.now(); }, { capture: true, once: true });
  const isIn = (one) => { const place = one.getBoundingClientRect(); return place.bottom >= 0 && place.top <= innerHeight; };
  const look = () => {
    const root = document.querySelector("[data-marking][data-ready]");
    const isThere = start && root && root.dataset.url !== before;
    // Only parts in the window are checked: checking others would force a layout that the style avoids.
    const parts = isThere ? [...root.querySelectorAll(".marking__set")].filter(isIn) : [];
    const isReadable = isThere && !parts.some((part) => [...part.querySelectorAll(".math:not([data-tex-state])")].some(isIn));
    if (isReadable) requestAnimationFrame(() => resolve(performance.now() - start));
    else requestAnimationFrame(look);
  };
  look();
}); }"""
#: Typesets a whole script fetched as text. Returns milliseconds, its formulas and its characters.
SET = """async (url) => {
  const { typesetAll } = await import("/static/js/maths.js");
  const text = await (await fetch(url)).text();
  const found = new DOMParser().parseFromString(text, "text/html").querySelector(".marking__steps");
  const steps = document.adoptNode(found);
  document.querySelector(".marking__steps").replaceWith(steps);
  const length = [...steps.querySelectorAll("[data-source]")].reduce((sum, one) => sum + one.textContent.length, 0);
  const start = performance.now();
  typesetAll(steps);
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  const took = performance.now() - start;
  return { took, length, formulas: steps.querySelectorAll(".math[data-tex-state=done]").length };
}"""


def figures(quick: bool = False) -> list[Figure]:
    """Milliseconds of each wait. Raises `Skipped` without a browser."""
    from benchmarks import stage

    folder = stage.set_up(MARKING_GRADERS="")
    from benchmarks.contest.marking import TEXT_LENGTH, contest_made, steps_of_the_next, varied_text
    from benchmarks.pages import viewers
    from benchmarks.processes import Processes

    seals, sets = (QUICK_SEALS, QUICK_SETS) if quick else (SEALS, SETS)
    coach, problem = contest_made(2 * seals + 10, varied_text)
    steps_of_the_next(coach, problem, 2 * seals + 10)
    urls = _held(sets)
    cookie = viewers.session_cookie(coach.username)
    with Processes("valkey", "web", folder=folder), viewers.page_at("/marking/", cookie) as page:
        page.set_default_timeout(PATIENCE_MS)
        page.route(AHEAD, lambda route: route.fulfill(status=204))
        page.locator(f'form[action="/marking/problem/{problem.public_id}/next"] button').click()
        cold = [_sealed(page) for _ in range(seals)]
        page.unroute(AHEAD)
        with page.expect_response(AHEAD):
            page.reload()
        ahead = [_sealed_ahead(page) for _ in range(seals)]
        found = [page.evaluate(SET, url) for url in urls]
    length, formulas = found[0]["length"], found[0]["formulas"]
    words = f"{TEXT_LENGTH // 1000} kB"
    return [
        Figure("seal → next script readable, fetched ahead, p95", _p95(ahead), "ms", 300),
        Figure("seal → next script readable, cold, p95", _p95(cold), "ms", 1200),
        Figure(f"a script of {words} set in type whole, p95", _p95([row["took"] for row in found]), "ms", 500),
        Figure("… characters of it", length),
        Figure("… formulas of it, each another", formulas),
    ]


def _sealed(page: Any) -> float:
    """Enter full points and seal. Returns milliseconds until the next script is readable."""
    page.wait_for_selector("[data-marking][data-ready]")
    page.keyboard.press("7")
    page.locator("[data-part=status]").filter(has_text="Saved").wait_for()
    page.evaluate(WAIT)
    page.keyboard.press("Enter")
    took: float = page.evaluate("() => window.benchWait")
    return took


def _sealed_ahead(page: Any) -> float:
    """Like `_sealed` with the next script prefetched. Also waits for the prefetch of the one after it."""
    page.wait_for_timeout(SETTLING_MS)
    with page.expect_response(AHEAD):
        return _sealed(page)


def _held(count: int) -> list[str]:
    """The URLs of `count` scripts of another problem, all claimed by the coach."""
    from datetime import timedelta

    from django.utils import timezone

    from apps.marks.models import MarkingTask
    from benchmarks.contest.marking import contest_made, steps_of_the_next, varied_text

    coach, problem = contest_made(count, lambda number: varied_text(500 + number))
    steps_of_the_next(coach, problem, count)
    tasks = MarkingTask.objects.filter(case__problem=problem)
    tasks.update(assignee=coach, lease_until=timezone.now() + timedelta(days=1))
    return [f"/marking/task/{key}/" for key in tasks.values_list("public_id", flat=True)]


def _p95(values: list[float]) -> float:
    return quantiles(values, n=20, method="inclusive")[-1]
