"""Failed sign-ins are limited per name and address, and per address; other users and later attempts are not affected."""

import time
from collections.abc import Callable

import pytest
import redis
from django.core.cache import caches
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from apps.accounts import origin, throttle
from apps.accounts.models import User
from apps.accounts.throttle import ATTEMPTS, WINDOW_S
from tests.cast import PASSWORD


@pytest.fixture(autouse=True)
def _own_cache(settings: Settings) -> None:
    local = "django.core.cache.backends.locmem.LocMemCache"
    settings.CACHES = {name: {"BACKEND": local, "LOCATION": f"guessing-{name}"} for name in ("default", "local")}
    for name in settings.CACHES:
        caches[name].clear()


def _sign_in(name: str, password: str, address: str = "127.0.0.1", forwarded: str = "") -> tuple[int, str]:
    data = {"username": name, "password": password}
    headers = {"X-Forwarded-For": forwarded} if forwarded else {}
    answer = Client().post(reverse("accounts:login"), data, REMOTE_ADDR=address, headers=headers)
    return answer.status_code, answer.content.decode()


def _guess_wrong() -> None:
    for _ in range(ATTEMPTS):
        assert _sign_in("alice", "wrong")[0] == 200


def test_the_eleventh_attempt_is_rejected_even_with_the_right_password(alice: User) -> None:
    _guess_wrong()
    for password in ("wrong", PASSWORD):
        status, page = _sign_in("alice", password)
        assert status == 429
        assert "Too many failed sign-ins with this user name" in page
        assert "10 min" in page or "9 min" in page


def test_another_user_and_another_address_can_still_sign_in(alice: User, bob: User) -> None:
    _guess_wrong()
    assert _sign_in("bob", PASSWORD)[0] == 302
    assert _sign_in("alice", PASSWORD, "192.0.2.1")[0] == 302


def test_the_right_password_works_after_the_wait(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    _guess_wrong()
    now = time.time()
    monkeypatch.setattr("apps.accounts.throttle.time.time", lambda: now + WINDOW_S + 1)
    assert _sign_in("alice", PASSWORD)[0] == 302


def test_the_right_password_resets_the_count(alice: User) -> None:
    for _ in range(2):
        for _ in range(ATTEMPTS - 1):
            assert _sign_in("alice", "wrong")[0] == 200
        assert _sign_in("alice", PASSWORD)[0] == 302


def test_behind_proxies_the_address_seen_by_the_outermost_counts(alice: User, settings: Settings) -> None:
    settings.TRUSTED_PROXIES = 2
    for number in range(ATTEMPTS):
        assert _sign_in("alice", "wrong", forwarded=f"203.0.113.{number}, 192.0.2.1, 10.0.0.2")[0] == 200
    assert _sign_in("alice", PASSWORD, forwarded="192.0.2.1, 10.0.0.2")[0] == 429
    assert _sign_in("alice", PASSWORD, forwarded="192.0.2.7, 10.0.0.2")[0] == 302


def test_without_trusted_proxies_a_forged_address_is_ignored_and_logged_once(
    alice: User, caplog: pytest.LogCaptureFixture
) -> None:
    origin._warn_once.cache_clear()
    for number in range(ATTEMPTS):
        assert _sign_in("alice", "wrong", forwarded=f"192.0.2.{number}")[0] == 200
    assert _sign_in("alice", PASSWORD, forwarded="192.0.2.99")[0] == 429
    assert sum("TRUSTED_PROXIES is 0" in line.getMessage() for line in caplog.records) == 1


@pytest.mark.parametrize("forwarded", ["", "192.0.2.1", "not an address, 10.0.0.2"])
def test_a_header_without_the_proxies_entries_is_ignored(alice: User, settings: Settings, forwarded: str) -> None:
    settings.TRUSTED_PROXIES = 2
    for _ in range(ATTEMPTS):
        assert _sign_in("alice", "wrong", forwarded=forwarded)[0] == 200
    assert _sign_in("alice", PASSWORD)[0] == 429


def test_many_names_from_one_address_are_rejected_with_a_waiting_time(alice: User, settings: Settings) -> None:
    settings.SIGN_IN_FAILURES_PER_ADDRESS = 3
    for number in range(3):
        assert _sign_in(f"unknown-{number}", "wrong")[0] == 200
    answer = Client().post(reverse("accounts:login"), {"username": "alice", "password": PASSWORD}, REMOTE_ADDR="127.0.0.1")
    assert answer.status_code == 429
    assert 0 < int(answer["Retry-After"]) <= WINDOW_S
    page = answer.content.decode()
    assert "from your network address" in page
    assert "Your password was not checked" in page
    assert _sign_in("alice", PASSWORD, "192.0.2.1")[0] == 302


def test_addresses_of_one_ipv6_network_count_as_one(alice: User, settings: Settings) -> None:
    settings.SIGN_IN_FAILURES_PER_ADDRESS = 2
    for number in range(2):
        assert _sign_in(f"unknown-{number}", "wrong", f"2001:db8::{number}")[0] == 200
    assert _sign_in("alice", PASSWORD, "2001:db8::9")[0] == 429
    assert _sign_in("alice", PASSWORD, "2001:db8:0:1::9")[0] == 302


def test_right_passwords_from_one_address_are_not_counted(alice: User, settings: Settings) -> None:
    settings.SIGN_IN_FAILURES_PER_ADDRESS = 2
    assert _sign_in("unknown", "wrong")[0] == 200
    for _ in range(4):
        assert _sign_in("alice", PASSWORD)[0] == 302


def test_attempts_rejected_by_the_limit_of_an_address_are_not_counted_for_the_name(alice: User, settings: Settings) -> None:
    settings.SIGN_IN_FAILURES_PER_ADDRESS = 0
    for _ in range(ATTEMPTS + 1):
        assert "from your network address" in _sign_in("alice", PASSWORD)[1]


def test_without_redis_the_process_counts_alone(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    class Away:
        def __getattr__(self, name: str) -> object:
            raise redis.ConnectionError("refused")

    monkeypatch.setattr(throttle, "cache", Away())
    _guess_wrong()
    assert _sign_in("alice", PASSWORD)[0] == 429
    assert _sign_in("alice", PASSWORD, "192.0.2.1")[0] == 302


def test_wrong_old_passwords_are_limited_too(alice: User, client_for: Callable[[User | None], Client]) -> None:
    client, new = client_for(alice), "every prime has a root"
    typed = {"old_password": "wrong", "new_password1": new, "new_password2": new}
    for _ in range(ATTEMPTS):
        assert client.post(reverse("accounts:password"), typed).status_code == 200
    answer = client.post(reverse("accounts:password"), typed | {"old_password": PASSWORD})
    assert (answer.status_code, "Retry-After" in answer.headers) == (429, True)
    assert "Nothing was changed" in answer.content.decode()
    alice.refresh_from_db()
    assert alice.check_password(PASSWORD)
