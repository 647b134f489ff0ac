"""Store pieces that graders prepared, and find them for further scripts of the problem; approved pieces take precedence."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from django.utils import timezone

from apps.graders.models import PieceVersion, PreparedPiece
from apps.reasoning.domain.grading_events import GradingPrepared
from apps.reasoning.graders.pieces.slots import approved_name
from apps.reasoning.scaffolds.spec import RoleSpec, RunSpec
from apps.runs.journal.batch import NumberedEvent
from apps.runs.models import Run

Pieces = dict[str, dict[str, Any]]


def digest_of(statement: str) -> str:
    """The digest of a problem's statement."""
    return sha256(statement.encode()).hexdigest()


def value_digest(value: Mapping[str, Any]) -> str:
    """The digest of a piece's content."""
    return sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def pieces_known(statement: str, roles: Mapping[str, RoleSpec]) -> Pieces:
    """The pieces for this statement made by the given models, and those approved by a person, by any author."""
    rows = PreparedPiece.objects.filter(problem=digest_of(statement), role__in=roles)
    made = {row.piece: row.value for row in rows if (row.alias, row.revision) == _maker(roles[row.role])}
    return made | pieces_approved(statement)


def pieces_approved(statement: str) -> Pieces:
    """The approved pieces for this statement; the latest one per basis."""
    rows = PieceVersion.objects.filter(statement=digest_of(statement), approved_at__isnull=False, withdrawn_at=None)
    return {approved_name(row.what, row.basis): row.value for row in rows.order_by("approved_at", "pk")}


def piece_keep(statement: str, prepared: GradingPrepared, roles: Mapping[str, RoleSpec]) -> None:
    """Store a new piece; an existing one is not changed."""
    alias, revision = _maker(roles[prepared.role])
    PreparedPiece.objects.get_or_create(
        piece=prepared.piece,
        role=prepared.role,
        alias=alias,
        revision=revision,
        defaults={"problem": digest_of(statement), "value": prepared.value},
    )


def follow(run: Run, events: Sequence[NumberedEvent]) -> None:
    """Store the pieces of a run on a problem in the transaction that records them, for graders and as versions."""
    prepared = [event for _, _, _, event in events if isinstance(event, GradingPrepared)]
    if not prepared:
        return
    spec = RunSpec.model_validate(run.spec)
    for event in prepared:
        if not event.is_cached:
            piece_keep(spec.problem.statement, event, spec.roles)
        if event.slot and not event.is_approved:
            _version_keep(run, spec.problem.statement, event)


def _version_keep(run: Run, statement: str, prepared: GradingPrepared) -> None:
    PieceVersion.objects.get_or_create(
        problem_id=run.problem_version.problem_id,
        slot=prepared.slot,
        basis=prepared.basis,
        digest=value_digest(prepared.value),
        defaults={
            "what": prepared.what,
            "value": prepared.value,
            "statement": digest_of(statement),
            "run": run,
            "shown_at": timezone.now(),
        },
    )


def _maker(role: RoleSpec) -> tuple[str, str]:
    return role.alias, role.revision
