"""Who may see which experiment, and which of its results.

| | coach, researcher | coach of the contest | captain of the problem, organiser | others |
|---|---|---|---|---|
| experiment on an imported set | all of it | | | no |
| experiment on a contest: existence, progress | no | yes | yes | no |
| result of a script of a contest | no | no | once settled, except where an own mark is still possible | no |

An own mark is still possible on every script of a problem on which the person has a changeable mark, and on a calibration
script that the person has not marked. This includes the person who started the experiment, as a grader's result seen first
would make the mark worthless. Disclosures are recorded (`ledger`), since a settled script may be marked again. Runs are hidden
like their results (`runs_hidden`). A run that a cell has replaced by another attempt is hidden from everyone.
"""

import uuid

from django.db.models import Q, QuerySet
from django.http import Http404
from django.utils import timezone

from apps.accounts.models import Role, User
from apps.contests.access import READABLE, coach_of
from apps.contests.models import Contest, ContestState
from apps.experiments.models import Experiment, ExperimentCell, ExperimentKind
from apps.marks.models import SETTLED, MarkingCase, MarkingTask, MarkState, Slot
from apps.marks.sealing.calibration import calibration_ahead
from apps.marks.sheets import GRACE
from apps.problems.access import solved_visible_to
from apps.runs.models import BATCHED, Run

NO_EXPERIMENT = "No such experiment."
NO_SUCH_PAGE = "An experiment on grading has no such page."


def experiments_visible_to(user: User) -> QuerySet[Experiment]:
    """The experiments that a user may open."""
    if not user.is_active or not user.may_see_runs:
        return Experiment.objects.none()
    return Experiment.objects.filter(Q(contest=None) | Q(contest__coaches__person=user))


def experiment_get_for(user: User, public_id: uuid.UUID) -> Experiment:
    """The experiment, for a user who may open it. Raises `Http404`."""
    rows = experiments_visible_to(user).select_related("graded_set", "contest", "owner", "problem_set__problem_set")
    found = rows.filter(public_id=public_id).first()
    if found is None:
        raise Http404(NO_EXPERIMENT)
    return found


def solving_get_for(user: User, public_id: uuid.UUID) -> Experiment:
    """The experiment on solving, for a user who may open it. Raises `Http404`, also for one on grading."""
    experiment = experiment_get_for(user, public_id)
    if experiment.kind != ExperimentKind.SOLVING:
        raise Http404(NO_SUCH_PAGE)
    return experiment


def experiment_may_steer(user: User, experiment: Experiment) -> bool:
    """Whether a user may steer it. On a contest: its owner and organisers. On a set: its owner, researchers and staff."""
    if experiment.contest is not None:
        coach = coach_of(user, experiment.contest)
        return coach is not None and (coach.is_organiser or experiment.owner_id == user.pk)
    return user.is_active and (user.is_staff or experiment.owner_id == user.pk or user.role == Role.RESEARCHER)


def contests_for_experiments(user: User) -> QuerySet[Contest]:
    """The contests whose scripts a user may have graded: those they organise, once submissions are closed."""
    if not user.may_see_runs:
        return Contest.objects.none()
    return Contest.objects.filter(state__in=READABLE, coaches__person=user, coaches__is_organiser=True)


def cells_shown(user: User, experiment: Experiment) -> QuerySet[ExperimentCell]:
    """The cells whose results a user may see."""
    return experiment.cells.all() if experiment.contest_id is None else _shown(user).filter(experiment=experiment)


def items_hidden(user: User, experiment: Experiment) -> set[int]:
    """Primary keys of the set's items in an experiment on solving whose solutions are held back from `user`."""
    problems = dict(experiment.solving_cells.order_by().values_list("item", "item__problem__problem").distinct())
    shown = set(solved_visible_to(user).filter(pk__in=set(problems.values())).values_list("pk", flat=True))
    return {item for item, problem in problems.items() if problem not in shown}


def runs_hidden(user: User) -> QuerySet[Run]:
    """Runs of cells whose results a user may not see, and runs without a cell, whose script is unknown."""
    of_cells = Q(cell__version__isnull=False) & ~Q(cell__in=_shown(user))
    return Run.objects.filter(of_cells | Q(preset=BATCHED, cell=None, solving_cells=None, cell_score=None))


def cases_shown(user: User) -> QuerySet[MarkingCase]:
    """The settled scripts of contests whose grader results a user may see."""
    since = timezone.now() - GRACE
    own = MarkingTask.objects.filter(assignee=user)
    may_change = Q(done_at=None) | Q(mark__state=MarkState.SEALED, mark__sealed_at__gte=since)
    marking = own.filter(may_change, case__problem__contest__state=ContestState.MARKING).exclude(slot=Slot.APPEAL)
    leads = Q(problem__contest__coaches__is_organiser=True) | Q(problem__captain=user)
    return (
        MarkingCase.objects.filter(leads, state__in=SETTLED, problem__contest__coaches__person=user)
        .exclude(problem__in=marking.values("case__problem"))
        .exclude(pk__in=own.filter(done_at=None).values("case"))
        .exclude(pk__in=calibration_ahead(user).values("pk"))
    )


def _shown(user: User) -> QuerySet[ExperimentCell]:
    return ExperimentCell.objects.filter(version__case__in=cases_shown(user).values("pk"))
