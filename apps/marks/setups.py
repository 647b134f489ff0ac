"""How a problem is marked: its setup, and the cases and tasks of its submissions."""

import secrets
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.marks.audit import audit
from apps.marks.models import AuditEvent, Mark, MarkingCase, MarkingSetup, MarkingTask, MarkState, Reveal, Slot
from apps.schemes.models import MarkingScheme, VersionStatus
from apps.submissions.models import SubmissionVersion
from apps.submissions.row_counts import rows_recount
from apps.submissions.selectors import versions_to_mark

_SEED_BITS = 62


class SetupRefused(Exception):
    """The setup cannot be changed this way; the message gives the reason."""


@dataclass(frozen=True)
class Choices:
    """An organiser's choices for a problem. `scheme` None: points are typed, on a scale of 7.

    `graders`: names of the graders to ask for suggestions; None uses the settings.
    """

    scheme: MarkingScheme | None
    markers: int = 1
    unrevealed_percent: int = 15
    remark_percent: int = 0
    needs_calibration: bool = False
    asks_place: bool = True
    graders: list[str] | None = None


def setup_of(problem: ContestProblem) -> MarkingSetup | None:
    """The setup of a problem; None if there is none."""
    return MarkingSetup.objects.select_related("scheme").filter(problem=problem).first()


def schemes_usable(problem: ContestProblem) -> QuerySet[MarkingScheme]:
    """The schemes of a problem that have an active version."""
    return problem.problem.marking_schemes.filter(versions__status=VersionStatus.ACTIVE)


def schemes_choosable(problem: ContestProblem) -> QuerySet[MarkingScheme]:
    """The usable schemes, and the chosen one even if it is retired."""
    chosen = MarkingSetup.objects.filter(problem=problem).values("scheme")
    return problem.problem.marking_schemes.filter(Q(pk__in=schemes_usable(problem).values("pk")) | Q(pk__in=chosen))


@transaction.atomic
def setup_for(problem: ContestProblem) -> MarkingSetup | None:
    """The setup of a problem, created if exactly one scheme is usable; None if an organiser must choose."""
    found = setup_of(problem)
    schemes = list(schemes_usable(problem)[:2])
    if found is None and len(schemes) == 1:
        values = {"scheme": schemes[0], "seed": secrets.randbits(_SEED_BITS)}
        found, _ = MarkingSetup.objects.get_or_create(problem=problem, defaults=values)
    return found


@transaction.atomic
def setup_save(*, problem: ContestProblem, choices: Choices, by: User) -> MarkingSetup:
    """Save how a problem is marked. Raises `SetupRefused`, also for a different scheme once a mark was sealed."""
    before = setup_of(problem)
    is_begun = Mark.objects.filter(task__case__problem=problem, sealed_at__isnull=False).exists()
    if choices.scheme is not None and not schemes_choosable(problem).filter(pk=choices.scheme.pk).exists():
        raise SetupRefused("This marking scheme has no active version. Choose another one.")
    if before is not None and is_begun and choices.scheme != before.scheme:
        raise SetupRefused("Marks were sealed with this scheme, so it cannot be replaced. Activate a changed version of it.")
    if choices.markers not in (1, 2):
        raise SetupRefused("Choose one or two markers per script.")
    seed = before.seed if before else secrets.randbits(_SEED_BITS)
    setup, _ = MarkingSetup.objects.update_or_create(problem=problem, defaults=vars(choices) | {"seed": seed})
    if before is not None and before.scheme != choices.scheme:
        Mark.objects.filter(task__case__problem=problem, state=MarkState.DRAFT).update(scheme_version=None)
    _slots_match(setup)
    scheme = str(choices.scheme.public_id) if choices.scheme else ""
    audit("setup", actor=by, contest=problem.contest, problem=str(problem.public_id), scheme=scheme, markers=choices.markers)
    return setup


@transaction.atomic
def cases_prepare(problem: ContestProblem) -> MarkingSetup | None:
    """Create missing cases and tasks, and remove those of texts that were replaced before a mark was sealed.

    Returns the setup, or None (creating nothing) until an organiser has chosen one.
    """
    setup = setup_for(problem)
    if setup is None:
        return None
    versions = versions_to_mark(problem.contest).filter(submission__problem=problem)
    fresh = list(versions.exclude(pk__in=MarkingCase.objects.filter(problem=problem).values("version")).only("pk"))
    if fresh:
        rows = [MarkingCase(problem=problem, version=version) for version in fresh]
        MarkingCase.objects.bulk_create(rows, ignore_conflicts=True)
        _slots_match(setup)
        rows_recount(len(fresh), MarkingCase, MarkingTask)
    _replaced_drop(problem, versions)
    return setup


def slots_of(setup: MarkingSetup) -> tuple[Slot, ...]:
    """The slots that every case has."""
    return (Slot.FIRST, Slot.SECOND) if setup.markers > 1 else (Slot.FIRST,)


def _slots_match(setup: MarkingSetup) -> None:
    """Add missing tasks for the number of markers; remove unclaimed second tasks if one marker is enough."""
    for slot in slots_of(setup):
        taken = MarkingTask.objects.filter(case=OuterRef("pk"), slot=slot)
        cases = MarkingCase.objects.filter(~Exists(taken), problem=setup.problem, is_calibration=False, state="open")
        rows = [MarkingTask(case=case, slot=slot) for case in cases]
        MarkingTask.objects.bulk_create(rows, ignore_conflicts=True)
    if setup.markers == 1:
        spare = MarkingTask.objects.filter(case__problem=setup.problem, slot=Slot.SECOND, assignee=None, done_at=None)
        spare.filter(mark=None).delete()


def _replaced_drop(problem: ContestProblem, versions: QuerySet[SubmissionVersion]) -> None:
    """Remove open, unsealed cases of replaced texts. Cases with a record stay, without tasks."""
    sealed = Mark.objects.filter(task__case=OuterRef("pk"), sealed_at__isnull=False)
    cases = MarkingCase.objects.filter(~Exists(sealed), problem=problem, state="open", is_calibration=False)
    old = list(cases.exclude(version__in=versions.values("pk")).values_list("pk", flat=True))
    if not old:
        return
    recorded = set(AuditEvent.objects.filter(case__in=old).values_list("case", flat=True))
    recorded |= set(Reveal.objects.filter(case__in=old).values_list("case", flat=True))
    Mark.objects.filter(task__case__in=old, state=MarkState.DRAFT).delete()
    MarkingTask.objects.filter(case__in=old).delete()
    MarkingCase.objects.filter(pk__in=set(old) - recorded).delete()
