"""Keeping what graders prepared, and finding it for the next script of the problem. What a person approved comes first."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from django.utils import timezone

from apps.grading.models import PreparedPiece
from apps.grading.preparing_models import PieceVersion
from apps.reasoning.domain.grading_events import GradingPrepared
from apps.reasoning.graders.slots import approved_name
from apps.reasoning.scaffolds.spec import RoleSpec, RunSpec
from apps.runs.journal_batch import NumberedEvent
from apps.runs.models import Run

Pieces = dict[str, dict[str, Any]]


def digest_of(statement: str) -> str:
    """The name of a problem's text."""
    return sha256(statement.encode()).hexdigest()


def value_digest(value: Mapping[str, Any]) -> str:
    """The name of a piece's content."""
    return sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def pieces_known(statement: str, roles: Mapping[str, RoleSpec]) -> Pieces:
    """What was made for this text by the models that would make it now, and what a person approved, whoever made it."""
    rows = PreparedPiece.objects.filter(problem=digest_of(statement), role__in=roles)
    made = {row.piece: row.value for row in rows if (row.alias, row.revision) == _maker(roles[row.role])}
    return made | pieces_approved(statement)


def pieces_approved(statement: str) -> Pieces:
    """What a person approved for this text; of several for one basis the latest."""
    rows = PieceVersion.objects.filter(statement=digest_of(statement), approved_at__isnull=False, withdrawn_at=None)
    return {approved_name(row.what, row.basis): row.value for row in rows.order_by("approved_at", "pk")}


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
    """Keep what a run on a problem prepared, in the transaction that records it: for graders, and as versions for people."""
    told = [event for _, _, _, event in events if isinstance(event, GradingPrepared)]
    if not told:
        return
    spec = RunSpec.model_validate(run.spec)
    for event in told:
        if not event.is_cached:
            piece_keep(spec.problem.statement, event, spec.roles)
        if event.slot and not event.is_approved:
            _version_keep(run, spec.problem.statement, event)


def _version_keep(run: Run, statement: str, told: GradingPrepared) -> None:
    PieceVersion.objects.get_or_create(
        problem_id=run.problem_version.problem_id,
        slot=told.slot,
        basis=told.basis,
        digest=value_digest(told.value),
        defaults={
            "what": told.what,
            "value": told.value,
            "statement": digest_of(statement),
            "run": run,
            "shown_at": timezone.now(),
        },
    )


def _maker(role: RoleSpec) -> tuple[str, str]:
    return role.alias, role.revision
