"""Writes to marking schemes. Each is one transaction and counts the scheme's `row_version` up.

A version that is active, retired or used never changes again: saving makes the next one. A draft that nobody has marked with is
written over. Marks are made with active versions only.
"""

import uuid
from collections.abc import Sequence

from django.db import transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.problems.models import Problem
from apps.reasoning.marking.checks import check
from apps.reasoning.marking.json_form import json_value
from apps.reasoning.marking.lineage import content_hash, lineages_carried, meaning_hash, structure_hash, without_lineage
from apps.reasoning.marking.scheme import Scheme
from apps.reasoning.marking.structure import SchemeIssue, Severity
from apps.schemes.holding import use_refusal
from apps.schemes.models import REASON_LENGTH, MarkingScheme, SchemeItem, SchemeVersion, VersionStatus


class SchemeChanged(Exception):
    """Somebody else changed the scheme while this person was editing it."""


class SchemeNotUsable(Exception):
    """The checks find errors; `issues` holds them."""

    def __init__(self, issues: Sequence[SchemeIssue]) -> None:
        super().__init__("; ".join(issue.message for issue in issues))
        self.issues = tuple(issues)


class NotWordingOnly(Exception):
    """A change declared as one of wording touches points, kinds, chains or relations, or has nothing to compare with."""


class VersionNotOpen(Exception):
    """The version is not in the state that this needs; the message says which."""


class SchemeHeld(Exception):
    """The scheme is in use, and this is not the person who may change what is marked with; the message says who is."""


@transaction.atomic
def scheme_create(*, problem: Problem, title: str, content: Scheme, by: User | None, reason: str = "") -> MarkingScheme:
    """A new scheme whose version 1 is a draft. `reason` says where it comes from."""
    scheme = MarkingScheme(problem=problem, title=title, created_by=by)
    scheme.full_clean()
    scheme.save()
    content = lineages_carried(without_lineage(content), None, _fresh_lineage)
    _version_add(scheme, 1, None, content, by, reason=reason[:REASON_LENGTH])
    return scheme


@transaction.atomic
def scheme_save(
    *,
    scheme: MarkingScheme,
    content: Scheme,
    by: User | None,
    based_on: int,
    title: str = "",
    is_wording_only: bool = False,
    reason: str = "",
) -> SchemeVersion:
    """Save a changed scheme; the version that now holds it.

    1. `based_on` is the `row_version` the person began from; raises `SchemeChanged` where it is no longer so.
    2. Items get the lineage of the items they were.
    3. The draft is written over, or where there is none a draft is added, a child of the newest version.
    4. With `is_wording_only` the parent's meaning is kept. Raises `NotWordingOnly` where more than words differ.
    """
    scheme = _locked(scheme, based_on)
    newest = scheme.versions.order_by("-number").select_related("parent").first()
    if newest is None:
        raise SchemeVersion.DoesNotExist(f"scheme {scheme.public_id} has no version")
    if title and title != scheme.title:
        scheme.title = title
        scheme.full_clean()
    content = lineages_carried(content, _known_items(newest), _fresh_lineage)
    is_same = content_hash(content) == newest.content_hash and is_wording_only == newest.is_wording_only
    if newest.status == VersionStatus.DRAFT and not is_same:
        number, parent = newest.number, newest.parent
        newest.delete()
        newest = _version_add(scheme, number, parent, content, by, is_wording_only=is_wording_only, reason=reason)
    elif not is_same:
        newest = _version_add(scheme, newest.number + 1, newest, content, by, is_wording_only=is_wording_only, reason=reason)
    _touch(scheme)
    return newest


@transaction.atomic
def scheme_activate(*, scheme: MarkingScheme, by: User | None, based_on: int) -> SchemeVersion:
    """Make the draft the version to mark with; the active one before it is retired.

    Raises `SchemeChanged`, `SchemeHeld` where it is in use and `by` may not, `VersionNotOpen` where there is no draft,
    `SchemeNotUsable` where the checks find errors. The system itself (`by` None) is never refused for its use.
    """
    scheme = _locked(scheme, based_on)
    _not_held(scheme, by)
    draft = scheme.versions.filter(status=VersionStatus.DRAFT).first()
    if draft is None:
        raise VersionNotOpen("There is no draft to activate.")
    if errors := [issue for issue in check(draft.content) if issue.severity is Severity.ERROR]:
        raise SchemeNotUsable(errors)
    now = timezone.now()
    scheme.versions.filter(status=VersionStatus.ACTIVE).update(status=VersionStatus.RETIRED, retired_by=by, retired_at=now)
    draft.status, draft.activated_by, draft.activated_at = VersionStatus.ACTIVE, by, now
    draft.save(update_fields=["status", "activated_by", "activated_at"])
    _touch(scheme)
    return draft


@transaction.atomic
def scheme_retire(*, scheme: MarkingScheme, by: User | None, based_on: int) -> SchemeVersion:
    """Take the active version out of use; marks made with it stay.

    Raises `SchemeChanged`, `SchemeHeld` as activating does, `VersionNotOpen`.
    """
    scheme = _locked(scheme, based_on)
    _not_held(scheme, by)
    active = scheme.versions.filter(status=VersionStatus.ACTIVE).first()
    if active is None:
        raise VersionNotOpen("No version is active.")
    active.status, active.retired_by, active.retired_at = VersionStatus.RETIRED, by, timezone.now()
    active.save(update_fields=["status", "retired_by", "retired_at"])
    _touch(scheme)
    return active


@transaction.atomic
def draft_discard(*, scheme: MarkingScheme, based_on: int) -> None:
    """Throw the draft away, and the whole scheme where it has no other version. Raises `SchemeChanged`, `VersionNotOpen`."""
    scheme = _locked(scheme, based_on)
    draft = scheme.versions.filter(status=VersionStatus.DRAFT).first()
    if draft is None:
        raise VersionNotOpen("There is no draft.")
    draft.delete()
    if scheme.versions.exists():
        _touch(scheme)
    else:
        scheme.delete()


def version_use(*, version: SchemeVersion) -> None:
    """Say that a mark is made with a version, in the transaction of that mark. Raises `VersionNotOpen` unless it is active."""
    active = SchemeVersion.objects.filter(pk=version.pk, status=VersionStatus.ACTIVE)
    if not active.exists():
        raise VersionNotOpen("Marks are made with the active version.")
    active.filter(used_at=None).update(used_at=timezone.now())


def _locked(scheme: MarkingScheme, based_on: int) -> MarkingScheme:
    locked = MarkingScheme.objects.select_for_update().filter(pk=scheme.pk).first()
    if locked is None or locked.row_version != based_on:
        raise SchemeChanged(f"{scheme.title} was changed by somebody else meanwhile")
    return locked


def _not_held(scheme: MarkingScheme, by: User | None) -> None:
    if by is not None and (refusal := use_refusal(scheme, by)):
        raise SchemeHeld(refusal)


def _touch(scheme: MarkingScheme) -> None:
    """Count the change; of two that began from the same state on a database without row locks, one comes too late."""
    scheme.row_version += 1
    before = MarkingScheme.objects.filter(pk=scheme.pk, row_version=scheme.row_version - 1)
    if not before.update(row_version=scheme.row_version, title=scheme.title, updated_at=timezone.now()):
        raise SchemeChanged(f"{scheme.title} was changed by somebody else meanwhile")


def _known_items(newest: SchemeVersion) -> Scheme:
    """The items that a new text may mean: the newest version's, and those of its parent that a draft had left out."""
    content = newest.content
    if newest.parent is None:
        return content
    lineages = {item.lineage for item in content.items}
    gone = tuple(item for item in newest.parent.content.items if item.lineage not in lineages)
    return content.model_copy(update={"items": (*content.items, *gone)})


def _fresh_lineage() -> str:
    return str(uuid.uuid4())


def _version_add(
    scheme: MarkingScheme,
    number: int,
    parent: SchemeVersion | None,
    content: Scheme,
    by: User | None,
    *,
    is_wording_only: bool = False,
    reason: str = "",
) -> SchemeVersion:
    if is_wording_only and (parent is None or structure_hash(content) != structure_hash(parent.content)):
        raise NotWordingOnly("More than words changed; marks may depend on it.")
    meaning = parent.meaning_hash if is_wording_only and parent else meaning_hash(content)
    version = SchemeVersion(
        scheme=scheme,
        number=number,
        parent=parent,
        body=json_value(content),
        content_hash=content_hash(content),
        meaning_hash=meaning,
        is_wording_only=is_wording_only,
        reason=reason,
        created_by=by,
    )
    version.full_clean(validate_unique=False, validate_constraints=False)
    version.save()
    rows = [
        SchemeItem(
            version=version, lineage=item.lineage, position=position, code=item.code, kind=item.kind.value, points=item.points
        )
        for position, item in enumerate(content.items)
    ]
    SchemeItem.objects.bulk_create(rows)
    return version
