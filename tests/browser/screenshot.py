"""`make screenshot`: start an installation of its own with the sample data and write the pictures of README and docs/.

Names after `python -m tests.browser.screenshot` limit it to these pictures.
"""

import io
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from tests.ui.chromium import CHROMIUM, FLAGS

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "docs" / "images"
WIDTH, HEIGHT = 1440, 900  # static/css/help.css has the ratio.
MOST_BYTES = 150_000
SMALL_TRIAL = ("smollm2", "--problems", "1", "--method", "self_check", "--max-new-tokens", "128")


def run(page: Page) -> None:
    """The worked example while it runs, with a rejected lemma in the panel."""
    page.goto("/")
    page.get_by_role("button", name="See a worked example").first.click()
    page.wait_for_url("**/runs/*/")
    address = page.url
    while sum(node["kind"] == "lemma" for node in page.request.get(f"{address}graph.json").json()["nodes"]) < 12:
        time.sleep(1)
    page.goto(f"{address}?tab=lemma&lemma=s0.4")
    _scroll_to(page, "#run-header")


def start(page: Page) -> None:
    """The start form with its estimate."""
    page.goto("/problems/odd-squares/explore/")


def marking(page: Page) -> None:
    """A script with two ticked items and the points that follow."""
    page.goto("/marking/")
    page.locator("main button:enabled", has_text="Mark").last.click()
    page.wait_for_url("**/marking/task/*/")
    page.wait_for_timeout(2000)
    for key in ("i", "a", "s", "Escape"):
        page.keyboard.press(key)


def agreement(page: Page) -> None:
    """The marks of the sample contest compared with suggestions. Marks count once they can no longer be reopened."""
    page.wait_for_timeout(35_000)
    page.goto("/marking/")  # Settles the sealed marks.
    page.goto("/grading/agreement/")
    page.get_by_role("link", name="Sample contest").click()
    page.get_by_role("heading", name="Papers by students").wait_for()
    _scroll_to(page, "main h2")


def result(page: Page) -> None:
    """A student's text with comments, points and their derivation."""
    page.goto("/")
    page.get_by_role("link", name="results are released").click()
    page.get_by_role("link", name="Version 1").click()
    _scroll_to(page, "main section:has(h2:text-is('Points'))")


def trial(page: Page) -> None:
    """A short trial of the embedded model."""
    subprocess.run([sys.executable, "manage.py", "try_model", *SMALL_TRIAL], cwd=ROOT, check=True)
    page.goto("/models/smollm2/trial/")


def schedules(page: Page) -> None:
    """The simulator of schedules."""
    page.goto("/learning/schedules/")


def _scroll_to(page: Page, place: str) -> None:
    page.locator(place).first.evaluate("box => box.scrollIntoView()")


#: The first sample account of a role, and what it shows. A script held for marking would hide figures of its problem.
PICTURES: dict[str, tuple[str, Callable[[Page], None]]] = {
    "run": ("researcher", run),
    "start": ("researcher", start),
    "agreement": ("coach", agreement),
    "marking": ("coach", marking),
    "result": ("student", result),
    "trial": ("researcher", trial),
    "schedules": ("researcher", schedules),
}


@contextmanager
def installation() -> Iterator[str]:
    """A running installation with the sample data in a folder of its own; yields its address."""
    with tempfile.TemporaryDirectory(prefix="ls-shot-") as folder:
        port = free_port()
        os.environ |= {"DATA_DIR": folder, "PORT": str(port), "WORKED_EXAMPLE_TOKENS_PER_S": "250"}
        process = subprocess.Popen([sys.executable, "manage.py", "up"], cwd=ROOT, stdout=subprocess.DEVNULL)
        try:
            _wait(f"http://127.0.0.1:{port}/healthz")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=60)


def _wait(address: str, within_s: float = 180) -> None:
    until = time.monotonic() + within_s
    while True:
        try:
            urllib.request.urlopen(address, timeout=5).close()
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(1)
        else:
            return


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def sign_in(page: Page, address: str, role: str = "researcher") -> None:
    """As the first sample account with this role."""
    from apps.accounts.services import SAMPLE_ACCOUNTS

    username, password = next((name, password) for name, password, its_role in SAMPLE_ACCOUNTS if its_role == role)
    page.goto(f"{address}/accounts/login/")
    page.fill("input[name=username]", username)
    page.fill("input[name=password]", password)
    page.click("main button[type=submit]")
    page.wait_for_url(f"{address}/")


def write(page: Page, path: Path) -> None:
    """Write what the window shows, once its fonts and charts are drawn, without loss."""
    page.evaluate("document.fonts.ready")
    page.wait_for_timeout(2500)
    Image.open(io.BytesIO(page.screenshot())).convert("RGB").save(path, "WEBP", lossless=True, method=6)
    if path.stat().st_size > MOST_BYTES:
        raise SystemExit(f"{path.name} has {path.stat().st_size:,} bytes, more than {MOST_BYTES:,}. Show less on it.")
    sys.stdout.write(f"{path} ({path.stat().st_size:,} bytes)\n")


def main(names: list[str]) -> None:
    """Write the named pictures, all by default."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")
    import django

    with installation() as address, sync_playwright() as playwright:
        django.setup()
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for name in names or PICTURES:
            role, show = PICTURES[name]
            page = browser.new_page(base_url=address, viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
            sign_in(page, address, role)
            show(page)
            write(page, TARGET / f"{name}.webp")
            page.close()
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
