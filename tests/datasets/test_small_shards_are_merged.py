"""Small token shards of an ended run are merged, readable under old and new names; errors and crashes lose nothing."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from apps.datasets.models import TokenRow, TokenShard
from apps.datasets.recorded.feeding import Feed, FeedPlan
from apps.datasets.tokens import merging
from apps.datasets.tokens.merging import ShardBroken, shards_merge
from apps.datasets.tokens.shards import tokens_folder
from apps.processes.file_locks import deletion_lock, file_lock
from apps.recipes.registry import TRAININGS
from apps.recipes.rows.tokens import BrokenShard, Shards
from apps.runs.models import Run, RunStatus
from tests.datasets.factory import passed, version_of

pytestmark = pytest.mark.django_db(transaction=True)
Place = tuple[str, str, int]


@pytest.fixture
def run(settings: Settings, tmp_path: Path) -> Run:
    """A finished run of three calls with a shard for each."""
    settings.DATA_DIR = tmp_path
    return passed(version_of())


def places(run: Run) -> dict[str, Place]:
    found = TokenRow.objects.filter(run=run).values_list("key", "shard__uri", "shard__sha256", "row")
    return {key: (uri, sha256, row) for key, uri, sha256, row in found}


def drawn(known: dict[str, Place]) -> dict[str, Any]:
    """Tokens at these places."""
    shards = Shards(tokens_folder())
    names = ("prompt_ids", "completion_ids", "loss_mask", "logprobs")
    found = {key: [shards.get(uri, sha256).column(name, row) for name in names] for key, (uri, sha256, row) in known.items()}
    return {key: [list(column or ()) for column in columns] for key, columns in found.items()}


def files(run: Run) -> set[str]:
    return {path.name for path in (tokens_folder() / str(run.public_id)).iterdir()}


def test_tokens_are_the_same_at_old_and_new_places(run: Run) -> None:
    old = places(run)
    tokens = drawn(old)
    assert run.token_shards.count() == 3
    assert shards_merge(run) == (3, 1)
    (shard,) = run.token_shards.all()
    assert drawn(places(run)) == drawn(old) == tokens
    assert sorted(row for _, _, row in places(run).values()) == [0, 1, 2]
    assert (shard.rows, files(run)) == (3, {Path(shard.uri).name, "merged.json"})
    assert shards_merge(run) == (0, 0)
    uri, sha256, _ = old["solve"]
    with pytest.raises(BrokenShard, match="had 1 rows; row 1"):
        Shards(tokens_folder()).get(uri, sha256).column("prompt_ids", 1)


def test_a_feed_keeps_the_policy_version_after_a_merge(run: Run, tmp_path: Path) -> None:
    TokenShard.objects.filter(run=run).update(policy="base + policy/3")
    shards_merge(run)
    feed = Feed(tmp_path / "feed.jsonl", FeedPlan(TRAININGS["grpo_rubric"], "verifiers", ["even-number"]))
    assert feed.poll() == 1
    assert '"policy_version": 3' in (tmp_path / "feed.jsonl").read_text()


def test_calls_of_different_policies_are_not_merged(run: Run) -> None:
    first = run.token_shards.first()
    TokenShard.objects.filter(pk=first.pk if first else 0).update(policy="policy/1")
    assert shards_merge(run) == (2, 1)
    assert run.token_shards.count() == 2


def test_a_crash_before_the_database_write_or_before_the_sweep_loses_nothing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    old = places(run)
    tokens = drawn(old)

    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(TokenRow.objects, "filter", die)
        with pytest.raises(KeyboardInterrupt):
            shards_merge(run)
    assert places(run) == old
    assert drawn(old) == tokens
    with monkeypatch.context() as patch:
        patch.setattr(merging, "_sweep", die)
        with pytest.raises(KeyboardInterrupt):
            shards_merge(run)
    assert len(files(run)) == 5
    assert shards_merge(run) == (0, 0)
    assert len(files(run)) == 2
    assert drawn(places(run)) == drawn(old) == tokens


def test_a_live_run_and_a_changed_shard_are_not_merged(run: Run) -> None:
    old = places(run)
    Run.objects.filter(pk=run.pk).update(status=RunStatus.RUNNING)
    run.refresh_from_db()
    with pytest.raises(ValueError, match="has not ended"):
        shards_merge(run)
    Run.objects.filter(pk=run.pk).update(status=RunStatus.FINISHED)
    run.refresh_from_db()
    path = tokens_folder() / old["solve"][0]
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(ShardBroken, match="truncated or was changed"):
        shards_merge(run)
    assert places(run) == old
    with pytest.raises(CommandError, match="Some runs were not merged: The token shard"):
        call_command("merge_shards", "--run", str(run.public_id), stdout=StringIO())


def test_the_command_merges_runs_that_ended_some_time_ago(run: Run) -> None:
    out = StringIO()
    call_command("merge_shards", stdout=out)
    assert "0 small shards were merged into 0." in out.getvalue()
    call_command("merge_shards", "--hours", "0", stdout=out)
    assert "3 small shards were merged into 1." in out.getvalue()
    with pytest.raises(CommandError, match="is not a valid UUID"):
        call_command("merge_shards", "--run", "the first one")


def test_nothing_is_merged_during_a_backup(run: Run, settings: Settings) -> None:
    before = files(run)
    with file_lock(deletion_lock(Path(settings.DATA_DIR)), shared=True):
        with pytest.raises(CommandError, match="A backup or another merge is running"):
            call_command("merge_shards", "--run", str(run.public_id))
        with file_lock(deletion_lock(Path(settings.DATA_DIR)), shared=True):
            assert files(run) == before, "two backups can run at a time"
    assert shards_merge(run) == (3, 1)
