"""Rewards of a job's own runs by a grader: cached, late, never, failed. A missing reward is left out and is never 0."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from apps.learning.models import JobState, Reward, RewardAsked, Rollout, TrainingJob
from apps.learning.rollouts.producer import left_out
from apps.learning.rollouts.rewards import FAILED, LATE, reward_counts
from apps.learning.rollouts.rollouts import Rollouts
from apps.runs.models import REWARD, Run, RunCommand
from tests.cast import person
from tests.datasets.streams import shards, stream_state
from tests.training_jobs.playing import Stage
from tests.training_jobs.rewarding import (
    a_job,
    end_first,
    grade,
    rewards_of,
    until_end,
    write,
    write_last,
)
from tests.training_jobs.rewarding import (
    marker as marker,
)

pytestmark = pytest.mark.django_db(transaction=True)


def test_solutions_are_graded_in_runs_of_their_own_and_fed_when_their_points_come(
    stage: Stage, playing: list[Rollouts]
) -> None:
    job = a_job()
    playing.append(one := Rollouts(job))
    one.poll()
    write(stage, "A", "B")
    one.poll()
    assert not shards(job.folder)
    one.poll()
    assert len(stage.sent) == 2
    grade(stage, 7)
    grade(stage, 0)
    until_end(one, job)
    assert rewards_of(job) == [0.0, 1.0]
    assert (reward_counts(job).asked, reward_counts(job).late, reward_counts(job).known) == (2, 0, 0)
    assert {run.title for run in Run.objects.filter(preset=REWARD)} == {f"{job.title}: reward, Even number"}


def test_the_same_text_is_graded_once_also_for_another_job(stage: Stage, playing: list[Rollouts]) -> None:
    first, second = a_job(3), a_job(3)
    for number, job in enumerate((first, second)):
        playing.append(one := Rollouts(job))
        one.poll()
        write(stage, "A", "A", "B")
        one.poll()
        one.poll()
        assert len(stage.sent) == (2 if number == 0 else 0)
        for points in (7, 0)[: len(stage.sent)]:
            grade(stage, points)
        until_end(one, job)
        assert rewards_of(job) == [0.0, 1.0, 1.0]
    assert Reward.objects.count() == 2
    assert [reward_counts(job).known for job in (first, second)] == [1, 3]


@pytest.mark.parametrize("asked_again", [True, False])
def test_a_late_reward_leaves_its_answer_out(stage: Stage, playing: list[Rollouts], asked_again: bool) -> None:
    job = a_job(3, reward_within_s=600)
    playing.append(one := Rollouts(job))
    one.poll()
    write(stage, "A", "B", "C")
    one.poll()
    one.poll()
    grade(stage, 7)
    grade(stage, 0)
    one.poll()
    assert len(one._feed._held) == 1 if one._feed else False, "the third answer is waited for"
    RewardAsked.objects.filter(is_settled=False).update(until=timezone.now() - timedelta(seconds=1))
    until_end(one, job)
    assert rewards_of(job) == [0.0, 1.0], "the third answer is left out, and not worth 0"
    assert stream_state(job.folder)["unfinished"] == 0
    assert reward_counts(job).late == 1
    assert [row["reason"] for row in left_out(job.folder)] == [LATE]
    if asked_again:
        end_first(stage)
        again = a_job(3)
        playing.append(next_one := Rollouts(again))
        next_one.poll()
        write(stage, "A", "B", "C")
        next_one.poll()
        next_one.poll()
        grade(stage, 3)
        until_end(next_one, again)
        assert rewards_of(again) == [0.0, pytest.approx(3 / 7), 1.0], "it is graded again"


def test_a_failed_grading_leaves_its_answer_out_and_is_made_again_when_asked_again(
    stage: Stage, playing: list[Rollouts]
) -> None:
    job = a_job(3)
    playing.append(one := Rollouts(job))
    one.poll()
    write(stage, "A", "B", "C")
    one.poll()
    one.poll()
    lost = Run.objects.get(pk=stage.sent.popleft())
    Run.objects.filter(pk=lost.pk).update(status="failed", status_reason="the model is away")
    grade(stage, 7)
    grade(stage, 0)
    until_end(one, job)
    assert rewards_of(job) == [0.0, 1.0]
    assert [(row["reason"], row["count"]) for row in left_out(job.folder)] == [(FAILED, 1)]
    assert "the model is away" in left_out(job.folder)[0]["examples"][0]
    again = a_job(3)
    playing.append(one := Rollouts(again))
    one.poll()
    write(stage, "A", "B", "C")
    one.poll()
    one.poll()
    grade(stage, 3)
    until_end(one, again)
    assert rewards_of(again) == [0.0, pytest.approx(3 / 7), 1.0]


def test_a_driver_that_dies_while_rewards_are_awaited_leaves_nothing_undone(stage: Stage, playing: list[Rollouts]) -> None:
    job = a_job()
    Rollouts(job).poll()
    write(stage, "A", "B")
    first = Rollouts(job)
    first.poll()
    first.poll()
    playing.append(second := Rollouts(job))
    second.poll()
    assert RewardAsked.objects.count() == Reward.objects.count() == len(stage.sent) == 2
    grade(stage, 7)
    grade(stage, 0)
    until_end(second, job)
    assert rewards_of(job) == [0.0, 1.0]
    assert Rollout.objects.count() == 2


@pytest.mark.parametrize("by", ["another job", "the same job when it is resumed"])
def test_a_grading_that_the_end_of_a_job_cancelled_is_made_again(stage: Stage, playing: list[Rollouts], by: str) -> None:
    job = a_job()
    one = Rollouts(job)
    one.poll()
    write(stage, "A", "B")
    one.poll()
    one.poll()
    one.end()
    assert RunCommand.objects.filter(name="cancel", run__preset=REWARD).count() == 2
    again = job
    if by == "another job":
        TrainingJob.objects.update(state=JobState.STOPPED)
        again = a_job()
    playing.append(next_one := Rollouts(again))
    next_one.poll()
    end_first(stage)
    end_first(stage)
    if again != job:
        write(stage, "A", "B")
        next_one.poll()
        next_one.poll()
    grade(stage, 7)
    grade(stage, 0)
    until_end(next_one, again)
    assert rewards_of(again) == [0.0, 1.0]


def test_the_end_of_a_job_cancels_no_grading_that_another_job_awaits(stage: Stage, playing: list[Rollouts]) -> None:
    jobs = [a_job(), a_job()]
    for job in jobs:
        playing.append(one := Rollouts(job))
        one.poll()
        write_last(stage, "A", "B")
        one.poll()
        one.poll()
    playing[0].end()
    assert not RunCommand.objects.exists()
    TrainingJob.objects.filter(pk=jobs[0].pk).update(state=JobState.STOPPED)
    playing[1].end()
    assert RunCommand.objects.count() == 2, "a job that has ended awaits nothing"


def test_a_grader_that_fails_again_and_again_stops_the_job(stage: Stage, playing: list[Rollouts]) -> None:
    playing.append(one := Rollouts(a_job(8)))
    one.poll()
    write(stage, *"ABCDEFGH")
    one.poll()
    one.poll()
    Run.objects.filter(pk__in=[stage.sent.popleft() for _ in range(4)]).update(status="failed", status_reason="no such model")
    one.poll()
    assert one.trouble == ""
    Run.objects.filter(pk=stage.sent.popleft()).update(status="failed", status_reason="no such model")
    one.poll()
    assert one.trouble == ("5 consecutive gradings of rewards failed. Reason of the last failure: no such model")


def test_the_page_counts_rewards(stage: Stage, playing: list[Rollouts], client: Client) -> None:
    job = a_job()
    playing.append(one := Rollouts(job))
    one.poll()
    write(stage, "A", "A")
    one.poll()
    client.force_login(person("alice"))
    page = client.get(f"/learning/jobs/{job.public_id}/").content.decode()
    assert "2 asked, 2 under way (2 of them waiting for room among all gradings), 1 known from an equal text" in page
    assert "0 late (15 min for a grading, 6 h until it begins)" in page
    assert "with Marker: 2 asked" in page
    assert ", played by Player: 1 problem" in page
