"""Finished runs become lines of a feed and, with `manage.py stream_rows`, rows of a waiting job."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from apps.datasets.models import TokenShard
from apps.datasets.recorded.feeding import Feed, FeedPlan
from apps.datasets.tokens.shards import policy_version_of
from apps.datasets.versions.choosing import NothingToMake
from apps.recipes.registry import TRAININGS
from tests.datasets.factory import failed, passed, queued, version_of
from tests.datasets.streams import shards, stream_state

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def job(settings: Settings, tmp_path: Path) -> Path:
    """Folder of a job that reads a stream of graded proofs."""
    settings.DATA_DIR = tmp_path
    folder = tmp_path / "job"
    folder.mkdir()
    config = {"format": 1, "recipe": "grpo_rubric", "base": "b", "source": {"kind": "stream"}, "steps": 2}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def a_feed(job: Path, recipe: str = "grpo_rubric", size: int = 2) -> Feed:
    return Feed(job / "feed.jsonl", FeedPlan(TRAININGS[recipe], "verifiers", ["even-number"], runs_a_group=size))


def lines(job: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (job / "feed.jsonl").read_text().splitlines()]


def stream(job: Path, *more: str) -> None:
    call_command("stream_rows", str(job), "--problem", "even-number", "--runs-a-group", "2", "--every", "0.1", *more)


def test_finished_runs_become_rows_once_even_after_a_restart(job: Path, capfd: pytest.CaptureFixture[str]) -> None:
    version = version_of()
    runs = [passed(version), failed(version)]
    (job / "state.json").write_text('{"state": "failed"}')
    stream(job)
    (job / "state.json").unlink()
    stream(job, "--runs", "2")
    (rows,) = shards(job)
    assert [(row.run_id, row.reward, row.advantage) for row in rows] == [
        (str(runs[0].public_id), 1.0, 0.5),
        (str(runs[1].public_id), 0.0, -0.5),
    ]
    [group] = {row.group_id for row in rows}
    assert group.startswith(f"{version.problem.public_id}@1/")
    assert group.endswith("#0")
    assert [line.get("run") for line in lines(job) if "run" in line] == [str(run.public_id) for run in runs]
    assert (job / "rows" / "END").exists()
    assert "2 runs, 2 rows; 1 complete" in capfd.readouterr().out
    with pytest.raises(CommandError, match="has ended"):
        stream(job)


def test_runs_are_written_once_in_finishing_order_and_form_visits(job: Path) -> None:
    version = version_of()
    feed = a_feed(job)
    passed(version)
    assert (feed.poll(), feed.poll()) == (1, 0)
    failed(version)
    passed(version)
    queued(version)
    assert feed.poll() == 2
    visits = [line["visit"] for line in lines(job) if "run" in line]
    assert visits == ["0", "0", "1"]
    assert [line["visit"] for line in lines(job) if "close" in line and "under" not in line] == ["0"]
    assert a_feed(job).poll() == 0, "after a restart"


def test_missing_closing_lines_are_written_after_a_kill(job: Path) -> None:
    version = version_of()
    feed = a_feed(job)
    passed(version)
    failed(version)
    feed.poll()
    whole = (job / "feed.jsonl").read_bytes()
    (job / "feed.jsonl").write_bytes(whole[:-70])
    a_feed(job)
    assert lines(job) == [json.loads(line) for line in whole.splitlines()]


def test_runs_without_tokens_and_other_problems_are_left_out(job: Path) -> None:
    passed(version_of(), capture=False)
    passed(version_of("odd-number"))
    feed = a_feed(job)
    assert feed.poll() == 0
    assert [row["reason"] for row in feed.left.rows] == ["a run that was not recorded for learning"]


def test_a_policys_version_is_read_from_its_path() -> None:
    known = {"base": 0, "policy/7": 7, "/models/job/policy/12": 12, "base + policy/3": 3, "policy/7b": 0, "my-policy/7": 0}
    assert {policy: policy_version_of(policy) for policy in known} == known


def test_rows_have_the_version_of_their_policy(job: Path) -> None:
    version = version_of()
    run = passed(version)
    TokenShard.objects.filter(run=run).update(policy="base + policy/3")
    feed = a_feed(job)
    feed.poll()
    turns = [turn for line in lines(job) if "run" in line for one in line["trajectories"] for turn in one["turns"]]
    assert {turn["policy_version"] for turn in turns} == {3}


def test_a_folder_without_a_job_and_empty_groups_are_rejected(job: Path) -> None:
    with pytest.raises(CommandError, match="is not the folder of a job"):
        stream(job / "nowhere")
    with pytest.raises(CommandError, match="at least one run"):
        stream(job, "--runs-a-group", "0")


def test_a_job_of_another_tokenizer_ends_with_the_producers_reason(job: Path) -> None:
    passed(version_of())
    config = json.loads((job / "config.json").read_text())
    (job / "config.json").write_text(json.dumps(config | {"dataset": {"tokenizer": "f" * 64}}))
    with pytest.raises(CommandError, match="another tokenizer"):
        stream(job, "--runs", "1")
    assert stream_state(job)["state"] == "failed"
    assert shards(job) == []


def test_a_feed_that_has_ended_is_not_opened_again(job: Path) -> None:
    a_feed(job).end()
    with pytest.raises(NothingToMake, match="has ended"):
        a_feed(job)
