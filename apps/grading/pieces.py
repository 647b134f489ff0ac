"""Keeping what graders prepared, and finding it for the next script of the problem."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from apps.grading.models import PreparedPiece
from apps.reasoning.domain.grading_events import GradingPrepared
from apps.reasoning.scaffolds.spec import RoleSpec, RunSpec
from apps.runs.journal_batch import NumberedEvent
from apps.runs.models import Run

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


def follow(run: Run, events: Sequence[NumberedEvent]) -> None:
    """Keep what a grading with a page prepared, in the transaction that records it."""
    made = [event for _, _, _, event in events if isinstance(event, GradingPrepared) and not event.is_cached]
    if made:
        spec = RunSpec.model_validate(run.spec)
        for event in made:
            piece_keep(spec.problem.statement, event, spec.roles)


def _maker(role: RoleSpec) -> tuple[str, str]:
    return role.alias, role.revision
