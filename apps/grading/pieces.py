"""Keeping what graders prepared, and finding it for the next script of the problem."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from apps.grading.models import PreparedPiece
from apps.reasoning.domain.grading_events import GradingPrepared
from apps.reasoning.scaffolds.spec import RoleSpec

Pieces = dict[str, dict[str, Any]]


def digest_of(statement: str) -> str:
    """The name of a problem's text."""
    return sha256(statement.encode()).hexdigest()


def pieces_known(statement: str, roles: Mapping[str, RoleSpec]) -> Pieces:
    """What was made for this text by the models that would make it now."""
    rows = PreparedPiece.objects.filter(problem=digest_of(statement), role__in=roles)
    return {row.piece: row.value for row in rows if (row.alias, row.revision) == _maker(roles[row.role])}


def piece_keep(statement: str, told: GradingPrepared, roles: Mapping[str, RoleSpec]) -> None:
    """Keep a piece that was just made; one that is there already stays."""
    alias, revision = _maker(roles[told.role])
    PreparedPiece.objects.get_or_create(
        piece=told.piece,
        role=told.role,
        alias=alias,
        revision=revision,
        defaults={"problem": digest_of(statement), "value": told.value},
    )


def _maker(role: RoleSpec) -> tuple[str, str]:
    return role.alias, role.revision
