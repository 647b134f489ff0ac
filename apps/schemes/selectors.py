"""Queries for marking schemes and their versions."""

from dataclasses import dataclass

from django.db.models import Prefetch, QuerySet

from apps.problems.models import Problem
from apps.reasoning.marking.schemes.lineage import Change, changes
from apps.schemes.models import MarkingScheme, SchemeVersion, VersionStatus


@dataclass(frozen=True)
class VersionRow:
    """A version with its changes from its parent; `is_same_meaning`: earlier marks stay comparable."""

    version: SchemeVersion
    changes: tuple[Change, ...]
    is_same_meaning: bool


def scheme_list(problem: Problem) -> QuerySet[MarkingScheme]:
    """The schemes of a problem with their versions, oldest first."""
    versions = SchemeVersion.objects.order_by("number").defer("body")
    return problem.marking_schemes.prefetch_related(Prefetch("versions", versions)).select_related("created_by")


def version_current(scheme: MarkingScheme) -> SchemeVersion:
    """The active version, else the newest."""
    versions = list(scheme.versions.all())
    return next((one for one in versions if one.status == VersionStatus.ACTIVE), versions[-1])


def version_newest(scheme: MarkingScheme) -> SchemeVersion:
    """The newest version, which the editor opens."""
    return scheme.versions.order_by("-number")[0]


def draft_number(scheme: MarkingScheme) -> int | None:
    """The number of the draft, or None."""
    return scheme.versions.filter(status=VersionStatus.DRAFT).values_list("number", flat=True).first()


def version_rows(scheme: MarkingScheme) -> list[VersionRow]:
    """All versions with their changes, newest first."""
    versions = list(scheme.versions.select_related("created_by", "activated_by").order_by("number"))
    by_key = {version.pk: version for version in versions}
    rows = []
    for version in versions:
        parent = by_key.get(version.parent_id) if version.parent_id else None
        changed = changes(parent.content, version.content) if parent else ()
        rows.append(VersionRow(version, changed, parent is not None and parent.meaning_hash == version.meaning_hash))
    return rows[::-1]
