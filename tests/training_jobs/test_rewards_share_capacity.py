"""Rewards of jobs and gradings of experiments share one capacity, and a reward's deadline starts with its grading."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone
from pytest_django import Settings

from apps.experiments.advancing import conduct_once
from apps.experiments.models import Experiment
from apps.learning.models import RewardAsked, RewardState
from apps.learning.rollouts.rewards import reward_counts
from apps.learning.rollouts.rollouts import Rollouts
from apps.runs.models import REWARD, Run, RunCommand
from tests.cast import person
from tests.experiments.driving import make_experiment, make_set
from tests.training_jobs.playing import Stage
from tests.training_jobs.rewarding import (
    a_job,
    end_first,
    grade,
    live_gradings,
    write,
)
from tests.training_jobs.rewarding import (
    marker as marker,
)

pytestmark = pytest.mark.django_db(transaction=True)


def test_late_gradings_are_cancelled_and_keep_their_place_until_they_end(
    stage: Stage, playing: list[Rollouts], settings: Settings
) -> None:
    settings.GRADING_AT_ONCE = 2
    job = a_job(4)
    playing.append(one := Rollouts(job))
    one.poll()
    write(stage, "A", "B", "C", "D")
    one.poll()
    one.poll()
    assert live_gradings() == 2
    RewardAsked.objects.filter(reward__state=RewardState.RUNNING).update(until=timezone.now() - timedelta(seconds=1))
    for _ in range(3):
        one.poll()
    assert (live_gradings(), RunCommand.objects.filter(name="cancel").count()) == (2, 2)
    end_first(stage)
    end_first(stage)
    one.poll()
    assert live_gradings() == len(stage.sent) == 2
    assert reward_counts(job).late == 2


def an_experiment() -> Experiment:
    return make_experiment(person("alice"), make_set(9), at_once=9, alias="marker")


def lose(runs: list[int]) -> None:
    Run.objects.filter(pk__in=runs).update(status="failed", status_reason="lost")


def test_gradings_share_the_capacity_of_experiments(stage: Stage, playing: list[Rollouts], settings: Settings) -> None:
    """An experiment that fills the capacity gives half of it to a job that awaits rewards, and none where no job does."""
    settings.GRADING_AT_ONCE = 4
    job = a_job(4)
    playing.append(one := Rollouts(job))
    one.poll()
    an_experiment()
    assert conduct_once() == 4
    cells = [stage.sent.pop() for _ in range(4)]
    write(stage, "A", "B", "C", "D")
    for _ in range(3):
        one.poll()
        assert conduct_once() == 0
    RewardAsked.objects.update(until=F("until") - timedelta(minutes=20))
    one.poll()
    assert (len(stage.sent), live_gradings(), reward_counts(job).late) == (0, 4, 0), "they wait, and are not late"
    lose(cells[:3])
    assert conduct_once() == 1
    assert live_gradings() == 2
    one.poll()
    assert (live_gradings(), Run.objects.filter(preset=REWARD).count()) == (4, 2)
    assert conduct_once() == 0


def test_experiments_share_the_capacity_of_rewards(stage: Stage, playing: list[Rollouts], settings: Settings) -> None:
    settings.GRADING_AT_ONCE = 4
    playing.append(one := Rollouts(a_job(4)))
    one.poll()
    write(stage, "A", "B", "C", "D")
    one.poll()
    one.poll()
    an_experiment()
    assert (conduct_once(), live_gradings()) == (0, 4)
    grade(stage, 7)
    assert (conduct_once(), live_gradings()) == (1, 4)


def test_a_reward_is_late_by_the_time_of_its_grading(stage: Stage, playing: list[Rollouts], settings: Settings) -> None:
    settings.GRADING_AT_ONCE = 1
    job = a_job(reward_within_s=600)
    playing.append(one := Rollouts(job))
    one.poll()
    write(stage, "A", "B")
    one.poll()
    one.poll()
    run = Run.objects.get(preset=REWARD)
    RewardAsked.objects.update(until=F("until") - timedelta(minutes=20))
    for minutes, late in ((9, 0), (11, 1)):
        Run.objects.filter(pk=run.pk).update(started_at=timezone.now() - timedelta(minutes=minutes))
        one.poll()
        assert reward_counts(job).late == late
    assert (reward_counts(job).waiting, reward_counts(job).not_begun) == (1, 1)
    assert RunCommand.objects.get(name="cancel").run == run
