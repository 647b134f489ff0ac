"""Grouped agents give rows of every role (MarsRL §3.3); attempts at states are compared by state (QED-Nano §4.2)."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from apps.datasets.recorded.feeding import Feed, FeedPlan
from apps.datasets.recorded.recorded import recorded_of
from apps.datasets.recorded.trajectories import LeftOut, trajectories_of
from apps.datasets.rewards import Judge
from apps.recipes.registry import TRAININGS
from apps.recipes.rows.following import follow
from apps.recipes.rows.stream_order import StreamOrder
from apps.recipes.rows.streaming import Producer
from apps.runs.models import Run, RunStatus
from tests.datasets.factory import Answer, driven, queued, version_of
from tests.datasets.held import held
from tests.datasets.streams import shards, stream_state
from tests.datasets.test_agents_feed_before_their_run_ends import calls, lines, poll_until
from tests.reasoning.candidates import FAIL, PASS, named, score
from tests.reasoning.play import proof

pytestmark = pytest.mark.django_db(transaction=True)

SMALL = {"group": 4, "inputs": 1}


@pytest.fixture
def job(settings: Settings, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path
    (tmp_path / "job").mkdir()
    return tmp_path / "job"


def half_right(request: Any) -> str:
    """Odd answers of every group are right: solutions with the right answer, verdicts that object."""
    is_odd = int(request.key.rpartition("/")[2]) % 2
    if "/c" in request.key:
        return FAIL if is_odd else PASS
    return proof("We add.", "The answer is $2$") if is_odd else proof("We add.", "The answer is $3$")


def grouped(answer: str = "$2$", model: Answer = half_right) -> Run:
    return driven(queued(version_of(answer=answer), "grouped_agents", params=SMALL), model)


def groups(run: Run, judge: Judge, recipe: str = "marsrl") -> dict[tuple[str, str], list[float]]:
    """Rewards by role and group."""
    found: dict[tuple[str, str], list[float]] = {}
    for one in trajectories_of(recorded_of(run), TRAININGS[recipe], judge, LeftOut()):
        for turn in one["turns"]:
            found.setdefault((turn["role"], turn["group"]), []).append(turn["reward"])
    return found


def test_every_role_has_groups_that_can_be_compared(job: Path) -> None:
    found = groups(grouped(), "answer")
    by_role = Counter(role for role, _ in found)
    assert set(by_role) == {"solver", "verifier1", "corrector1", "verifier2", "corrector2"}
    assert {len(rewards) for rewards in found.values()} == {4}
    assert all(0 < sum(rewards) < 4 for rewards in found.values()), "rewards differ in every group"


def test_corrections_of_two_reports_on_one_solution_are_two_groups(job: Path) -> None:
    def objects(request: Any) -> str:
        return half_right(request).replace("It does not follow.", f"It does not follow ({request.key}).")

    run = queued(version_of(answer="$2$"), "grouped_agents", params={"group": 4, "inputs": 2, "steps": 3})
    found = groups(driven(run, objects), "answer")
    assert sorted(len(rewards) for (role, _), rewards in found.items() if role == "corrector1") == [4, 4]


def test_without_an_answer_the_reward_is_the_share_of_passes(job: Path) -> None:
    found = groups(grouped(answer=""), "verifiers")
    assert {role: len(rewards) for (role, _), rewards in found.items() if role.startswith("verifier")} == {
        "verifier1": 4, "verifier2": 4,
    }  # fmt: skip
    assert sum(len(rewards) for (role, _), rewards in found.items() if role == "solver") == 1, "only one solution was verified"


def test_agents_of_a_group_are_written_once_while_the_run_is_live(job: Path) -> None:
    run = queued(version_of(answer="$2$"), "grouped_agents", params=SMALL)
    wanted = FeedPlan(TRAININGS["marsrl"], "answer", ["even-number"], runs_a_group=1, is_early=True)
    feed = Feed(job / "feed.jsonl", wanted)
    with held(run, half_right, "step/2/*/4"):
        poll_until(feed, lambda: len(calls(job)) == 4)
        assert {call for call, _ in calls(job)} == {f"step/1/{number}" for number in range(1, 5)}
        assert Run.objects.get(pk=run.pk).status == RunStatus.RUNNING
    assert feed.poll() == 1
    assert len(calls(job)) == len({call for call, _ in calls(job)}) == 20
    feed.end()
    with Producer(job, StreamOrder("marsrl", {"": 0})) as made:
        follow(made, iter(lines(job)), job.parent / "tokens")
    assert sorted(rows[0].role for rows in shards(job)) == ["corrector1", "corrector2", "solver", "verifier1", "verifier2"]
    assert {len(rows) for rows in shards(job)} == {4}
    assert (stream_state(job)["late"], stream_state(job)["unfinished"]) == (0, 0)


def test_attempts_at_states_are_compared_by_state_and_the_turns_before_are_ignored(job: Path) -> None:
    def model(request: Any) -> str:
        if request.key.endswith("summarise"):
            return f"<state>State after {request.key}.</state>"
        return half_right(request) if request.key.startswith("state/") else named(request)

    params = {"turns": 2, "states": 2, "attempts": 4}
    run = driven(queued(version_of(answer="$2$"), "reasoning_cache", params=params), model)
    found = groups(run, "answer", "rc_rl")
    assert [len(rewards) for rewards in found.values()] == [4, 4]
    assert [sorted(rewards) for rewards in found.values()] == [[0.0, 0.0, 7.0, 7.0]] * 2


def test_the_reward_of_an_attempt_is_its_mark_in_sevenths(job: Path) -> None:
    def model(request: Any) -> str:
        if request.key.endswith("summarise"):
            return f"<state>State after {request.key}.</state>"
        if request.role == "grader":
            return score(int(request.key.rpartition(".")[2]))
        return named(request)

    params = {"turns": 1, "states": 1, "attempts": 4, "marks": True}
    run = driven(queued(version_of(), "reasoning_cache", params=params), model)
    (rewards,) = groups(run, "verifiers", "rc_rl").values()
    assert sorted(rewards) == pytest.approx([1, 2, 3, 4])


def test_unreadable_answers_of_agents_have_reward_0_in_the_group_of_their_prompt(job: Path) -> None:
    def unread(request: Any) -> str:
        return "I cannot say." if request.key.endswith(("/2", "/2/again")) else half_right(request)

    found = groups(grouped(model=unread), "answer")
    assert {len(rewards) for rewards in found.values()} == {4}, "a second answer is in no group"
    assert all(0 < sum(rewards) < 4 for rewards in found.values())
    assert len(found) == 5
    params = {"turns": 1, "states": 1, "attempts": 4}

    def state(request: Any) -> str:
        if request.key.endswith("summarise"):
            return "<state>State.</state>"
        return unread(request) if request.key.startswith("state/") else named(request)

    cache = driven(queued(version_of(answer="$2$"), "reasoning_cache", params=params), state)
    assert [sorted(rewards) for rewards in groups(cache, "answer", "rc_rl").values()] == [[0.0, 0.0, 7.0, 7.0]]


def test_a_live_run_feeds_an_unreadable_answer_with_its_group(job: Path) -> None:
    def unread(request: Any) -> str:
        return "I cannot say." if request.key in ("step/1/2", "step/1/2/again") else half_right(request)

    run = queued(version_of(answer="$2$"), "grouped_agents", params=SMALL)
    wanted = FeedPlan(TRAININGS["marsrl"], "answer", ["even-number"], runs_a_group=1, is_early=True)
    feed = Feed(job / "feed.jsonl", wanted)
    with held(run, unread, "step/2/*/4"):
        poll_until(feed, lambda: len(calls(job)) == 4)
        assert {call for call, _ in calls(job)} == {f"step/1/{number}" for number in range(1, 5)}


def test_an_undecided_answer_has_no_reward_and_is_counted_with_its_reason(job: Path) -> None:
    def model(request: Any) -> str:
        return proof("We add.", "Answer: as many as you like") if request.key == "step/1/2" else half_right(request)

    left = LeftOut()
    found = trajectories_of(recorded_of(grouped(model=model)), TRAININGS["marsrl"], "answer", left)
    solved = [turn["reward"] for one in found for turn in one["turns"] if turn["role"] == "solver"]
    assert sorted(solved) == [0.0, 1.0, 1.0], "the undecided one of four is absent, not 0"
    (row,) = [row for row in left.rows if "could not be compared" in row["reason"]]
    assert row["count"] == 1
    assert "could not be read" in row["examples"][0]


@pytest.mark.parametrize("line", ["Answer: $\\frac{4}{2}$", "Hence the only solution is $n=2$.", "So \\boxed{2}."])
def test_a_mathematically_equal_answer_earns_its_reward(job: Path, line: str) -> None:
    run = driven(queued(version_of(answer="2"), params={"accept": 1}), lambda request: _answer(request, line))
    (one,) = trajectories_of(recorded_of(run), TRAININGS["turn_sft"], "answer", LeftOut())
    assert one["reward"] == 1.0


def _answer(request: Any, line: str) -> str:
    return PASS if request.key.startswith("check/") else proof("We add.", line)
