"""Only one of several concurrent saves succeeds, on SQLite and PostgreSQL."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections

from apps.accounts.models import User
from apps.schemes.models import MarkingScheme
from apps.schemes.services import SchemeChanged, scheme_activate, scheme_save
from tests.cast import person
from tests.schemes.factory import content, make_scheme

pytestmark = pytest.mark.django_db(transaction=True)
PEOPLE = 6


def at_once(scheme: MarkingScheme, by: User) -> list[str]:
    """Save different texts on the same state concurrently; return the outcomes."""
    seen = scheme.row_version

    def save(number: int) -> str:
        try:
            own = MarkingScheme.objects.get(pk=scheme.pk)
            scheme_save(scheme=own, content=content(("A slip.", f"Slip {number}.")), by=by, based_on=seen)
        except SchemeChanged:
            return "refused"
        finally:
            connections.close_all()
        return f"Slip {number}."

    with ThreadPoolExecutor(PEOPLE) as pool:
        return list(pool.map(save, range(PEOPLE)))


@pytest.mark.parametrize("is_active", [False, True])
def test_only_one_concurrent_save_succeeds(is_active: bool) -> None:
    bob = person("bob")
    scheme = make_scheme(bob)
    if is_active:
        scheme_activate(scheme=scheme, by=bob, based_on=scheme.row_version)
        scheme.refresh_from_db()
    outcomes = at_once(scheme, bob)
    assert outcomes.count("refused") == PEOPLE - 1
    newest = scheme.versions.order_by("-number")[0]
    assert newest.content.items[-1].text in outcomes
    assert [version.number for version in scheme.versions.all()] == ([1, 2] if is_active else [1])
