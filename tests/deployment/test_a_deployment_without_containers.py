"""The commands of docker/compose.yml on this machine: PostgreSQL, Valkey with a password, Caddy with TLS, EMBEDDED=0."""

import http.client
import json
import re
import shutil
import signal
import ssl
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from playwright.sync_api import Page, expect

from apps.accounts.services import SAMPLE_ACCOUNTS
from tests.deployment.installation import Installation, written_files
from tests.flows.database import PostgresServer, server_programs
from tests.ui.browser import needs_chromium
from tests.ui.chromium import chromium

pytestmark = [
    pytest.mark.kill,
    pytest.mark.xdist_group("deployment"),  # One installation for all tests.
    pytest.mark.skipif(server_programs() is None, reason="PostgreSQL is not installed"),
    pytest.mark.skipif(shutil.which("caddy") is None, reason="Caddy is not installed"),
]
#: Relative imports of a JavaScript module.
IMPORTED = re.compile(r'^(?:import|export)\b[^;"\']*["\'](\.\.?/[^"\']+)["\']', re.MULTILINE)
Answer = tuple[int, dict[str, str], str]


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    with (
        PostgresServer() as database,
        tempfile.TemporaryDirectory(prefix="ls-prod-") as folder,
        Installation(Path(folder), database) as found,
    ):
        found.wait_until(lambda: _answers(found), "the proxy does not answer")
        yield found
        # Every process stops on SIGTERM. Another installation for a test of this would take minutes.
        statuses = {name: found.stop(name) for name in ("proxy", "web", "trainer", "orchestrator", "inference", "valkey")}
        # uvicorn finishes its responses and then ends by the signal itself.
        assert statuses == {**dict.fromkeys(statuses, 0), "web": -signal.SIGTERM}, found.logs()


@pytest.fixture(scope="module")
def researcher(installation: Installation) -> tuple[str, str]:
    """Name and password of the first account, created as in docs/deployment.md."""
    name, password, *_ = installation.manage("add_account", "emmy", "--role", "researcher").split()
    return name, password


def ask(
    place: Installation, path: str, *, method: str = "GET", body: str = "", headers: dict[str, str] | None = None
) -> Answer:
    """Send one request over TLS through the proxy, like a browser on another machine."""
    trusting = ssl._create_unverified_context()
    connection = http.client.HTTPSConnection("localhost", place.ports["https"], timeout=20, context=trusting)
    try:
        connection.request(method, path, body=body or None, headers=headers or {})
        answer = connection.getresponse()
        named = {name.lower(): value for name, value in answer.getheaders()}
        return answer.status, named, answer.read().decode(errors="replace")
    finally:
        connection.close()


def _answers(place: Installation) -> bool:
    try:
        return ask(place, "/healthz")[0] == 200
    except OSError:
        return False


def sign_in(place: Installation, name: str, password: str, *, sent_for: str = "") -> int:
    """The status of the sign-in form's response; 302 means signed in."""
    _, headers, page = ask(place, "/accounts/login/")
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    assert token
    cookie = headers["set-cookie"].split(";")[0]
    sent = {
        "Cookie": cookie,
        "Content-Type": "application/x-www-form-urlencoded",
        "Referer": f"{place.address}/accounts/login/",
    }
    if sent_for:
        sent["X-Forwarded-For"] = sent_for
    body = f"csrfmiddlewaretoken={token[1]}&username={name}&password={password}"
    return ask(place, "/accounts/login/", method="POST", body=body, headers=sent)[0]


@pytest.mark.parametrize("name", ["web", "orchestrator", "inference", "trainer"])
def test_the_health_check_of_every_process_succeeds(installation: Installation, name: str) -> None:
    assert installation.is_healthy(name)


def test_a_page_over_tls_has_its_protections(installation: Installation) -> None:
    status, headers, _ = ask(installation, "/accounts/login/")
    assert status == 200
    assert "max-age=31536000" in headers["strict-transport-security"]
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["x-frame-options"] == "DENY"
    assert "server" not in headers
    assert "Secure" in headers["set-cookie"]


def test_plain_http_redirects_to_tls(installation: Installation) -> None:
    connection = http.client.HTTPConnection("localhost", installation.ports["http"], timeout=10)
    connection.request("GET", "/accounts/login/")
    answer = connection.getresponse()
    assert answer.status == 308
    assert (answer.getheader("location") or "").startswith("https://localhost")
    connection.close()


def test_every_file_and_import_of_the_page_has_a_hashed_name(installation: Installation) -> None:
    _, _, page = ask(installation, "/accounts/login/")
    to_see = set(re.findall(r'(?:src|href)="(/static/[^"]+)"', page))
    to_see |= {f"/static/{name}" for name in _collected(installation) if name.startswith("js/") and name.endswith(".js")}
    assert len(to_see) > 20
    seen: set[str] = set()
    while to_see - seen:
        path = (to_see - seen).pop()
        seen.add(path)
        status, headers, text = ask(installation, path)
        assert status == 200, path
        assert re.search(r"\.[0-9a-f]{12}\.", path), path
        assert "immutable" in headers["cache-control"]
        if path.startswith("/static/js/"):
            to_see |= {urljoin(path, name) for name in IMPORTED.findall(text)}


def _collected(place: Installation) -> list[str]:
    """Hashed names of the collected files."""
    folder = place.app / "staticfiles"
    return [str(path.relative_to(folder)) for path in folder.rglob("*.*") if re.search(r"\.[0-9a-f]{12}\.\w+$", path.name)]


def test_sample_accounts_do_not_exist(installation: Installation) -> None:
    for name, password, _ in SAMPLE_ACCOUNTS:
        assert sign_in(installation, name, password) == 200


def test_an_account_made_in_the_terminal_can_sign_in(installation: Installation, researcher: tuple[str, str]) -> None:
    assert sign_in(installation, *researcher) == 302
    assert sign_in(installation, researcher[0], "another-password") == 200


def test_guessing_is_slowed_down_whatever_address_a_client_claims(installation: Installation) -> None:
    answers = [sign_in(installation, "intruder", f"guess-{number}", sent_for=f"203.0.113.{number}") for number in range(11)]
    assert answers == [200] * 10 + [429]


def test_an_error_page_shows_no_internals(installation: Installation) -> None:
    status, _, page = ask(installation, "/nothing/here/")
    assert status in {302, 404}
    assert "DEBUG" not in page
    assert "urlpatterns" not in page


def test_an_unknown_host_name_gets_no_page(installation: Installation) -> None:
    _, _, page = ask(installation, "/accounts/login/", headers={"Host": "elsewhere.example"})
    assert "<form" not in page


def test_a_worker_reports_the_models_that_it_was_started_for(installation: Installation) -> None:
    with installation.broker() as client:
        beats = [json.loads(client.get(name) or "{}") for name in client.scan_iter("hb:*")]
    assert [beat["aliases"] for beat in beats] == [["smollm2", "worked-example"]]


def test_the_broker_requires_its_password(installation: Installation) -> None:
    import redis

    with redis.Redis(port=installation.ports["valkey"]) as client, pytest.raises(redis.exceptions.AuthenticationError):
        client.ping()


@pytest.mark.browser
@needs_chromium
def test_a_run_is_started_and_watched_to_its_end_through_the_proxy(
    installation: Installation, researcher: tuple[str, str], tmp_path: Path
) -> None:
    with chromium() as browser:
        page = browser.new_context(viewport={"width": 1440, "height": 900}, ignore_https_errors=True).new_page()
        page.set_default_timeout(20_000)
        complaints: list[str] = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("response", lambda answer: complaints.append(answer.url) if answer.status >= 400 else None)
        page.goto(f"{installation.address}/accounts/login/")
        page.fill("input[name=username]", researcher[0])
        page.fill("input[name=password]", researcher[1])
        page.click("main button[type=submit]")
        page.wait_for_url(f"{installation.address}/")
        page.get_by_text("See a worked example").first.click()
        page.wait_for_url("**/runs/*/")
        # On a busy machine the run may end before the check; a socket that was live then shows "stopped".
        expect(page.locator("[data-part=link]")).to_have_text(re.compile("live|stopped"), timeout=30_000)
        expect(page.locator("[data-part=liveness]")).to_contain_text("ccepted", timeout=60_000)
        expect(page.locator(".katex:visible").first).to_be_visible()
        assert _modules_that_ran_twice(page) == []
        page.screenshot(path=tmp_path / "deployment.png")
        assert complaints == []


def _modules_that_ran_twice(page: Page) -> list[str]:
    """Modules that the page fetched under two names, with and without their hash."""
    fetched = page.evaluate("performance.getEntriesByType('resource').map((entry) => entry.name)")
    modules = {urlsplit(url).path for url in fetched if re.search(r"\.m?js$", urlsplit(url).path)}
    plain = [re.sub(r"\.[0-9a-f]{12}(\.m?js)$", r"\1", path) for path in modules]
    assert len(plain) > 10
    return sorted(name for name in set(plain) if plain.count(name) > 1)


def test_no_process_writes_into_the_code(installation: Installation, researcher: tuple[str, str]) -> None:
    assert written_files(installation.app) == installation.files
