"""The formula check while a student writes: from the last key to the finding in the page, and what it costs the page.

Chromium pastes a proof of 2 kB and types a false formula at its end; each text is new to the server. The editor waits 0.7 s
after the last key before it asks, and the time includes this pause. Long tasks are those of the page's main thread: from the
first key to the finding, and those of the paste, in which the browser lays the field out.
"""

import time
from typing import Any

from benchmarks.figures import Figure
from benchmarks.pages.main_thread import OBSERVE

TEXTS, QUICK_TEXTS = 10, 2
PAUSE_S = 0.7
PREVIEW_MS = 1_000
PROOF = "We use that $(x + 1)^2 = x^2 + 2x + 1$ and that $x^2 - 1 = (x - 1)(x + 1)$ for all $x$.\n\n" * 22
_TASKS = "() => window.benchTasks.splice(0)"
_CLEAR = "() => document.querySelector('#formula-findings').replaceChildren()"
_FOUND = "() => document.querySelector('#formula-findings').textContent.includes('check this formula again')"


def figures(quick: bool = False) -> list[Figure]:
    """Seconds to the finding, and milliseconds of the longest task. Raises `Skipped` without a browser."""
    from benchmarks import stage

    folder = stage.set_up()
    from benchmarks.pages import viewers
    from benchmarks.processes import Processes

    path, cookie = _editor(), viewers.session_cookie("student")
    with Processes("valkey", "web", folder=folder), viewers.page_at(path, cookie) as page:
        page.wait_for_load_state("networkidle")
        page.evaluate(OBSERVE)
        pasted: list[float] = []
        tasks: list[float] = []
        _found_after(page, 0, pasted, [])  # Loads the verifier's files from the disk.
        took = sorted(_found_after(page, number, pasted, tasks) for number in range(1, 1 + (QUICK_TEXTS if quick else TEXTS)))
    return [
        Figure("from the last key to the finding, median", took[len(took) // 2], "s", 2, "at most"),
        Figure("… slowest", took[-1], "s"),
        Figure("… of which the editor waits", PAUSE_S, "s"),
        Figure(
            "longest task of the page while the student types (0: none over 50)", max(tasks, default=0), "ms", 50, "at most"
        ),
        Figure("longest task when 2 kB are pasted", max(pasted, default=0), "ms"),
        Figure("texts", len(took)),
    ]


def _found_after(page: Any, number: int, pasted: list[float], tasks: list[float]) -> float:
    """Type a text whose last formula is false; add its long tasks. Returns seconds from its last key to the finding."""
    field = page.locator("#id_text")
    page.evaluate(_CLEAR)
    field.fill(f"Attempt {number}.\n\n{PROOF}")
    page.wait_for_timeout(PREVIEW_MS)
    pasted += page.evaluate(_TASKS)
    field.press_sequentially("Then $(a+b)^2 = a^2 + b^2$ for all $a$ and $b$.")
    began = time.perf_counter()
    page.wait_for_function(_FOUND, timeout=60_000)
    took = time.perf_counter() - began
    tasks += page.evaluate(_TASKS)
    return took


def _editor() -> str:
    """The address of the editor in which the student practises."""
    from apps.accounts.models import Role, User
    from apps.practice.attempts import problem_try
    from tests.problems.factory import make_problem

    student = User.objects.create(username="student", role=Role.STUDENT)
    return f"/contests/problems/{problem_try(person=student, problem=make_problem()).public_id}/write/"
