"""Users can change their own password; a weak one is rejected."""

from collections.abc import Callable

from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from tests.cast import PASSWORD


def _change(client: Client, new: str) -> int:
    data = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    return client.post(reverse("accounts:password"), data).status_code


def test_a_good_new_password_is_accepted(client_for: Callable[[User | None], Client], alice: User) -> None:
    client = client_for(alice)
    assert _change(client, "every prime has a root") == 302
    assert "Your password was changed" in client.get(reverse("accounts:profile")).content.decode()
    alice.refresh_from_db()
    assert alice.check_password("every prime has a root")


def test_a_short_new_password_is_rejected(client_for: Callable[[User | None], Client], alice: User) -> None:
    assert _change(client_for(alice), "short") == 200
    alice.refresh_from_db()
    assert alice.check_password(PASSWORD)
