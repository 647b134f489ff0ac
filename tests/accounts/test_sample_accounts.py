"""Sample accounts: created in the embedded mode, refused elsewhere."""

import pytest
from pytest_django import Settings

from apps.accounts.models import User
from apps.accounts.services import SampleAccountsRefused, sample_accounts_ensure


@pytest.mark.django_db
def test_the_embedded_mode_has_accounts_of_each_role(settings: Settings) -> None:
    settings.EMBEDDED = True
    listed = sample_accounts_ensure()
    assert [role for _, _, role in listed] == ["researcher", "coach", "coach", "coach", "student", "researcher, staff"]
    for name, password, role in listed:
        user = User.objects.get(username=name)
        assert user.check_password(password)
        assert user.role == role.removesuffix(", staff")
        assert user.is_staff == (name == "admin")


@pytest.mark.django_db
def test_creating_sample_accounts_twice_changes_nothing(settings: Settings) -> None:
    settings.EMBEDDED = True
    assert sample_accounts_ensure() == sample_accounts_ensure()
    assert User.objects.count() == 6


@pytest.mark.django_db
def test_an_account_with_a_changed_password_is_left_alone(settings: Settings) -> None:
    settings.EMBEDDED = True
    sample_accounts_ensure()
    coach = User.objects.get(username="coach")
    coach.set_password("a password of my own")
    coach.save()
    assert "coach" not in {name for name, _, _ in sample_accounts_ensure()}
    assert User.objects.get(username="coach").check_password("a password of my own")


@pytest.mark.django_db
def test_a_served_installation_refuses_sample_accounts(settings: Settings) -> None:
    settings.EMBEDDED = False
    with pytest.raises(SampleAccountsRefused, match="embedded mode"):
        sample_accounts_ensure()
    assert not User.objects.exists()
