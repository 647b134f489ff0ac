"""From the worker to the screen: each token contains its creation time, which the page compares with its clock.

Worker, publisher, streams, web process, socket and page are real; the backend writes a token every 50 ms. "Drawn" is the start
of the first animation frame after the text was in the document, so the frame that shows it is included.
"""

from benchmarks.figures import Figure, percentiles

TOKENS_PER_S = 20
SECONDS, QUICK_SECONDS = 30, 6
SETTLING_MS = 1500
_OBSERVE = """() => {
  window.benchDelays = [];
  let newest = 0;
  let begun = false;
  new MutationObserver(() => requestAnimationFrame(() => {
    const now = Date.now();
    for (const box of document.querySelectorAll(".lane__text")) {
      for (const [, stamp] of box.textContent.slice(-900).matchAll(/t(\\d{13}) ?/g)) {
        if (Number(stamp) <= newest) continue;
        newest = Number(stamp);
        if (begun) window.benchDelays.push(now - newest);
      }
    }
    begun = newest > 0;
  })).observe(document.body, { childList: true, subtree: true, characterData: true });
}"""


def figures(quick: bool = False) -> list[Figure]:
    """Milliseconds from the worker to the screen, one viewer."""
    from benchmarks import stage

    folder = stage.set_up(LEASE_S="600")
    from benchmarks.pages import viewers
    from benchmarks.pages.agents import Agents
    from benchmarks.processes import Processes

    tokens = TOKENS_PER_S * (QUICK_SECONDS if quick else SECONDS)
    cookie, run = viewers.session_cookie(), viewers.live_run("ticker")
    with Processes("valkey", "inference", "web", folder=folder), viewers.page(run, cookie) as page:
        page.evaluate(_OBSERVE)
        page.wait_for_timeout(SETTLING_MS)
        with Agents(run, 1, tokens):
            page.wait_for_timeout(1000 * tokens / TOKENS_PER_S + SETTLING_MS)
        delays: list[float] = page.evaluate("window.benchDelays")
    if len(delays) < tokens / 2:
        raise SystemExit(f"the page drew {len(delays)} of {tokens} tokens")
    middle, late = percentiles(delays)
    return [
        Figure("worker → screen, 95th percentile", late, "ms", 200, "under"),
        Figure("… median", middle, "ms"),
        Figure("… slowest", max(delays), "ms"),
        Figure("tokens seen", len(delays)),
    ]
