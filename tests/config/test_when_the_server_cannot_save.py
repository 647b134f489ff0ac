"""A lock, a full disk or a lost connection gives a 503 with advice and the typed text; an error in the program gives a 500."""

import errno
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from html import unescape
from typing import Any

import psycopg
import pytest
import redis
from django.db import OperationalError, connection
from django.test import Client
from django.urls import reverse

from apps.accounts.hashing import HashingBusy
from apps.accounts.models import User
from apps.config.errors import DiskFullMiddleware, sentences
from apps.problems.models import Problem
from apps.ui.unavailable import StoreAway, StoreFull, StoreLocked, StoreSlow, Unavailable, unavailable_of

STATEMENT = 'Let <n> be "prime" & odd.\n\nShow that $n > 2$.'
TYPED = {"title": "Odd primes of great length", "topic": "N", "statement": STATEMENT, "action": "save"} | {
    "solutions-TOTAL_FORMS": "0", "solutions-INITIAL_FORMS": "0", "solutions-MIN_NUM_FORMS": "0", "solutions-MAX_NUM_FORMS": "9"
}  # fmt: skip
HTML = {"Accept": "text/html,*/*"}


@pytest.fixture
def browser(transactional_db: None, alice: User) -> Client:
    """Alice's browser, with the CSRF check of a real server."""
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    client.force_login(alice)
    client.get(reverse("problems:create"))
    return client


def sent(browser: Client, values: dict[str, str], **headers: str) -> Any:
    token = browser.cookies["csrftoken"].value
    return browser.post(reverse("problems:create"), {**values, "csrfmiddlewaretoken": token}, headers={**HTML, **headers})


@contextmanager
def another_writer() -> Iterator[None]:
    """Another process that writes for longer than a statement waits."""
    if connection.vendor != "sqlite":
        pytest.skip("only SQLite has a single writer; other tests distinguish PostgreSQL's errors")
    with (
        connection.cursor() as cursor,
        closing(sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)) as other,
    ):
        cursor.execute("PRAGMA busy_timeout = 10")
        other.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            other.execute("ROLLBACK")
            cursor.execute("PRAGMA busy_timeout = 20000")


def form_of(page: str) -> dict[str, str]:
    """The fields that a browser would send again."""
    hidden = dict(re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)">', page))
    texts = dict(re.findall(r'<textarea [^>]*name="([^"]*)"[^>]*>\n(.*?)</textarea>', page, re.DOTALL))
    return {name: unescape(value) for name, value in (hidden | texts).items()}


def test_a_locked_database_answers_503_and_the_page_sends_the_same_form_again(browser: Client) -> None:
    with another_writer():
        answer = sent(browser, TYPED)
    page = answer.content.decode()
    assert (answer.status_code, answer["Retry-After"]) == (503, "10")
    assert "The database is busy." in page
    assert "may not have been saved" in page
    fields = form_of(page)
    assert {name: fields[name] for name in TYPED} == TYPED
    assert f'action="{reverse("problems:create")}"' in page
    assert not Problem.objects.exists()
    assert sent(browser, fields).status_code == 302
    assert Problem.objects.get().current.statement.replace("\r\n", "\n") == STATEMENT


def test_a_full_disk_answers_503_with_the_typed_text(browser: Client) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("a limit on SQLite's pages simulates the full disk")
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")  # Rows deleted by other tests leave free space.
        cursor.execute("PRAGMA page_count")
        cursor.execute(f"PRAGMA max_page_count = {cursor.fetchone()[0]}")
        try:
            answer = sent(browser, TYPED | {"statement": STATEMENT * 400})
        finally:
            cursor.execute("PRAGMA max_page_count = 4294967294")
    assert (answer.status_code, answer["Retry-After"]) == (503, "60")
    assert "no room left" in answer.content.decode()
    assert form_of(answer.content.decode())["statement"] == STATEMENT * 400


def test_htmx_gets_one_sentence_and_a_program_json(browser: Client) -> None:
    with another_writer():
        part = sent(browser, TYPED, **{"HX-Request": "true"})
        answer = sent(browser, TYPED, Accept="application/json")
    assert (part.status_code, answer.status_code) == (503, 503)
    assert part["Content-Type"].startswith("text/plain")
    assert "What you typed is still here" in part.content.decode()
    assert answer.json()["message"] == answer.json()["detail"] == part.content.decode()


@pytest.mark.parametrize("error", [StoreLocked(), StoreFull(), StoreAway()])
def test_a_failed_change_is_not_called_unsaved(error: Unavailable) -> None:
    """The connection may be lost, or the session's row locked, after the change was committed."""
    assert "may not have been saved" in sentences(error, is_change=True)
    assert "saved" not in sentences(error, is_change=False)


def test_a_page_that_was_only_read_offers_its_own_url(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.problems.views.reading.problem_visible_to", _raises(StoreAway()))
    answer = browser.get(reverse("problems:list"), {"q": "prime"}, headers=HTML)
    assert answer.status_code == 503
    assert 'href="/problems/?q=prime"' in answer.content.decode()
    assert "saved" not in answer.content.decode()


def test_an_error_in_the_program_gives_500_and_shows_no_form(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.problems.views.writing.services.problem_create", _raises(ZeroDivisionError()))
    answer = sent(browser, TYPED)
    assert answer.status_code == 500
    assert "Something went wrong" in answer.content.decode()


def test_a_form_from_another_site_is_never_offered_again(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("django.middleware.csrf._get_failure_view", lambda: _raises(StoreAway()))
    answer = browser.post(reverse("problems:create"), {"title": "A title from another site"}, headers=HTML)
    assert answer.status_code == 503
    assert "A title from another site" not in answer.content.decode()


def test_passwords_are_never_shown_again(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.accounts.forms.PasswordForm.clean_old_password", _raises(HashingBusy()))
    secret = "a very secret old password"
    data = {"old_password": secret, "new_password1": secret, "new_password2": secret}
    answer = browser.post(
        reverse("accounts:password"), data | {"csrfmiddlewaretoken": browser.cookies["csrftoken"].value}, headers=HTML
    )
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    page = answer.content.decode()
    assert secret not in page
    assert f'href="{reverse("accounts:password")}">Back to the form</a>' in page, (
        "without the password the form would be rejected"
    )
    assert "Try again</button>" not in page


async def test_a_request_for_which_the_disk_has_no_room_is_answered() -> None:
    async def inner(scope: Any, receive: Any, send: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    events: list[Any] = []

    async def send(event: Any) -> None:
        events.append(event)

    await DiskFullMiddleware(inner)({"type": "http"}, None, send)
    assert events[0]["status"] == 503
    assert b"no room left" in events[1]["body"]


def _of(cause: Exception) -> OperationalError:
    error = OperationalError(str(cause))
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (_of(psycopg.errors.LockNotAvailable()), StoreLocked),
        (_of(psycopg.errors.DeadlockDetected()), StoreLocked),
        (_of(psycopg.errors.QueryCanceled()), StoreSlow),
        (_of(psycopg.errors.DiskFull()), StoreFull),
        (_of(psycopg.errors.TooManyConnections()), StoreAway),
        (_of(psycopg.errors.AdminShutdown()), StoreAway),
        (_of(psycopg.OperationalError("connection refused")), StoreAway),
        (_of(psycopg.errors.UndefinedTable()), None),
        (OSError(errno.EDQUOT, "quota"), StoreFull),
        (FileNotFoundError(errno.ENOENT, "no file"), None),
        (redis.OutOfMemoryError("OOM"), StoreFull),
        (redis.ConnectionError("refused"), StoreAway),
        (redis.ResponseError("wrong"), None),
        (ValueError("wrong"), None),
    ],
    ids=lambda value: getattr(value, "__name__", None) or repr(getattr(value, "__cause__", None) or value),
)
def test_temporary_errors_are_distinguished_from_faults(error: Exception, kind: type | None) -> None:
    found = unavailable_of(error)
    assert type(found) is kind if kind else found is None


def test_a_missing_table_of_sqlite_is_a_fault() -> None:
    with closing(sqlite3.connect(":memory:")) as store, pytest.raises(sqlite3.OperationalError) as raised:
        store.execute("SELECT * FROM nothing")
    assert unavailable_of(_of(raised.value)) is None


def _raises(error: Exception) -> Any:
    def raising(*_: Any, **__: Any) -> Any:
        raise error

    return raising
