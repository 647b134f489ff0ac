"""Blocking of the page's main thread by sixteen open lines with 60 tokens a second each."""

from benchmarks.figures import Figure

AGENTS = 16
TOKENS_PER_S = 60
SECONDS, QUICK_SECONDS = 10, 4
SETTLING_MS = 1500
OBSERVE = """() => {
  window.benchTasks = [];
  new PerformanceObserver((list) => list.getEntries().forEach((entry) => window.benchTasks.push(entry.duration)))
    .observe({ entryTypes: ["longtask"] });
}"""
_OPEN_ALL = """() => {
  const lines = [...document.querySelectorAll(".lane[data-call]")];
  for (const line of lines) line.open = true;
  return lines.length;
}"""
_DRAWN = """() => [...document.querySelectorAll(".lane__text")].reduce((sum, box) => sum + box.textContent.length, 0)"""


def figures(quick: bool = False) -> list[Figure]:
    """The longest task of the page's main thread while agents write."""
    from benchmarks import stage

    folder = stage.set_up(LEASE_S="600")
    from benchmarks.pages import viewers
    from benchmarks.pages.agents import Agents
    from benchmarks.processes import Processes

    seconds = QUICK_SECONDS if quick else SECONDS
    cookie, run = viewers.session_cookie(), viewers.live_run("agent")
    with Processes("valkey", "inference", "web", folder=folder), viewers.page(run, cookie) as page:
        page.wait_for_timeout(SETTLING_MS)
        with Agents(run, AGENTS, TOKENS_PER_S * (seconds + 2)):
            page.locator(".lane[data-call]").nth(AGENTS - 1).wait_for(state="attached")
            opened = page.evaluate(_OPEN_ALL)
            page.wait_for_timeout(500)
            before = page.evaluate(_DRAWN)
            page.evaluate(OBSERVE)
            page.wait_for_timeout(1000 * seconds)
            tasks: list[float] = page.evaluate("window.benchTasks")
            drawn = page.evaluate(_DRAWN) - before
    return [
        Figure("longest task of the main thread (0: none over 50)", max(tasks, default=0), "ms", 100, "at most"),
        Figure("tasks over 50 ms", len(tasks)),
        Figure("open lines", opened),
        Figure("characters drawn a second", drawn / seconds),
        Figure("seconds", seconds),
    ]
