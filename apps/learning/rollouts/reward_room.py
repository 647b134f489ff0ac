"""Room for rewards among all gradings: experiments and the rewards of jobs share one capacity (`processes.capacity`)."""

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet

from apps.learning.models import RewardAsked, TrainingJob, under_way
from apps.processes.capacity import GRADINGS
from apps.runs.models import LIVE, REWARD, Run


def rewards_under_way() -> int:
    """Gradings for jobs that have not ended, also late and cancelled ones: they take up capacity until they end."""
    return Run.objects.filter(preset=REWARD, status__in=LIVE).count()


def awaited() -> QuerySet[RewardAsked]:
    """Rewards that jobs under way wait for. A job that has ended awaits nothing."""
    return RewardAsked.objects.filter(is_settled=False, job__in=TrainingJob.objects.filter(under_way()))


def jobs_that_want_rewards() -> int:
    """Jobs that await rewards now; others leave their part of the capacity to the work that is there."""
    return TrainingJob.objects.filter(under_way(), Exists(awaited().filter(job=OuterRef("pk")))).count()


def room_for_rewards(own: int) -> int:
    """How many gradings a job may start that has `own` under way."""
    limit = settings.GRADING_AT_ONCE
    return GRADINGS.room(at_once=limit, limit=limit, parties=GRADINGS.parties(), own=own)
