"""Scanned pages in a marker's browser: from the key to a script's next page, from the seal to the next script's first page.

Pages are 1,416 × 2,000 pixels with lines of ink and noise, as the reading of scans makes them. A page is on screen once its
image is decoded and a frame was drawn. Headless Chromium and the web process share this machine's cores.
"""

import io
from statistics import quantiles
from typing import Any

from benchmarks.figures import Figure

SCRIPTS, QUICK_SCRIPTS = 20, 4
PAGES = 4
SIZE = (1_416, 2_000)
PATIENCE_MS = 60_000
#: Time in which a marker reads a page, and the browser loads the next ones.
READING_MS = 1_000
#: Defines a promise of the milliseconds from the next key until the page at `selector` is decoded and drawn.
WAIT = """(selector) => { window.benchWait = new Promise((resolve) => {
  const before = document.querySelector("[data-marking]").dataset.url;
  let start = 0;
  addEventListener("keydown", () => { start = performance.now(); }, { capture: true, once: true });
  const isIn = (one) => { const place = one.getBoundingClientRect(); return place.bottom > 0 && place.top < innerHeight; };
  const look = async () => {
    const root = document.querySelector("[data-marking][data-ready]");
    const isNext = !selector.startsWith("^") || root?.dataset.url !== before;
    const image = start && root && isNext ? root.querySelector(selector.replace("^", "")) : null;
    if (image && isIn(image)) {
      await image.decode();
      requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - start)));
    } else requestAnimationFrame(look);
  };
  look();
}); }"""


def figures(quick: bool = False) -> list[Figure]:
    """Milliseconds of both waits. Raises `Skipped` without a browser."""
    from benchmarks import stage

    folder = stage.set_up(MARKING_GRADERS="")
    from apps.accounts.models import Role, User
    from benchmarks.pages import viewers
    from benchmarks.processes import Processes
    from tests.marks.factory import problem_to_mark, script_scanned

    coach = User.objects.create(username="coach", role=Role.COACH)
    problem = problem_to_mark(coach, scripts=0)
    scripts = QUICK_SCRIPTS if quick else SCRIPTS
    pages = [_page(seed) for seed in range(PAGES)]
    for number in range(scripts + 1):
        script_scanned(problem, f"author {number}", pages=PAGES, size=SIZE, jpegs=pages)
    with Processes("valkey", "web", folder=folder), viewers.page_at("/marking/", viewers.session_cookie("coach")) as page:
        page.set_default_timeout(PATIENCE_MS)
        page.locator(f'form[action="/marking/problem/{problem.public_id}/next"] button').click()
        turned: list[float] = []
        sealed: list[float] = []
        for _ in range(scripts):
            page.wait_for_selector("[data-marking][data-ready]")
            for number in range(2, PAGES + 1):
                page.wait_for_timeout(READING_MS)
                turned.append(_after(page, "j", f'[data-page="{number}"] [data-sheet] img'))
            page.keyboard.press("7")
            page.locator("[data-part=status]").filter(has_text="Saved").wait_for()
            sealed.append(_after(page, "Enter", '^[data-page="1"] [data-sheet] img'))
    return [
        Figure("next page of a script on screen, p95", _p95(turned), "ms", 150),
        Figure("seal → first page of the next script on screen, p95", _p95(sealed), "ms"),
        Figure("pages", len(turned)),
        Figure("… size of one", round(sum(map(len, pages)) / PAGES / 1_000), "kB"),
    ]


def _after(page: Any, key: str, selector: str) -> float:
    page.evaluate(WAIT, selector)
    page.keyboard.press(key)
    took: float = page.evaluate("() => window.benchWait")
    return took


def _page(seed: int) -> bytes:
    """A page with lines of ink and noise, as JPEG."""
    import numpy
    from PIL import Image

    drawn = numpy.random.default_rng(seed)
    paper = numpy.full((SIZE[1], SIZE[0]), 240, dtype=numpy.float32)
    for line in range(200, 1_800, 60):
        heights = line + numpy.cumsum(drawn.normal(0, 1.5, 1_200)).clip(-20, 20).astype(int)
        for thickness in range(3):
            paper[heights + thickness, numpy.arange(100, 1_300)] = 40
    noisy = (paper + drawn.normal(0, 6, paper.shape)).clip(0, 255).astype(numpy.uint8)
    out = io.BytesIO()
    Image.fromarray(noisy).save(out, "JPEG", quality=78)
    return out.getvalue()


def _p95(values: list[float]) -> float:
    return quantiles(values, n=20, method="inclusive")[-1]
