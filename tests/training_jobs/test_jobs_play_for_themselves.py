"""A job that makes its own rollouts: runs are started, fed to its stream when they finish, and replaced after failures."""

import os
import signal
import time
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from apps.learning.jobs.folders import locked
from apps.learning.models import JobState, Rollout, TrainingJob
from apps.learning.rollouts.producer import PRODUCER_LOCK, PRODUCER_PID, left_out
from apps.learning.rollouts.rollouts import Rollouts
from apps.reasoning.inference.scripted import ScriptedBackend
from apps.runs.models import ROLLOUT, Run, RunStatus
from apps.runs.selectors import run_list
from tests.datasets.factory import judged, version_of
from tests.datasets.held import held
from tests.datasets.streams import shards, stream_state
from tests.datasets.test_groups_of_agents import half_right
from tests.reasoning.candidates import FAIL, PASS, named
from tests.runs.driving import drive, with_model
from tests.training_jobs.factory import driven
from tests.training_jobs.playing import Stage, a_playing_job, poll_until

pytestmark = pytest.mark.django_db(transaction=True)


def test_runs_are_started_and_fed_and_the_stream_ends_after_the_last(stage: Stage, playing: list[Rollouts]) -> None:
    version_of()
    job = a_playing_job()
    playing.append(one := Rollouts(job))
    one.poll()
    assert len(stage.sent) == 2, "both places are filled at once"
    stage.drive(PASS)
    one.poll()
    assert not list((job.folder / "rows").glob("*.parquet")), "a group of one gives no rows"
    stage.drive(FAIL)
    poll_until(one, (job.folder / "rows" / "END").exists)
    (rows,) = shards(job.folder)
    played = [str(row.run.public_id) for row in Rollout.objects.order_by("number")]
    assert [(row.run_id, row.reward, row.advantage) for row in rows] == [(played[0], 1.0, 0.5), (played[1], 0.0, -0.5)]
    assert not stage.sent, "no further run is started"
    run = Run.objects.first()
    assert run is not None
    assert (run.preset, run.spec["capture"], run.owner) == (ROLLOUT, True, job.owner)
    assert not run_list(Run.objects.all()), "only the job's page lists them"


@pytest.mark.parametrize(
    ("recipe", "scaffold", "preset", "roles"),
    [
        ("marsrl", "grouped_agents", "quick", ["corrector1", "corrector2", "solver", "verifier1", "verifier2"]),
        ("rc_rl", "reasoning_cache", "learning", ["solver", "solver"]),
    ],
)
def test_a_run_with_whole_groups_is_one_visit_and_gives_rows_of_all_roles(
    stage: Stage, playing: list[Rollouts], recipe: str, scaffold: str, preset: str, roles: list[str]
) -> None:
    version_of(answer="$2$")
    plan = {"scaffold": scaffold, "preset": preset, "judge": "answer", "runs_a_group": 1, "at_once": 1}
    playing.append(one := Rollouts(job := a_playing_job(recipe, **plan)))
    one.poll()
    stage.drive(answer=summarised if recipe == "rc_rl" else half_right)
    poll_until(one, (job.folder / "rows" / "END").exists)
    made = shards(job.folder)
    assert sorted(rows[0].role for rows in made) == roles
    assert {len(rows) for rows in made} == {16 if recipe == "rc_rl" else 4}
    assert all(any(row.advantage for row in rows) for rows in made)
    assert (stream_state(job.folder)["silent"], stream_state(job.folder)["unfinished"]) == (0, 0)


def summarised(request: Any) -> str:
    """As `half_right`, with a state after every turn."""
    if request.role == "summarizer":
        return f"<state>State after {request.key}.</state>"
    return half_right(request) if request.key.startswith("state/") else named(request)


def test_after_a_driver_dies_nothing_is_done_twice(stage: Stage, playing: list[Rollouts]) -> None:
    version_of()
    job = a_playing_job()
    Rollouts(job).poll()
    pid = int((job.folder / PRODUCER_PID).read_text())
    stage.drive(PASS)
    playing.append(second := Rollouts(job))
    second.poll()
    assert Rollout.objects.count() == 2
    assert int((job.folder / PRODUCER_PID).read_text()) == pid, "the producer is still running"
    os.kill(pid, signal.SIGKILL)
    stage.drive(FAIL)
    poll_until(second, (job.folder / "rows" / "END").exists)
    assert int((job.folder / PRODUCER_PID).read_text()) != pid
    assert [len(rows) for rows in shards(job.folder)] == [2]


def test_problems_are_played_visit_by_visit_and_failed_runs_are_replaced(stage: Stage, playing: list[Rollouts]) -> None:
    for slug in ("even-number", "odd-number"):
        version_of(slug)
    job = a_playing_job(problems=("even-number", "odd-number"), visits=2, at_once=3)
    playing.append(one := Rollouts(job))
    one.poll()
    Run.objects.filter(pk=stage.sent.popleft()).update(status=RunStatus.FAILED, status_reason="the model is away")
    for verdict in (PASS, FAIL):
        stage.drive(verdict)
    one.poll()
    problems = list(Rollout.objects.order_by("number").values_list("problem", flat=True))
    assert problems == ["even-number", "even-number", "odd-number", "even-number", "odd-number", "even-number"]


def test_an_agent_gives_rows_before_its_run_ends_and_a_run_that_then_fails_is_not_replaced(
    stage: Stage, playing: list[Rollouts]
) -> None:
    version_of()
    job = a_playing_job("marsrl", at_once=1)
    playing.append(one := Rollouts(job))
    one.poll()
    first = Run.objects.get(pk=stage.sent.popleft())
    checks = {"check/1": PASS, "check/2": FAIL}
    with held(first, lambda request: checks.get(request.key) or judged(PASS)(request), "check/3") as model:
        poll_until(one, lambda: bool(shards(job.folder)))
        assert [row.role for row in shards(job.folder)[0]] == ["verifier1", "verifier1"]
        model.error = RuntimeError("the model is away")
    one.poll()
    assert [(row.run.status, row.number) for row in Rollout.objects.order_by("number")] == [("failed", 0), ("queued", 1)]
    stage.drive(FAIL)
    poll_until(one, (job.folder / "rows" / "END").exists)
    assert not stage.sent, "two answers are a visit"
    assert {row.role for row in shards(job.folder)[1]} == {"solver"}


def test_runs_that_give_no_rows_are_listed(stage: Stage, playing: list[Rollouts]) -> None:
    version_of()
    job = a_playing_job()
    playing.append(one := Rollouts(job))
    one.poll()
    solved = judged(PASS)
    unjudged = ScriptedBackend(lambda request: solved(request) if request.role == "solver" else "I like turtles.")
    drive(Run.objects.get(pk=stage.sent.popleft()), with_model(unjudged))
    one.poll()
    reasons = [(row["count"], row["reason"]) for row in left_out(job.folder)]
    assert reasons == [(1, "a solution without a verdict"), (1, "a run without any trajectory")]


def test_consecutive_failures_end_the_job_with_the_reason(stage: Stage, playing: list[Rollouts]) -> None:
    version_of()
    job = a_playing_job(at_once=5, runs_a_group=8)
    playing.append(one := Rollouts(job))
    one.poll()
    Run.objects.update(status=RunStatus.FAILED, status_reason="the model is away")
    one.poll()
    assert one.trouble == "5 consecutive runs failed. Reason of the last failure: the model is away"
    TrainingJob.objects.filter(pk=job.pk).update(started_at=timezone.now())
    job.refresh_from_db()
    playing.append(again := Rollouts(job))
    again.poll()
    assert again.trouble == "", "failures before the resume do not count"


def test_the_producers_error_is_the_jobs_reason(stage: Stage, playing: list[Rollouts]) -> None:
    version_of()
    job = a_playing_job()
    config = job.folder / "config.json"
    config.write_text(config.read_text().replace('"steps"', '"dataset": {"tokenizer": "another"}, "steps"'))
    playing.append(one := Rollouts(job))
    one.poll()
    stage.drive(PASS)
    stage.drive(FAIL)
    deadline = time.monotonic() + 60
    while not one.trouble and time.monotonic() < deadline:
        one.poll()
        time.sleep(0.05)
    assert "another tokenizer" in one.trouble


def test_ten_visits_without_rows_end_the_job_with_a_message(stage: Stage) -> None:
    job = a_playing_job()
    write_state = (job.folder / "stream.json").write_text
    write_state('{"state": "running", "quiet": 9}')
    one = Rollouts(job)
    one._keep_producer()
    assert one.trouble == ""
    one.end()
    write_state('{"state": "stopped", "quiet": 10}')
    one._keep_producer()
    assert "The last 10 visits of all problems gave no rows" in one.trouble
    one.end()


def test_the_end_of_the_trainer_stops_the_producer_and_cancels_live_runs(stage: Stage) -> None:
    version_of()
    job = a_playing_job()
    one = Rollouts(job)
    poll_until(one, (job.folder / "stream.json").exists)
    one.end()
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with locked(job.folder / PRODUCER_LOCK) as free:
            if free is not None:
                break
        time.sleep(0.05)
    assert stream_state(job.folder)["state"] == "stopped"
    commands = [command.name for run in Run.objects.all() for command in run.commands.all()]
    assert commands == ["cancel", "cancel"]


def test_the_driver_records_the_trouble_of_a_jobs_own_runs(stage: Stage, training: Settings) -> None:
    training.TRAIN_LAUNCHER = f"{training.TRAIN_LAUNCHER} --pace 0.02"
    job = a_playing_job(problems=("no-such-problem",))
    TrainingJob.objects.filter(pk=job.pk).update(state=JobState.QUEUED, started_at=None)
    driven(job)
    assert (job.state, job.reason, job.message) == (JobState.FAILED, "no_runs", "The problem no-such-problem no longer exists.")


def test_jobs_share_the_limit_of_all_own_runs(stage: Stage, playing: list[Rollouts], settings: Settings) -> None:
    settings.ROLLOUTS_AT_ONCE = 8
    version_of()
    first, second = (a_playing_job(visits=8, at_once=1024) for _ in range(2))
    for job in (first, second):
        playing.append(one := Rollouts(job))
        one.poll()
    assert [Rollout.objects.filter(job=job).count() for job in (first, second)] == [4, 4]
