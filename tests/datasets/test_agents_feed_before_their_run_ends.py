"""A run under way feeds single agents as soon as their group is whole (MarsRL §3.3); what is not whole never arrives."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from apps.datasets.feeding import Feed, Wanted
from apps.datasets.recipes import RECIPES, Judge
from apps.runs.models import Run, RunStatus
from tests.datasets.factory import Answer, queued, version_of
from tests.datasets.held import PATIENCE_S, held
from tests.datasets.streams import shards, told
from tests.reasoning.candidates import FAIL, PASS, named
from workers.datasets.following import follow
from workers.datasets.stream_order import StreamOrder
from workers.datasets.streaming import Producer

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def job(settings: Settings, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path
    (tmp_path / "job").mkdir()
    return tmp_path / "job"


def a_feed(job: Path, *, size: int = 2, judge: Judge = "verifiers", recipe: str = "marsrl", early: bool = True) -> Feed:
    wanted = Wanted(RECIPES[recipe], judge, ["even-number"], runs_a_group=size, is_early=early)
    return Feed(job / "feed.jsonl", wanted)


def verdicts(*given: str) -> Answer:
    """A model whose checks say so in turn, the last one for ever."""
    known = dict(enumerate(given, 1))

    def answer(request: Any) -> str:
        kind, _, number = request.key.partition("/")
        return known.get(int(number), given[-1]) if kind == "check" else named(request)

    return answer


def lines(job: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (job / "feed.jsonl").read_text().splitlines()]


def calls(job: Path) -> list[tuple[str, float]]:
    """Calls and rewards, in the order in which they were written."""
    turns = [turn for line in lines(job) if "run" in line for one in line["trajectories"] for turn in one["turns"]]
    return [(turn["call"], turn["reward"]) for turn in turns]


def looked(feed: Feed, until: Callable[[], bool]) -> None:
    """The journal is written by a thread of its own: look until it has arrived."""
    deadline = time.monotonic() + PATIENCE_S
    while not until():
        assert time.monotonic() < deadline
        feed.look()
        time.sleep(0.05)


def streamed(job: Path) -> list[list[tuple[str, int, float | None]]]:
    """What a producer makes of the feed: role, place in its run and reward of each row, shard by shard."""
    with Producer(job, StreamOrder("marsrl", {"": 0})) as made:
        follow(made, iter(lines(job)), job.parent / "tokens")
    return [[(row.role, row.step_index, row.reward) for row in rows] for rows in shards(job)]


def test_a_verifier_and_the_solvers_of_a_visit_are_learned_from_while_their_runs_go_on(job: Path) -> None:
    version = version_of()
    first, second = queued(version), queued(version)
    feed = a_feed(job)
    with held(first, verdicts(PASS, FAIL, PASS), "check/3"):
        looked(feed, lambda: len(calls(job)) == 3)
        assert calls(job) == [("solve", 1.0), ("check/1", 1.0), ("check/2", 0.0)]
        assert streamed(job) == [[("verifier1", 1, 1.0), ("verifier1", 2, 0.0)]], "its solver waits for the other run's"
        with held(second, verdicts(FAIL, PASS), "check/2"):
            looked(feed, lambda: len(calls(job)) == 5)
            assert calls(job)[3:] == [("solve", 0.0), ("check/1", 1.0)]
            assert streamed(job)[1] == [("solver", 0, 1.0), ("solver", 0, 0.0)]
            assert set(Run.objects.values_list("status", flat=True)) == {RunStatus.RUNNING}
    assert feed.look() == 2
    assert len(calls(job)) == first.calls + second.calls, "each once"
    assert len(streamed(job)) == 2, "what came after, all alike, teaches nothing"
    assert told(job)["late"] == 0


def test_an_answer_that_is_compared_with_the_problems_is_learned_from_as_soon_as_it_is_there(job: Path) -> None:
    run = queued(version_of(answer="So the claim holds."))
    feed = a_feed(job, judge="answer")
    with held(run, verdicts(PASS), "check/1"):
        looked(feed, lambda: calls(job) == [("solve", 1.0)])


def test_of_a_run_that_breaks_off_what_was_whole_stays_and_the_rest_never_comes(job: Path) -> None:
    version = version_of()
    broken, other = queued(version), queued(version)
    feed = a_feed(job)
    with held(broken, verdicts(PASS, FAIL, PASS, FAIL), "correct/2") as model:
        looked(feed, lambda: len(calls(job)) == 3)
        model.error = RuntimeError("the model is away")
    assert broken.status == RunStatus.FAILED
    assert feed.look() == 0
    assert len(calls(job)) == 3, "the verdicts on its correction are not known to be all"
    assert [row["reason"] for row in feed.left.rows] == ["a run that ended early, from where it was learned from"]
    with held(other, verdicts(FAIL, PASS), "check/2"):
        looked(feed, lambda: len(calls(job)) == 5)
    assert [len(rows) for rows in streamed(job)] == [2, 2], "its solver is compared with the other run's"


def test_a_group_that_never_becomes_whole_is_left_out_at_the_end(job: Path) -> None:
    run = queued(version_of())
    feed = a_feed(job, size=3)
    with held(run, verdicts(FAIL, PASS), "check/2"):
        looked(feed, lambda: len(calls(job)) == 2)
        assert streamed(job) == []
    feed.look()
    feed.end()
    assert streamed(job) == []
    assert told(job)["unfinished"] == 1


def test_a_writer_that_was_killed_writes_nothing_twice_and_closes_what_was_whole(job: Path) -> None:
    run = queued(version_of())
    feed = a_feed(job, size=1)
    with held(run, verdicts(PASS, FAIL, PASS), "check/3"):
        looked(feed, lambda: len(calls(job)) == 3)
        whole = (job / "feed.jsonl").read_bytes()
        (job / "feed.jsonl").write_bytes(whole[: whole.rindex(b'{"close"') + 5])
        again = a_feed(job, size=1)
        assert (job / "feed.jsonl").read_bytes() == whole
        assert again.look() == 0
        assert (job / "feed.jsonl").read_bytes() == whole
    assert again.look() == 1
    assert len(calls(job)) == run.calls
    assert [line["trajectories"][0].get("first", 0) for line in lines(job) if "run" in line] == [0, 3]


@pytest.mark.parametrize(
    ("recipe", "scaffold", "early"),
    [
        ("grpo_rubric", "solver_verifier_corrector", True),
        ("marsrl", "nomos", True),
        ("marsrl", "solver_verifier_corrector", False),
    ],
    ids=["trajectories are compared", "a pool may look at a solution again", "not asked for"],
)
def test_all_others_wait_until_they_have_finished(job: Path, recipe: str, scaffold: str, early: bool) -> None:
    queued(version_of(), scaffold)
    feed = a_feed(job, recipe=recipe, early=early)
    assert list(feed._under_way()) == []
