"""Sign-in and sign-out."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from tests.cast import PASSWORD


def test_the_right_password_leads_to_the_requested_page(client: Client, alice: User) -> None:
    answer = client.post(
        reverse("accounts:login"), {"username": "alice", "password": PASSWORD, "next": reverse("accounts:profile")}
    )
    assert answer.status_code == 302
    assert answer.headers["Location"] == reverse("accounts:profile")


def test_a_wrong_password_is_reported_and_the_name_is_kept(client: Client, alice: User) -> None:
    answer = client.post(reverse("accounts:login"), {"username": "alice", "password": "mistyped"})
    page = answer.content.decode()
    assert "user name or the password is wrong" in page
    assert 'value="alice"' in page
    assert "mistyped" not in page


def test_an_inactive_user_cannot_sign_in(client: Client, alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert client.post(reverse("accounts:login"), {"username": "alice", "password": PASSWORD}).status_code == 200


def test_sign_in_does_not_redirect_to_other_sites(client: Client, alice: User) -> None:
    data = {"username": "alice", "password": PASSWORD, "next": "https://elsewhere.example/"}
    assert client.post(reverse("accounts:login"), data).headers["Location"] == reverse("home")


def test_signing_out_needs_a_post(client_for: Callable[[User | None], Client], alice: User) -> None:
    client = client_for(alice)
    assert client.get(reverse("accounts:logout")).status_code == 405
    assert client.get(reverse("home")).status_code == 200
    client.post(reverse("accounts:logout"))
    assert client.get(reverse("home")).status_code == 302


@pytest.mark.django_db
def test_there_is_no_sign_up(client: Client) -> None:
    page = client.get(reverse("accounts:login")).content.decode()
    assert "Sign up" not in page
    assert "there is no sign-up" in page or "sample accounts" in page
