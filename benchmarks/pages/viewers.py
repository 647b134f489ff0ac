"""Viewers of pages: a researcher's session, a run that appears live, and a page in Chromium. Use after `stage.set_up`."""

import contextlib
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from benchmarks.figures import Skipped

if TYPE_CHECKING:
    from apps.runs.models import Run

CHROMIUM = ("/usr/bin/chromium", "chromium", "chromium-browser", "google-chrome")
_FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
          "--disable-background-networking", "--disable-component-update"]  # fmt: skip


def session_cookie(name: str = "viewer") -> tuple[str, str]:
    """Name and value of the session cookie of a signed-in user, created as a researcher if the name is new."""
    from django.conf import settings
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore

    from apps.accounts.models import Role, User

    user, _ = User.objects.get_or_create(username=name, defaults={"role": Role.RESEARCHER})
    store = SessionStore()
    store[SESSION_KEY] = str(user.pk)
    store[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    store[HASH_SESSION_KEY] = user.get_session_auth_hash()
    store.save()
    return settings.SESSION_COOKIE_NAME, str(store.session_key)


def live_run(alias: str) -> "Run":
    """A run leased by this process that calls `alias`, as a page shows it while agents work."""
    from apps.reasoning.domain.generation import Sampling
    from apps.reasoning.domain.problems import ProblemText
    from apps.reasoning.scaffolds.spec import RoleSpec, RunSpec
    from apps.runs.models import Run, RunStatus
    from apps.runs.owners.leases import lease_take
    from benchmarks import stage

    problem = ProblemText(id="bench", version=1, title="A benchmark", statement="Show that $1 + 1 = 2$.")
    spec = RunSpec(problem=problem, scaffold="intern_s1_mo", roles={"reasoner": RoleSpec(alias=alias, sampling=Sampling())})
    run = lease_take(stage.a_run(spec).pk, "benchmark/0/x")
    if run is None:
        raise SystemExit("the benchmark run could not be taken")
    Run.objects.filter(pk=run.pk).update(status=RunStatus.RUNNING)
    return run


@contextlib.contextmanager
def page(run: "Run", cookie: tuple[str, str]) -> Iterator[Any]:
    """The page of the run in a new browser. Raises `Skipped` if no browser is installed."""
    with page_at(f"/runs/{run.public_id}/", cookie) as shown:
        yield shown


@contextlib.contextmanager
def page_at(path: str, cookie: tuple[str, str]) -> Iterator[Any]:
    """A page of the stage's web process in a new browser. Raises `Skipped` if no browser is installed."""
    from django.conf import settings

    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise Skipped("Playwright is not installed.") from error
    binary = next((found for name in CHROMIUM if (found := shutil.which(name))), None)
    if binary is None:
        raise Skipped("Chromium is not installed.")
    address = f"http://127.0.0.1:{settings.PORT}"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=binary, args=_FLAGS)
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        context.add_cookies([{"name": cookie[0], "value": cookie[1], "url": address}])
        shown = context.new_page()
        shown.goto(f"{address}{path}")
        try:
            yield shown
        finally:
            browser.close()
