"""Write services for prepared pieces: save a version, approve it, withdraw the approval."""

from collections.abc import Sequence

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.graders.models import PieceVersion
from apps.graders.pieces import digest_of, value_digest
from apps.problems.models import Problem
from apps.reasoning.domain.values import Value
from apps.reasoning.graders.pieces.slots import Slot
from apps.runs.access import run_may_start


class PieceChanged(Exception):
    """Another user saved a newer version in the meantime."""


@transaction.atomic
def piece_save(
    *, problem: Problem, slot: Slot, value: Value, by: User, parent: PieceVersion | None, statement: str
) -> PieceVersion:
    """Save a version, or return the existing one with this content. Raises `PieceChanged` unless `parent` is the last."""
    _may(by)
    Problem.objects.select_for_update().get(pk=problem.pk)
    last = PieceVersion.objects.filter(problem=problem, slot=slot.name, basis=slot.basis).first()
    if (last.pk if last else None) != (parent.pk if parent and parent.basis == slot.basis else None):
        raise PieceChanged("Another user saved a newer version in the meantime. Copy your changes and reload the page.")
    body = value.model_dump(mode="json")
    version, is_new = PieceVersion.objects.get_or_create(
        problem=problem,
        slot=slot.name,
        basis=slot.basis,
        digest=value_digest(body),
        defaults={
            "what": slot.what,
            "value": body,
            "statement": digest_of(statement),
            "made_by": by,
            "parent": parent,
            "shown_at": timezone.now(),
        },
    )
    if not is_new:
        PieceVersion.objects.filter(pk=version.pk).update(shown_at=timezone.now())
    return version


@transaction.atomic
def pieces_approve(*, versions: Sequence[PieceVersion], by: User) -> None:
    """Approve versions for graders, and withdraw other approvals for the same basis."""
    _may(by)
    now = timezone.now()
    for version in versions:
        same = PieceVersion.objects.filter(problem=version.problem, slot=version.slot, basis=version.basis)
        same.exclude(pk=version.pk).filter(approved_at__isnull=False, withdrawn_at=None).update(withdrawn_at=now)
        PieceVersion.objects.filter(pk=version.pk).exclude(approved_at__isnull=False, withdrawn_at=None).update(
            approved_by=by, approved_at=now, withdrawn_at=None
        )


def piece_withdraw(*, version: PieceVersion, by: User) -> None:
    """Withdraw the approval of a version; existing gradings do not change."""
    _may(by)
    PieceVersion.objects.filter(pk=version.pk, approved_at__isnull=False, withdrawn_at=None).update(withdrawn_at=timezone.now())


def _may(user: User) -> None:
    if not run_may_start(user):
        raise PermissionDenied("Only coaches and researchers can prepare references.")
