"""A live run feeds single agents as soon as their group is complete (MarsRL §3.3); incomplete groups are never written."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from apps.datasets.recorded.feeding import Feed, FeedPlan
from apps.datasets.rewards import Judge
from apps.recipes.registry import TRAININGS
from apps.recipes.rows.following import follow
from apps.recipes.rows.stream_order import StreamOrder
from apps.recipes.rows.streaming import Producer
from apps.runs.models import Run, RunStatus
from tests.datasets.factory import Answer, queued, version_of
from tests.datasets.held import PATIENCE_S, held
from tests.datasets.streams import shards, stream_state
from tests.reasoning.candidates import FAIL, PASS, named

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def job(settings: Settings, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path
    (tmp_path / "job").mkdir()
    return tmp_path / "job"


def a_feed(job: Path, *, size: int = 2, judge: Judge = "verifiers", recipe: str = "marsrl", early: bool = True) -> Feed:
    wanted = FeedPlan(TRAININGS[recipe], judge, ["even-number"], runs_a_group=size, is_early=early)
    return Feed(job / "feed.jsonl", wanted)


def verdicts(*given: str) -> Answer:
    """A model whose checks give these verdicts in turn and then repeat the last one."""
    known = dict(enumerate(given, 1))

    def answer(request: Any) -> str:
        kind, _, number = request.key.partition("/")
        return known.get(int(number), given[-1]) if kind == "check" else named(request)

    return answer


def lines(job: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (job / "feed.jsonl").read_text().splitlines()]


def calls(job: Path) -> list[tuple[str, float]]:
    """Calls and rewards, in the order of the feed."""
    turns = [turn for line in lines(job) if "run" in line for one in line["trajectories"] for turn in one["turns"]]
    return [(turn["call"], turn["reward"]) for turn in turns]


def poll_until(feed: Feed, until: Callable[[], bool]) -> None:
    """Poll until a condition holds: a thread writes the journal."""
    deadline = time.monotonic() + PATIENCE_S
    while not until():
        assert time.monotonic() < deadline
        feed.poll()
        time.sleep(0.05)


def streamed(job: Path) -> list[list[tuple[str, int, float | None]]]:
    """Rows that a producer makes of the feed: role, place in the run and reward, by shard."""
    with Producer(job, StreamOrder("marsrl", {"": 0})) as made:
        follow(made, iter(lines(job)), job.parent / "tokens")
    return [[(row.role, row.step_index, row.reward) for row in rows] for rows in shards(job)]


def test_a_verifier_and_the_solvers_of_a_visit_give_rows_while_their_runs_are_live(job: Path) -> None:
    version = version_of()
    first, second = queued(version), queued(version)
    feed = a_feed(job)
    with held(first, verdicts(PASS, FAIL, PASS), "check/3"):
        poll_until(feed, lambda: len(calls(job)) == 3)
        assert calls(job) == [("solve", 1.0), ("check/1", 1.0), ("check/2", 0.0)]
        assert streamed(job) == [[("verifier1", 1, 1.0), ("verifier1", 2, 0.0)]], "its solver waits for that of the other run"
        with held(second, verdicts(FAIL, PASS), "check/2"):
            poll_until(feed, lambda: len(calls(job)) == 5)
            assert calls(job)[3:] == [("solve", 0.0), ("check/1", 1.0)]
            assert streamed(job)[1] == [("solver", 0, 1.0), ("solver", 0, 0.0)]
            assert set(Run.objects.values_list("status", flat=True)) == {RunStatus.RUNNING}
    assert feed.poll() == 2
    assert len(calls(job)) == first.calls + second.calls, "each once"
    assert len(streamed(job)) == 2, "the later groups have equal rewards"
    assert stream_state(job)["late"] == 0


def test_a_solution_judged_by_its_answer_is_written_at_once(job: Path) -> None:
    run = queued(version_of(answer="So the claim holds."))
    feed = a_feed(job, judge="answer")
    with held(run, verdicts(PASS), "check/1"):
        poll_until(feed, lambda: calls(job) == [("solve", 1.0)])


def test_a_failed_run_keeps_its_complete_groups_only(job: Path) -> None:
    version = version_of()
    broken, other = queued(version), queued(version)
    feed = a_feed(job)
    with held(broken, verdicts(PASS, FAIL, PASS, FAIL), "correct/2") as model:
        poll_until(feed, lambda: len(calls(job)) == 3)
        model.error = RuntimeError("the model is away")
    assert broken.status == RunStatus.FAILED
    assert feed.poll() == 0
    assert len(calls(job)) == 3, "more verdicts on its correction may follow"
    assert [row["reason"] for row in feed.left.rows] == ["the rest of a run that ended early"]
    with held(other, verdicts(FAIL, PASS), "check/2"):
        poll_until(feed, lambda: len(calls(job)) == 5)
    assert [len(rows) for rows in streamed(job)] == [2, 2], "its solver is compared with that of the other run"


def test_an_incomplete_group_is_left_out_at_the_end(job: Path) -> None:
    run = queued(version_of())
    feed = a_feed(job, size=3)
    with held(run, verdicts(FAIL, PASS), "check/2"):
        poll_until(feed, lambda: len(calls(job)) == 2)
        assert streamed(job) == []
    feed.poll()
    feed.end()
    assert streamed(job) == []
    assert stream_state(job)["unfinished"] == 1


def test_after_a_kill_nothing_is_written_twice_and_complete_groups_are_closed(job: Path) -> None:
    run = queued(version_of())
    feed = a_feed(job, size=1)
    with held(run, verdicts(PASS, FAIL, PASS), "check/3"):
        poll_until(feed, lambda: len(calls(job)) == 3)
        whole = (job / "feed.jsonl").read_bytes()
        (job / "feed.jsonl").write_bytes(whole[: whole.rindex(b'{"close"') + 5])
        again = a_feed(job, size=1)
        assert (job / "feed.jsonl").read_bytes() == whole
        assert again.poll() == 0
        assert (job / "feed.jsonl").read_bytes() == whole
    assert again.poll() == 1
    assert len(calls(job)) == run.calls
    assert [line["trajectories"][0].get("first", 0) for line in lines(job) if "run" in line] == [0, 3]


@pytest.mark.parametrize(
    ("recipe", "scaffold", "early"),
    [
        ("grpo_rubric", "solver_verifier_corrector", True),
        ("marsrl", "nomos", True),
        ("marsrl", "solver_verifier_corrector", False),
    ],
    ids=["trajectories are compared", "a pool may examine a solution again", "not requested"],
)
def test_all_other_runs_are_written_when_they_have_finished(job: Path, recipe: str, scaffold: str, early: bool) -> None:
    queued(version_of(), scaffold)
    feed = a_feed(job, recipe=recipe, early=early)
    assert list(feed._under_way()) == []
