"""Rewards of a job's own runs by a grader: cached, late, never, failed. A missing reward is left out and is never 0."""

from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from apps.learning.models import Reward, RewardAsked, Rollout, TrainingJob
from apps.learning.rollouts.producer import left_out
from apps.learning.rollouts.rewards import FAILED, LATE, reward_counts
from apps.learning.rollouts.rollouts import Rollouts
from apps.reasoning.inference.scripted import ScriptedBackend
from apps.runs.models import REWARD, Run
from tests.cast import person
from tests.datasets.factory import version_of
from tests.datasets.streams import shards, stream_state
from tests.reasoning.play import proof
from tests.runs.driving import drive, with_model
from tests.training_jobs.playing import MODELS, Stage, a_playing_job, poll_until

pytestmark = pytest.mark.django_db(transaction=True)
MARKER = """
[marker]
backend = "openai_http"
title = "Marker"
model = "none"
base_url = "http://127.0.0.1:9/v1"
"""


@pytest.fixture(autouse=True)
def _marker(stage: Stage, settings: Settings) -> None:
    settings.MODELS_FILE.write_text(MODELS + MARKER)


def a_job(runs: int = 2, **plan: Any) -> TrainingJob:
    version_of()
    graded = {"judge": "grader", "reward_workflow": "single_turn", "reward_alias": "marker"}
    more = {"scaffold": "single_call", "runs_a_group": runs, "at_once": runs, **graded}
    return a_playing_job("turn_grpo", **(more | plan))


def written(text: str, _: object) -> str:
    return proof(text, "So it holds.")


def write(stage: Stage, *texts: str) -> None:
    """Drive the oldest sent runs: each hands in one text."""
    for text in texts:
        stage.drive(answer=partial(written, text))


def grade(stage: Stage, points: int | None) -> None:
    """Drive the oldest grading; None: its model gives no answer."""
    run = Run.objects.get(pk=stage.sent.popleft())
    assert run.preset == REWARD
    answer = f"<grading><feedback>Fine.</feedback><points>{points}</points></grading>"
    faults = {} if points is not None else {"fail": True}
    drive(run, with_model(ScriptedBackend(lambda _: answer if not faults else "I like turtles."), "marker"))


def rewards_of(job: TrainingJob) -> list[float]:
    return sorted(row.reward for rows in shards(job.folder) for row in rows if row.reward is not None)


def until_end(one: Rollouts, job: TrainingJob) -> None:
    poll_until(one, (job.folder / "rows" / "END").exists)


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


@pytest.mark.parametrize("comes", [True, False])
def test_a_late_reward_leaves_its_answer_out(stage: Stage, playing: list[Rollouts], comes: bool) -> None:
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
    if comes:
        grade(stage, 3)
        again = a_job(3)
        playing.append(next_one := Rollouts(again))
        next_one.poll()
        write(stage, "A", "B", "C")
        until_end(next_one, again)
        assert rewards_of(again) == [0.0, pytest.approx(3 / 7), 1.0], "it serves later jobs"


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


def test_gradings_share_the_capacity_of_experiments(stage: Stage, playing: list[Rollouts], settings: Settings) -> None:
    settings.GRADING_AT_ONCE = 1
    job = a_job()
    playing.append(one := Rollouts(job))
    one.poll()
    write(stage, "A", "B")
    for _ in range(3):
        one.poll()
    assert len(stage.sent) == 1
    grade(stage, 7)
    one.poll()
    assert len(stage.sent) == 1


def test_the_page_counts_rewards(stage: Stage, playing: list[Rollouts], client: Client) -> None:
    job = a_job()
    playing.append(one := Rollouts(job))
    one.poll()
    write(stage, "A", "A")
    one.poll()
    client.force_login(person("alice"))
    page = client.get(f"/learning/jobs/{job.public_id}/").content.decode()
    assert "2 asked, 2 under way, 1 known from an equal text, 0 late (after 15 min)" in page
    assert "with Marker: 2 asked" in page
    assert ", played by Player: 1 problem" in page
