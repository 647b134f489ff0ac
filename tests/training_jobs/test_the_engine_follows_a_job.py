"""The engine follows the job that plays: one job at a time, and only with that job's own model."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pytest_django import Settings

from apps.learning.models import JobState, TrainingJob
from apps.learning.rollouts.rollouts import Rollouts
from apps.runs.models import Run
from tests.datasets.factory import version_of
from tests.training_jobs.playing import Stage, a_playing_job

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def learner(stage: Stage, training: Settings, tmp_path: Path) -> None:
    """An alias that follows a job."""
    version_of()
    learner = f'[learner]\nadapter_of = "big"\nadapter = "{tmp_path}/live/learner/*"\n'
    training.MODELS_FILE.write_text(f'[big]\nbackend = "vllm"\ntitle = "Big"\nmodel = "big"\n{learner}')


@pytest.mark.usefixtures("learner")
def test_the_engine_follows_one_playing_job_at_a_time(tmp_path: Path) -> None:
    first, second = a_playing_job(alias="learner"), a_playing_job(alias="learner")
    (busy := Rollouts(second)).poll()
    assert "is following another job" in busy.trouble
    TrainingJob.objects.filter(pk=second.pk).update(state=JobState.STOPPED)
    (one := Rollouts(first)).poll()
    assert (tmp_path / "live" / "learner").resolve() == (first.folder / "policy").resolve()
    one.end()
    TrainingJob.objects.filter(pk=first.pk).update(state=JobState.FINISHED)
    (next_one := Rollouts(second)).poll()
    assert (tmp_path / "live" / "learner").resolve() == (second.folder / "policy").resolve()
    next_one.end()


@pytest.mark.usefixtures("learner")
def test_a_job_that_starts_from_an_adapter_plays_once_the_engine_has_it(playing: list[Rollouts], tmp_path: Path) -> None:
    """Until then the engine would answer with the base model under the adapter's name."""
    (tmp_path / "adapter_config.json").write_text("{}")
    job = a_playing_job(alias="learner")
    job.config["base"] = str(tmp_path)
    playing.append(one := Rollouts(job))
    one.poll()
    assert (one.trouble, Run.objects.count()) == ("", 0)
    (job.folder / "policy" / "0").mkdir()
    one.poll()
    assert Run.objects.count() == 2


def test_a_job_of_all_weights_plays_once_the_engine_has_them(
    playing: list[Rollouts], stage: Stage, training: Settings, tmp_path: Path
) -> None:
    """Until then the engine would answer with the model of its alias, which may be another than the job's base."""
    version_of()
    whole = f'[whole]\nbackend = "vllm"\nmodel = "big"\nweights = "{tmp_path}/live/whole/*"\n'
    training.MODELS_FILE.write_text(whole)
    job = a_playing_job(alias="whole")
    playing.append(one := Rollouts(job))
    one.poll()
    assert (one.trouble, Run.objects.count()) == ("", 0)
    assert (tmp_path / "live" / "whole").resolve() == (job.folder / "policy").resolve()
    (job.folder / "policy" / "0").mkdir()
    one._polled_at = 0.0
    one.poll()
    assert (one.trouble, Run.objects.count()) == ("", 2)


@pytest.mark.usefixtures("learner")
def test_no_runs_start_while_their_rows_would_be_too_old_when_used(playing: list[Rollouts]) -> None:
    """With rows at most one step behind, two steps of 8 rows may wait: 16 rows."""
    job = a_playing_job(alias="learner")
    job.config |= {"rows_per_step": 8, "most_lag": 1}
    (job.folder / "rows").mkdir(exist_ok=True)
    for number in range(2):
        pq.write_table(pa.table({"reward": [0.0] * 8}), job.folder / "rows" / f"{number}.parquet")
    playing.append(one := Rollouts(job))
    one.poll()
    assert (one.trouble, Run.objects.count()) == ("", 0)
    (job.folder / "state.json").write_text('{"state": "running", "attempt": 1, "reading": "0.parquet"}')
    one.poll()
    assert Run.objects.count() == 2
