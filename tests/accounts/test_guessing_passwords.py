"""Wrong passwords are limited for a name from an address; other people and later attempts are not."""

import time
from collections.abc import Iterator

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from apps.accounts.models import User
from apps.accounts.throttle import ATTEMPTS, WINDOW_S
from tests.cast import PASSWORD


@pytest.fixture(autouse=True)
def _own_cache(settings: Settings) -> Iterator[None]:
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "guessing"}}
    cache.clear()
    yield
    cache.clear()


def _sign_in(name: str, password: str, address: str = "127.0.0.1", forwarded: str = "") -> tuple[int, str]:
    data = {"username": name, "password": password}
    headers = {"X-Forwarded-For": forwarded} if forwarded else {}
    answer = Client().post(reverse("accounts:login"), data, REMOTE_ADDR=address, headers=headers)
    return answer.status_code, answer.content.decode()


def _guess_wrong() -> None:
    for _ in range(ATTEMPTS):
        assert _sign_in("alice", "wrong")[0] == 200


def test_the_eleventh_attempt_is_refused_even_with_the_right_password(alice: User) -> None:
    _guess_wrong()
    for password in ("wrong", PASSWORD):
        status, page = _sign_in("alice", password)
        assert status == 429
        assert "Too many attempts" in page
        assert "10 min" in page or "9 min" in page


def test_another_person_and_another_address_are_not_refused(alice: User, bob: User) -> None:
    _guess_wrong()
    assert _sign_in("bob", PASSWORD)[0] == 302
    assert _sign_in("alice", PASSWORD, "192.0.2.1")[0] == 302


def test_the_right_password_works_after_the_wait(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    _guess_wrong()
    now = time.time()
    monkeypatch.setattr("apps.accounts.throttle.time.time", lambda: now + WINDOW_S + 1)
    assert _sign_in("alice", PASSWORD)[0] == 302


def test_the_right_password_begins_the_count_anew(alice: User) -> None:
    for _ in range(2):
        for _ in range(ATTEMPTS - 1):
            assert _sign_in("alice", "wrong")[0] == 200
        assert _sign_in("alice", PASSWORD)[0] == 302


def test_behind_proxies_the_address_that_the_outermost_has_seen_counts(alice: User, settings: Settings) -> None:
    settings.TRUSTED_PROXIES = 2
    for number in range(ATTEMPTS):
        assert _sign_in("alice", "wrong", forwarded=f"203.0.113.{number}, 192.0.2.1, 10.0.0.2")[0] == 200
    assert _sign_in("alice", PASSWORD, forwarded="192.0.2.1, 10.0.0.2")[0] == 429
    assert _sign_in("alice", PASSWORD, forwarded="192.0.2.7, 10.0.0.2")[0] == 302


def test_without_proxies_of_ours_what_a_client_claims_is_not_believed(alice: User) -> None:
    for number in range(ATTEMPTS):
        assert _sign_in("alice", "wrong", forwarded=f"192.0.2.{number}")[0] == 200
    assert _sign_in("alice", PASSWORD, forwarded="192.0.2.99")[0] == 429


@pytest.mark.parametrize("forwarded", ["", "192.0.2.1", "not an address, 10.0.0.2"])
def test_a_header_that_the_proxies_did_not_write_counts_as_none(alice: User, settings: Settings, forwarded: str) -> None:
    settings.TRUSTED_PROXIES = 2
    for _ in range(ATTEMPTS):
        assert _sign_in("alice", "wrong", forwarded=forwarded)[0] == 200
    assert _sign_in("alice", PASSWORD)[0] == 429
