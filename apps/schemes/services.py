"""Write operations of marking schemes. Each is one transaction and increments the scheme's `row_version`.

Active, retired and used versions are immutable; saving creates the next version. Saving overwrites an unused draft. Only active
versions are used for marks.
"""

import uuid
from collections.abc import Sequence

from django.db import transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.problems.models import Problem
from apps.reasoning.marking.schemes.checks import check
from apps.reasoning.marking.schemes.json_form import json_value
from apps.reasoning.marking.schemes.lineage import content_hash, lineages_carried, meaning_hash, structure_hash, without_lineage
from apps.reasoning.marking.schemes.scheme import Scheme
from apps.reasoning.marking.schemes.structure import SchemeIssue, Severity
from apps.schemes.holding import use_refusal
from apps.schemes.models import REASON_LENGTH, MarkingScheme, SchemeItem, SchemeVersion, VersionStatus


class SchemeChanged(Exception):
    """Another user changed the scheme meanwhile."""


class SchemeNotUsable(Exception):
    """The checks find errors, listed in `issues`."""

    def __init__(self, issues: Sequence[SchemeIssue]) -> None:
        super().__init__("; ".join(issue.message for issue in issues))
        self.issues = tuple(issues)


class NotWordingOnly(Exception):
    """A change declared as wording only changes points, kinds, chains or relations, or has no parent."""


class VersionNotOpen(Exception):
    """The version is in the wrong state; the message gives the reason."""


class SchemeHeld(Exception):
    """The scheme is in use and the user may not change its active version; the message names who may."""


@transaction.atomic
def scheme_create(*, problem: Problem, title: str, content: Scheme, by: User | None, reason: str = "") -> MarkingScheme:
    """Create a scheme with a draft as version 1. `reason` states its origin."""
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
    """Save a changed scheme and return its version.

    1. Raises `SchemeChanged` if the `row_version` is no longer `based_on`.
    2. Items keep the lineage of matching earlier items.
    3. Overwrites the draft, or adds a draft as a child of the newest version.
    4. `is_wording_only` keeps the meaning of the parent. Raises `NotWordingOnly` if more than the wording differs.
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
    """Activate the draft and retire the previous active version.

    Raises `SchemeChanged`, `SchemeHeld` if the scheme is in use and `by` may not change it, `VersionNotOpen` without a draft,
    and `SchemeNotUsable` if the checks find errors. The system (`by` None) may always change a scheme in use.
    """
    scheme = _locked(scheme, based_on)
    _require_change_right(scheme, by)
    draft = scheme.versions.filter(status=VersionStatus.DRAFT).first()
    if draft is None:
        raise VersionNotOpen("There is no draft to activate. Save a draft first.")
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
    """Retire the active version; marks made with it stay.

    Raises `SchemeChanged`, `SchemeHeld` as `scheme_activate`, and `VersionNotOpen`.
    """
    scheme = _locked(scheme, based_on)
    _require_change_right(scheme, by)
    active = scheme.versions.filter(status=VersionStatus.ACTIVE).first()
    if active is None:
        raise VersionNotOpen("There is no active version to retire.")
    active.status, active.retired_by, active.retired_at = VersionStatus.RETIRED, by, timezone.now()
    active.save(update_fields=["status", "retired_by", "retired_at"])
    _touch(scheme)
    return active


@transaction.atomic
def draft_discard(*, scheme: MarkingScheme, based_on: int) -> None:
    """Discard the draft, and the scheme if it has no other version. Raises `SchemeChanged`, `VersionNotOpen`."""
    scheme = _locked(scheme, based_on)
    draft = scheme.versions.filter(status=VersionStatus.DRAFT).first()
    if draft is None:
        raise VersionNotOpen("There is no draft to discard.")
    draft.delete()
    if scheme.versions.exists():
        _touch(scheme)
    else:
        scheme.delete()


def version_use(*, version: SchemeVersion) -> None:
    """Record the use of a version in the transaction of a mark. Raises `VersionNotOpen` unless the version is active."""
    active = SchemeVersion.objects.filter(pk=version.pk, status=VersionStatus.ACTIVE)
    if not active.exists():
        raise VersionNotOpen("The mark was not stored: its scheme version is not active.")
    active.filter(used_at=None).update(used_at=timezone.now())


def _locked(scheme: MarkingScheme, based_on: int) -> MarkingScheme:
    locked = MarkingScheme.objects.select_for_update().filter(pk=scheme.pk).first()
    if locked is None or locked.row_version != based_on:
        raise SchemeChanged(f"Another user changed {scheme.title} meanwhile")
    return locked


def _require_change_right(scheme: MarkingScheme, by: User | None) -> None:
    if by is not None and (refusal := use_refusal(scheme, by)):
        raise SchemeHeld(refusal)


def _touch(scheme: MarkingScheme) -> None:
    """Increment `row_version`. Without row locks, the update detects a concurrent change."""
    scheme.row_version += 1
    before = MarkingScheme.objects.filter(pk=scheme.pk, row_version=scheme.row_version - 1)
    if not before.update(row_version=scheme.row_version, title=scheme.title, updated_at=timezone.now()):
        raise SchemeChanged(f"Another user changed {scheme.title} meanwhile")


def _known_items(newest: SchemeVersion) -> Scheme:
    """Items that a new text may match: those of the newest version and those of its parent that the draft omits."""
    content = newest.content
    if newest.parent is None:
        return content
    lineages = {item.lineage for item in content.items}
    omitted = tuple(item for item in newest.parent.content.items if item.lineage not in lineages)
    return content.model_copy(update={"items": (*content.items, *omitted)})


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
        raise NotWordingOnly("More than the wording changed; marks may depend on it.")
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
