"""`make screenshot`: play the worked example in a stack of its own and picture its page for the README."""

import os
import shutil
import socket
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.flows.stack import ROOT, Stack

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or "chromium"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def sign_in(page: Page, address: str) -> None:
    """As the researcher of the sample accounts."""
    from apps.accounts.services import SAMPLE_ACCOUNTS

    username, password = next((name, password) for name, password, role in SAMPLE_ACCOUNTS if role == "researcher")
    page.goto(f"{address}/accounts/login/")
    page.fill("input[name=username]", username)
    page.fill("input[name=password]", password)
    page.click("main button[type=submit]")
    page.wait_for_url(f"{address}/")


def main(target: Path = ROOT / "docs" / "screenshot.png") -> None:
    """Write the picture."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")
    import django

    django.setup()
    with tempfile.TemporaryDirectory(prefix="ls-shot-") as folder, Stack(Path(folder), tokens_per_s=250) as stack:
        stack.port = free_port()
        address = f"http://127.0.0.1:{stack.port}"
        stack.start("valkey", "orchestrator", "inference", "web")
        stack.agent("samples")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            stack.wait_for_web()
            sign_in(page, address)
            run = stack.agent("start")
            page.goto(f"{address}/runs/{run}/")
            stack.wait_for(run, lambda dump: len(dump["lemmas"]) >= 12, within_s=60)
            time.sleep(2)
            page.screenshot(path=target)
            browser.close()
    sys.stdout.write(f"{target}\n")


if __name__ == "__main__":
    main()
