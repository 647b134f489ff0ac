"""API tokens: shown once, stored as a hash, revoked by their owner only."""

from collections.abc import Callable

from django.test import Client
from django.urls import reverse

from apps.accounts.models import ApiToken, User
from apps.accounts.services import TOKENS_AT_MOST, token_issue


def test_a_new_token_is_shown_once(client_for: Callable[[User | None], Client], alice: User) -> None:
    client = client_for(alice)
    page = client.post(reverse("accounts:token_create"), {"name": "notebook"})
    text = str(page.context["new_token"])
    assert text in page.content.decode()
    assert "no-store" in page.headers["Cache-Control"]
    assert text not in client.get(reverse("accounts:profile")).content.decode()


def test_only_the_hash_of_a_token_is_stored(alice: User) -> None:
    token, text = token_issue(user=alice, name="notebook")
    stored = ApiToken.objects.values().get(pk=token.pk)
    assert text not in map(str, stored.values())
    assert stored["digest"] == ApiToken.digest_of(text)


def test_a_token_needs_a_name(client_for: Callable[[User | None], Client], alice: User) -> None:
    answer = client_for(alice).post(reverse("accounts:token_create"), {"name": "  "})
    assert answer.status_code == 422
    assert not ApiToken.objects.exists()


def test_too_many_tokens_are_rejected_with_the_limit(client_for: Callable[[User | None], Client], alice: User) -> None:
    for number in range(TOKENS_AT_MOST):
        ApiToken.issue(alice, f"token {number}")
    answer = client_for(alice).post(reverse("accounts:token_create"), {"name": "one more"})
    assert answer.status_code == 422
    assert f"You have {TOKENS_AT_MOST} tokens" in answer.content.decode()


def test_a_revoked_token_stops_working(client_for: Callable[[User | None], Client], alice: User) -> None:
    token, text = token_issue(user=alice, name="notebook")
    answer = client_for(alice).post(reverse("accounts:token_revoke", args=[token.public_id]), follow=True)
    assert "“notebook” was revoked." in answer.content.decode()
    problems = Client().get(reverse("api:problem_list"), headers={"Authorization": f"Bearer {text}"})
    assert problems.status_code == 401


def test_only_the_owner_can_revoke_a_token(client_for: Callable[[User | None], Client], alice: User, dana: User) -> None:
    token, _ = token_issue(user=alice, name="notebook")
    assert client_for(dana).post(reverse("accounts:token_revoke", args=[token.public_id])).status_code == 404
    assert ApiToken.objects.filter(pk=token.pk).exists()


def test_a_token_may_write_only_if_the_box_was_ticked(client_for: Callable[[User | None], Client], alice: User) -> None:
    client = client_for(alice)
    for form in ({"name": "dashboard"}, {"name": "notebook", "may_write": "on"}):
        client.post(reverse("accounts:token_create"), form)
    assert dict(ApiToken.objects.values_list("name", "may_write")) == {"dashboard": False, "notebook": True}
    page = client.get(reverse("accounts:profile")).content.decode()
    assert page.count("read and write") == 1
