"""The first load of the author's editor on a phone over slow 3G: what travels, and when a student can write.

Chromium throttles the network (400 ms latency, 400 kbit/s); the profile is new. As in a deployment, answers are compressed with
gzip: here by Django's middleware instead of Caddy, over HTTP/1.1 instead of HTTP/2. Connections are not delayed.
*Can write*: a typed letter is kept on the device. *Draft saved*: the server has confirmed it; the editor waits 0.8 s after the
last letter. The photo has 2 MB and is made smaller on the phone.
"""

import io
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.figures import Figure

LATENCY_MS, BYTES_PER_S = 400, 50_000
HEAVY = ("/katex/", "/maths.js", "/tex_macros.js")
KEPT = "() => Object.keys(localStorage).some((key) => key.startsWith('draft:') || key.startsWith('saved:'))"
SAVED = "() => document.querySelector('[data-draft-status]').textContent.startsWith('Saved')"
SETTLED = "() => document.documentElement.dataset.kept"
PATIENCE_MS = 120_000
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def figures(quick: bool = False) -> list[Figure]:
    """Bytes and seconds. Raises `Skipped` without a browser."""
    from benchmarks import stage

    stage.set_up()
    from django.conf import settings

    settings.MIDDLEWARE = ["django.middleware.gzip.GZipMiddleware", *settings.MIDDLEWARE]
    path, cookie = _editor()
    with _served(), _phone(cookie) as page:
        sizes = _sizes_of(page)
        began = time.perf_counter()
        page.goto(f"http://127.0.0.1:{settings.PORT}{path}", wait_until="commit")
        page.locator("#id_text").wait_for(timeout=PATIENCE_MS)
        shown = time.perf_counter() - began
        page.locator("#id_text").press_sequentially("a")
        page.wait_for_function(KEPT)
        written = time.perf_counter() - began
        page.wait_for_function(SAVED)
        saved = time.perf_counter() - began
        page.wait_for_load_state("networkidle")
        loaded = time.perf_counter() - began
        heavy = sum(size for url, size in sizes.items() if any(part in url for part in HEAVY))
        light = sum(sizes.values()) - heavy
        sent = _photographed(page)
    return [
        Figure("Editor on slow 3G, without fonts and formulas", light / 1000, "kB", 250, "at most"),
        Figure("… fonts and formulas", heavy / 1000, "kB"),
        Figure("… text field shown", shown, "s"),
        Figure("… can write: a typed letter is kept on the device", written, "s", 4, "at most"),
        Figure("… first draft saved", saved, "s"),
        Figure("… everything loaded, formulas and the copy for writing offline too", loaded, "s"),
        Figure("… a photo taken, sent and shown", sent, "s"),
    ]


def _editor() -> tuple[str, tuple[str, str]]:
    """The address of an editor, and the cookie of its student."""
    from apps.accounts.models import Role, User
    from apps.contests.models import ContestState
    from benchmarks.pages import viewers
    from tests.contests.factory import enter, make_contest
    from tests.problems.factory import make_problem

    coach = User.objects.create(username="coach", role=Role.COACH)
    student = User.objects.create(username="student", role=Role.STUDENT)
    contest = make_contest(coach, make_problem("One"), make_problem("Two"), state=ContestState.OPEN)
    _, problem = enter(contest, student)
    return f"/contests/problems/{problem.public_id}/write/", viewers.session_cookie("student")


@contextmanager
def _served() -> Iterator[None]:
    """The application with compressed answers, in a thread."""
    import uvicorn
    from django.conf import settings

    from apps.config.asgi import application

    server = uvicorn.Server(uvicorn.Config(application, port=settings.PORT, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    _warm(settings.PORT)
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(timeout=20)


def _warm(port: int) -> None:
    """Load the project's URLs and templates."""
    import urllib.request

    urllib.request.urlopen(f"http://127.0.0.1:{port}/accounts/login/", timeout=60).read()


@contextmanager
def _phone(cookie: tuple[str, str]) -> Iterator[Any]:
    from django.conf import settings

    from benchmarks.pages import viewers

    with viewers.page_at("/healthz", cookie) as first:
        context = first.context.browser.new_context(**PHONE)
        context.add_cookies([{"name": cookie[0], "value": cookie[1], "url": f"http://127.0.0.1:{settings.PORT}"}])
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        network = context.new_cdp_session(page)
        network.send("Network.enable")
        network.send(
            "Network.emulateNetworkConditions",
            {"offline": False, "latency": LATENCY_MS, "downloadThroughput": BYTES_PER_S, "uploadThroughput": BYTES_PER_S},
        )
        page.cdp = network
        yield page
        context.close()


def _sizes_of(page: Any) -> dict[str, int]:
    """Bytes received by request, with headers; filled while the page loads. A repeated address counts twice."""
    urls: dict[str, str] = {}
    sizes: dict[str, int] = {}
    page.cdp.on("Network.responseReceived", lambda event: urls.update({event["requestId"]: event["response"]["url"]}))

    def finished(event: dict[str, Any]) -> None:
        name = f"{urls.get(event['requestId'], '')}#{event['requestId']}"
        sizes[name] = int(event["encodedDataLength"])

    page.cdp.on("Network.loadingFinished", finished)
    return sizes


def _photographed(page: Any) -> float:
    """Seconds from choosing a photo of 2 MB until its page is shown."""
    from PIL import Image

    out = io.BytesIO()
    Image.effect_noise((2600, 1950), 40).convert("RGB").save(out, "JPEG", quality=62)
    began = time.perf_counter()
    page.locator('input[capture="environment"]').set_input_files(
        {"name": "photo.jpg", "mimeType": "image/jpeg", "buffer": out.getvalue()}
    )
    page.get_by_alt_text("Page 1").wait_for()
    return time.perf_counter() - began
