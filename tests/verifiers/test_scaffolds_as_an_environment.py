"""verifiers plays our scaffolds with its own client: steps, roles, rewards, and what happens where there is none."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.verifiers.conftest import RIGHT, SUM, Played, PlayServer, Run

pytestmark = pytest.mark.verifiers


def case(model: str, scaffold: str = "self_check", **options: Any) -> dict[str, Any]:
    preset = "" if scaffold in ("single_call", "majority_vote") else "quick"
    return {"model": model, "options": {"scaffold": scaffold, "preset": preset, "problems": [SUM], "retries": 0, **options}}


CASES = {
    "right": case("right", roles=["solver"], seed=5),
    "wrong": case("wrong", "single_call"),
    "unstated": case("unstated", "single_call"),
    "zero": case("unstated", "single_call", unscored="zero"),
    "unread": case("unread", params={"iterations": 1, "improve": False}),
    "doubting": case("doubting", params={"iterations": 1, "improve": False}, reward="verdicts"),
    "accepted": case("right", reward="accepted"),
    "verdicts": case("right", reward="verdicts"),
    "not judged": case("right", "single_call", reward="accepted"),
    "intern": case("intern", "intern_s1_mo", roles=["reasoner", "summarizer"]),
    "votes": case("right", "rsa"),
    "broken": case("broken"),
    "unknown": case("another"),
    "without length": case("without length"),
    "with length": case("without length", "single_call", context_tokens=20_000),
    "refused": case("right", "majority_vote", problems=[{"question": "Prove it."}]),
    "stopped": case("right") | {"max_turns": 1},
    "late": case("right") | {"seconds": 0.001},
}


@pytest.fixture(scope="module")
def played(play: Callable[[dict[str, Any]], Played], play_server: PlayServer) -> Played:
    play_server.requests.clear()
    play_server.most_at_once = 0
    play_server.pause_s = 0.001
    return play(CASES | {f"refused {name}": one for name, (one, _) in REFUSED.items()})


def trace_of(played: Played, name: str) -> dict[str, Any]:
    (episode,) = played[name]
    (trace,) = episode["traces"]
    return dict(trace)


def ours(played: Played, name: str) -> dict[str, Any]:
    return dict(trace_of(played, name)["info"]["lemmascope"])


def test_every_call_is_a_step_with_its_prompt_answer_and_role(played: Played, play_server: PlayServer) -> None:
    trace = trace_of(played, "right")
    steps = ours(played, "right")["steps"]
    assert [(step["call"], step["role"], step["trained"]) for step in steps] == [
        ("solve", "solver", True),
        ("improve", "improver", False),
        ("check/1", "verifier", False),
        ("check/2", "verifier", False),
    ]
    assert [call["acp"]["request_id"] for call in trace["calls"]] == [
        "solver:solve", "improver:improve", "verifier:check.1", "verifier:check.2"
    ]  # fmt: skip
    assert [step["node"] for step in steps] == [call["node"] for call in trace["calls"]]
    node = trace["nodes"][steps[0]["node"]]
    assert (node["sampled"], node["message"]["content"]) == (True, RIGHT)
    asked = trace["nodes"][node["parent"]]
    assert SUM["question"] in asked["message"]["content"]
    assert [body["messages"][-1]["content"] for body in play_server.requests[:1]] == [asked["message"]["content"]]
    assert trace["calls"][0]["usage"]["completion_tokens"] > 0


def test_the_server_gets_the_scaffolds_own_sampling_and_nothing_of_ours(played: Played, play_server: PlayServer) -> None:
    assert played
    assert (play_server.requests[0]["model"], play_server.requests[0]["temperature"]) == ("right", 0.7)
    assert "x-acp-model-request-id" not in play_server.headers[0]


def test_the_final_answer_is_rewarded_as_the_application_scores_it(played: Played) -> None:
    assert trace_of(played, "right")["rewards"] == {"final_answer": {"score": 1.0, "weight": 1.0}}
    assert trace_of(played, "wrong")["rewards"] == {"final_answer": {"score": 0.0, "weight": 1.0}}
    assert all(played[name][0]["ok"] for name in ("right", "wrong"))
    assert trace_of(played, "right")["metrics"] == {
        "unscored": 0.0, "steps": 4.0, "unread": 0.0, "failed_calls": 0.0, "accepted": 1.0, "verdict_share": 1.0
    }  # fmt: skip


def test_the_length_of_a_context_may_be_given(played: Played) -> None:
    assert trace_of(played, "with length")["rewards"] == {"final_answer": {"score": 1.0, "weight": 1.0}}


def test_verdicts_and_acceptance_are_rewards_too(played: Played) -> None:
    for name in ("accepted", "verdicts"):
        assert trace_of(played, name)["rewards"] == {name: {"score": 1.0, "weight": 1.0}}
    assert ours(played, "verdicts")["verdicts"] == {"passes": 2, "valid": 2, "share": 1.0}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("unstated", "The solution states no answer"),
        ("unread", "nothing was handed in"),
        ("doubting", "no verdict on its proof could be read"),
        ("not judged", "the scaffold did not judge its proof"),
        ("late", "the rollout was stopped (agent_timeout)"),
    ],
)
def test_a_rollout_without_a_reward_is_an_error_with_its_reason_and_never_0(played: Played, name: str, reason: str) -> None:
    trace = trace_of(played, name)
    assert not played[name][0]["ok"]
    assert [one for one in trace["rewards"].values() if one is not None] == []
    assert trace["metrics"]["unscored"] == 1.0
    assert trace["errors"][-1]["type"] == "TaskError"
    assert f"Unscored: {reason}" in trace["errors"][-1]["message"]
    assert reason in ours(played, name)["unscored"]


def test_a_rollout_at_its_limit_is_rewarded_for_what_it_has(played: Played) -> None:
    trace = trace_of(played, "stopped")
    assert (trace["stop_condition"], trace["metrics"]["steps"]) == ("max_turns", 1.0)
    assert trace["rewards"] == {"final_answer": {"score": 1.0, "weight": 1.0}}
    assert trace["metrics"]["failed_calls"] > 0


def test_0_for_a_rollout_without_a_reward_is_a_choice(played: Played) -> None:
    trace = trace_of(played, "zero")
    assert played["zero"][0]["ok"]
    assert trace["rewards"] == {"final_answer": {"score": 0.0, "weight": 1.0}}
    assert trace["metrics"]["unscored"] == 1.0


def test_unread_answers_are_marked_at_their_steps(played: Played) -> None:
    assert trace_of(played, "unread")["metrics"]["unread"] > 0
    assert all(step["unread"] for step in ours(played, "unread")["steps"])
    assert {step["role"]: bool(step.get("unread")) for step in ours(played, "doubting")["steps"]} == {
        "solver": False, "verifier": True
    }  # fmt: skip


def test_intern_s1_mo_is_played_with_all_its_roles(played: Played) -> None:
    steps = ours(played, "intern")["steps"]
    trained = {step["role"]: step["trained"] for step in steps}
    assert {"reasoner", "summarizer", "theorem_verifier", "writer", "process_verifier"} <= set(trained)
    assert {role for role, is_trained in trained.items() if is_trained} == {"reasoner", "summarizer"}
    assert trace_of(played, "intern")["rewards"] == {"final_answer": {"score": 1.0, "weight": 1.0}}
    assert ours(played, "intern")["verdicts"]["share"] == 1.0


def test_calls_that_a_scaffold_makes_in_parallel_run_in_parallel(played: Played, play_server: PlayServer) -> None:
    assert trace_of(played, "votes")["metrics"]["steps"] > 4
    assert play_server.most_at_once > 1


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("broken", "ProviderError", "The engine has no memory left."),
        ("unknown", "HarnessError", "/v1 does not serve the model another; it serves right, wrong"),
        ("without length", "HarnessError", "give context_tokens"),
        ("refused", "HarnessError", "answer"),
    ],
)
def test_what_cannot_run_is_an_error_that_says_why(
    played: Played, play_server: PlayServer, name: str, kind: str, words: str
) -> None:
    trace = trace_of(played, name)
    assert (trace["ok"], trace["rewards"], trace["errors"][-1]["type"]) == (False, {}, kind)
    assert words in trace["errors"][-1]["message"]
    if name in ("unknown", "without length"):
        assert play_server.base_url in trace["errors"][-1]["message"]


def test_vf_eval_plays_a_file_and_keeps_the_traces(run: Run, play_server: PlayServer, tmp_path: Path) -> None:
    rows = [SUM, {"slug": "ours", "title": "Sum", "statement": "Find $2+2$.", "answer": "4"}]
    (tmp_path / "problems.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    options = ["--env.taskset.problems", "problems.jsonl", "--env.agent.harness.scaffold", "single_call"]
    where = [
        "-m",
        "right",
        "--client.base-url",
        play_server.base_url,
        "-o",
        "out",
        "--run.dir",
        "one",
        "--no-rich",
        "--no-push",
    ]
    done = run("vf-eval", "lemmascope-verifiers", *where, *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-4_000:]
    episodes = [json.loads(line) for line in (tmp_path / "out/one/traces.jsonl").read_text().splitlines()]
    found = {one["task"]["data"]["prompt"]: one["traces"][0]["rewards"]["final_answer"]["score"] for one in episodes}
    assert found == {SUM["question"]: 1.0, "Find $2+2$.": 0.0}


REFUSED = {
    "scaffold": (case("right", "nonsense"), "There is no scaffold nonsense; there are intern_s1_mo"),
    "roles": (case("right", roles=["judge"]), "self_check has no role judge; it has solver, improver, verifier, corrector."),
    "preset": (case("right", preset="nonsense"), "nonsense"),
    "params": (case("right", params={"nonsense": 1}), "has no parameter nonsense"),
    "question": (case("right", problems=[{"answer": "1"}]), "Problem 1 has no text under question, statement"),
    "file": (case("right", problems="/nowhere.jsonl"), "/nowhere.jsonl cannot be read"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_wrong_option_is_refused_with_what_there_is(played: Played, name: str) -> None:
    assert REFUSED[name][1] in played[f"refused {name}"][0]["refused"]
