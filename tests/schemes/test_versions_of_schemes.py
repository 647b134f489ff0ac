"""Saving overwrites a draft or creates a version; used versions are immutable."""

import pytest
from django.db import IntegrityError, transaction

from apps.accounts.models import User
from apps.reasoning.marking.schemes.lineage import without_lineage
from apps.reasoning.marking.schemes.scheme import Scheme
from apps.schemes import services
from apps.schemes.models import MarkingScheme, SchemeItem, SchemeVersion
from apps.schemes.selectors import version_current, version_rows
from tests.schemes.factory import content, make_scheme

pytestmark = pytest.mark.django_db


def save(scheme: MarkingScheme, text: Scheme, by: User, *, is_wording_only: bool = False, reason: str = "") -> SchemeVersion:
    scheme.refresh_from_db()
    return services.scheme_save(
        scheme=scheme, content=text, by=by, based_on=scheme.row_version, is_wording_only=is_wording_only, reason=reason
    )


def activate(scheme: MarkingScheme, by: User) -> SchemeVersion:
    scheme.refresh_from_db()
    return services.scheme_activate(scheme=scheme, by=by, based_on=scheme.row_version)


def lineages(version: SchemeVersion) -> dict[str, str]:
    return {item.code: str(item.lineage) for item in version.items.all()}


def test_a_new_scheme_is_a_draft_with_one_row_per_item(bob: User) -> None:
    version = make_scheme(bob).versions.get()
    assert (version.number, version.status, version.parent) == (1, "draft", None)
    assert without_lineage(version.content) == content()
    rows = [(item.code, item.kind, float(item.points)) for item in version.items.all()]
    assert rows == [
        ("A1", "checkpoint", 3),
        ("A2", "checkpoint", 4),
        ("B1", "checkpoint", 7),
        ("K5", "cap", 5),
        ("D1", "deduction", 1),
    ]
    assert lineages(version) == {item.code: item.lineage for item in version.content.items}


def test_saving_overwrites_a_draft_and_keeps_the_lineage_of_items(bob: User) -> None:
    scheme = make_scheme(bob)
    before = lineages(scheme.versions.get())
    version = save(scheme, content(("3 points", "2 points"), ("4 points", "5 points")), bob)
    assert [one.number for one in scheme.versions.all()] == [1]
    assert lineages(version) == before


def test_saving_an_unchanged_scheme_creates_no_version(bob: User) -> None:
    scheme = make_scheme(bob)
    activate(scheme, bob)
    assert save(scheme, content(), bob).number == 1
    assert scheme.versions.count() == 1


def test_saving_an_active_version_creates_a_child(bob: User) -> None:
    scheme = make_scheme(bob)
    first = activate(scheme, bob)
    second = save(scheme, content(("A1", "inv"), ("needs inv", "needs inv")), bob)
    first.refresh_from_db()
    assert (first.number, second.number, second.parent, second.status) == (1, 2, first, "draft")
    assert without_lineage(first.content) == content()
    assert lineages(second)["inv"] == lineages(first)["A1"]
    assert [change.kind for change in version_rows(scheme)[0].changes] == ["renamed"]


def test_a_restored_item_keeps_its_lineage(bob: User) -> None:
    scheme = make_scheme(bob)
    first = activate(scheme, bob)
    save(scheme, content(("deduction D1, 1 point: A slip.", "")), bob)
    assert lineages(save(scheme, content(("A slip.", "A small slip.")), bob)) == lineages(first)


def test_activating_a_version_retires_the_previous_one(bob: User) -> None:
    scheme = make_scheme(bob)
    first = activate(scheme, bob)
    save(scheme, content(("at most 5", "at most 4")), bob)
    assert version_current(scheme) == first
    second = activate(scheme, bob)
    first.refresh_from_db()
    assert (first.status, first.retired_by, second.status, second.activated_by) == ("retired", bob, "active", bob)
    assert version_current(scheme) == second


def test_a_scheme_with_errors_cannot_be_activated(bob: User) -> None:
    scheme = make_scheme(bob)
    save(scheme, content(("4 points", "3 points"), ("7 points", "6 points")), bob)
    with pytest.raises(services.SchemeNotUsable, match="No chain reaches 7"):
        activate(scheme, bob)
    assert scheme.versions.get().status == "draft"


def test_a_declared_change_of_wording_keeps_the_meaning(bob: User) -> None:
    scheme = make_scheme(bob)
    first = activate(scheme, bob)
    reworded = content(("Shows that it ends.", "Proves termination."))
    assert save(scheme, reworded, bob).meaning_hash != first.meaning_hash
    second = save(scheme, reworded, bob, is_wording_only=True, reason="clearer")
    assert (second.number, second.meaning_hash, second.reason) == (2, first.meaning_hash, "clearer")
    assert second.content_hash != first.content_hash


@pytest.mark.parametrize("change", [("4 points", "3 points"), (", needs A1", ""), ("deduction D1, 1 point: A slip.", "")])
def test_a_change_of_points_cannot_be_declared_as_wording(bob: User, change: tuple[str, str]) -> None:
    scheme = make_scheme(bob)
    activate(scheme, bob)
    with pytest.raises(services.NotWordingOnly):
        save(scheme, content(change), bob, is_wording_only=True, reason="just words")
    assert scheme.versions.count() == 1


def test_a_first_version_cannot_be_a_change_of_wording(bob: User) -> None:
    scheme = make_scheme(bob)
    with pytest.raises(services.NotWordingOnly):
        save(scheme, content(("A slip.", "A small slip.")), bob, is_wording_only=True, reason="words")


def test_concurrent_changes_do_not_overwrite_each_other(bob: User, alice: User) -> None:
    scheme = make_scheme(bob)
    seen = scheme.row_version
    services.scheme_save(scheme=scheme, content=content(("3 points", "2 points")), by=bob, based_on=seen)
    for write in (
        lambda: services.scheme_save(scheme=scheme, content=content(), by=alice, based_on=seen),
        lambda: services.scheme_activate(scheme=scheme, by=alice, based_on=seen),
        lambda: services.draft_discard(scheme=scheme, based_on=seen),
    ):
        with pytest.raises(services.SchemeChanged):
            write()
    assert str(scheme.versions.get().content.items[0].points) == "2"


def test_only_the_active_version_is_used_and_its_first_use_is_recorded(bob: User) -> None:
    scheme = make_scheme(bob)
    version = scheme.versions.get()
    with pytest.raises(services.VersionNotOpen):
        services.version_use(version=version)
    version = activate(scheme, bob)
    services.version_use(version=version)
    version.refresh_from_db()
    first = version.used_at
    services.version_use(version=version)
    version.refresh_from_db()
    assert first is not None
    assert version.used_at == first


def test_a_retired_version_cannot_be_used(bob: User) -> None:
    scheme = make_scheme(bob)
    activate(scheme, bob)
    scheme.refresh_from_db()
    version = services.scheme_retire(scheme=scheme, by=bob, based_on=scheme.row_version)
    with pytest.raises(services.VersionNotOpen):
        services.version_use(version=version)
    scheme.refresh_from_db()
    with pytest.raises(services.VersionNotOpen):
        services.scheme_retire(scheme=scheme, by=bob, based_on=scheme.row_version)


def test_discarding_a_draft_keeps_the_active_version(bob: User) -> None:
    scheme = make_scheme(bob)
    activate(scheme, bob)
    save(scheme, content(("at most 5", "at most 4")), bob)
    scheme.refresh_from_db()
    services.draft_discard(scheme=scheme, based_on=scheme.row_version)
    assert [version.status for version in scheme.versions.all()] == ["active"]
    scheme.refresh_from_db()
    with pytest.raises(services.VersionNotOpen):
        services.draft_discard(scheme=scheme, based_on=scheme.row_version)


def test_discarding_the_only_draft_deletes_the_scheme(bob: User) -> None:
    scheme = make_scheme(bob)
    services.draft_discard(scheme=scheme, based_on=scheme.row_version)
    assert not MarkingScheme.objects.exists()


def test_the_database_allows_one_active_version_and_no_used_draft(bob: User) -> None:
    scheme = make_scheme(bob)
    activate(scheme, bob)
    draft = save(scheme, content(("at most 5", "at most 4")), bob)
    with pytest.raises(IntegrityError), transaction.atomic():
        SchemeVersion.objects.filter(pk=draft.pk).update(status="active")
    with pytest.raises(IntegrityError), transaction.atomic():
        SchemeVersion.objects.filter(pk=draft.pk).update(used_at=draft.created_at)


@pytest.mark.parametrize("field", ["body", "content_hash", "meaning_hash", "number", "parent_id"])
def test_the_database_rejects_changes_of_an_active_version(bob: User, field: str) -> None:
    version = activate(make_scheme(bob), bob)
    other = make_scheme(bob, problem=version.scheme.problem).versions.get()
    values = {"body": {}, "content_hash": "0" * 64, "meaning_hash": "0" * 64, "number": 9, "parent_id": other.pk}
    with pytest.raises(IntegrityError, match="never changes"), transaction.atomic():
        SchemeVersion.objects.filter(pk=version.pk).update(**{field: values[field]})
    with pytest.raises(IntegrityError, match="never changes"), transaction.atomic():
        SchemeItem.objects.filter(version=version).update(points=1)
    with pytest.raises(IntegrityError, match="never changes"), transaction.atomic():
        SchemeVersion.objects.filter(pk=version.pk).update(status="draft")


def test_deleting_a_problem_deletes_all_versions_of_its_schemes(bob: User) -> None:
    scheme = make_scheme(bob)
    activate(scheme, bob)
    save(scheme, content(("at most 5", "at most 4")), bob)
    scheme.problem.delete()
    assert not SchemeVersion.objects.exists()
