"""The story, graph, bars and streams of a replay, run in Node. That it is the story of the core: tests/story."""

from pathlib import Path
from typing import Any

import pytest

from tests.node import facts


@pytest.fixture(scope="module")
def said() -> Any:
    return facts(str(Path(__file__).with_name("check_replay.mjs")))


def test_the_graph_holds_what_there_was_as_it_was_judged_then(said: Any) -> None:
    assert said["early"] == ["problem", "a", "b", "c"]
    assert said["unverified"]
    assert said["oneVote"] == [1, 1, 1, 2, None]
    assert said["verdict"] == [0.5, "verified"]
    assert said["merged"] == ["merged", 2]
    assert said["contributing"] == [[], ["a", "b", "c", "proof/1"]]
    assert said["frontier"] == ["b", "c"]


def test_a_use_of_a_merged_lemma_comes_from_its_representative_from_the_merge_on(said: Any) -> None:
    before, merged, fallen, both = (said["mergedAt"][place] for place in (5, 7, 8, 9))
    assert (before["source"], before["merges"], before["redundant"]) == ("s0.5", False, [])
    assert (merged["source"], merged["merges"], merged["redundant"]) == ("s1.1", True, ["uses:s1.1>s0.7"])
    assert (merged["status"], merged["finders"], merged["frontier"]) == ("merged", 2, ["s0.7"])
    assert (fallen["source"], fallen["redundant"]) == ("s0.5", [])
    assert (both["source"], both["status"]) == ("s1.1", "merged")


def test_what_a_fork_took_over_is_counted_apart(said: Any) -> None:
    assert said["fork"] == [2, 7, {"tokens": 100, "calls": 2}]


def test_a_use_is_left_out_only_once_a_longer_way_is_there(said: Any) -> None:
    assert (said["notYetImplied"], said["implied"]) == ([], ["c<a"])


def test_votes_scores_and_pairs_are_listed_as_they_come(said: Any) -> None:
    assert said["votes"] == ["pass", "fault"]
    assert said["scored"] == [0.5, 2, 3]
    assert said["judged"] == ["fault", "unread"]
    assert said["tally"] == "2 checks: 0 passed, 1 failed, 1 could not be read"
    assert said["words"] == ["mean 50 % of the full score, 2 reports, 1 not read", "0 of 1 checks passed, 1 not read"]
    assert said["unplaced"] == "fault at no step of the text"
    assert said["newest"] == "pair/1/c1.1/c1.2"
    assert {"c1.1", "x/1", "y/1"} <= set(said["reached"])


def test_a_formula_is_refuted_from_the_event_on_that_says_so(said: Any) -> None:
    assert said["checks"] == ["", "refuted"]


def test_turns_tools_and_memories_come_one_by_one(said: Any) -> None:
    talk = "solve/c1.1"
    assert said["agents"] == [
        f"talk {talk}", f"turn 1 of {talk}", "mended", "tools", f"turn 2 of {talk}", f"turn 3 of {talk}", "memory c1.1"
    ]  # fmt: skip
    assert said["counts"] == {f"turns of {talk}": "3", "mended": "1", "tools": "1 of 2", "rate": "50 %"}
    assert said["toolsAtWork"] == [0, 1, 0, 0, 0, 0, 1, 0]


def test_bars_count_calls_of_a_rollout_of_a_round_and_after_the_rounds(said: Any) -> None:
    assert said["bars"] == [
        ["0/1", "0/1", "0/1"], ["0/1", "0/2", "0/2"], ["done", "1/2", "1/2"], ["done", "2/2", "2/2"], ["done", "2/2", "2/2"]
    ]  # fmt: skip
    assert said["barStates"] == ["running", "failed", "done"]
    assert said["known"] == {"state": "running", "share": 0.125, "count": "1/8"}
    assert said["ended"]


def test_a_solution_says_how_it_is_remembered_once_it_is(said: Any) -> None:
    assert said["memory"] == ["judged correct, 2 of 2", "kept", True, True]


def test_both_orders_of_a_pair_are_votes_on_it_and_no_round_of_the_search(said: Any) -> None:
    assert (said["pair"], said["pairs"]) == (["pass", "unread", "pass"], 2)
    assert said["knockOut"] == [1, True]


def test_a_mark_between_nothing_and_full_is_no_fault(said: Any) -> None:
    assert said["partly"] == "part"


def test_a_tool_at_work_keeps_its_time(said: Any) -> None:
    assert said["computing"] == [0, 20_000, 22_000, 42_000]


def test_idle_waits_are_shortened_and_calls_keep_their_time(said: Any) -> None:
    assert said["times"] == [0, 100, 600_100, 602_100, 602_100]
    assert said["counted"] == [0, 1, 2, 5]


def test_a_stream_sends_thinking_then_text_without_gap_or_overlap(said: Any) -> None:
    assert said["asked"] == 1
    assert said["snapshots"] == [["", "123", False], ["αβγδεζηθ", "1234", True]]
    assert said["pieces"] == [["reasoning", 3, "4"], ["text", 0, "αβ"], ["text", 2, "γδεζηθ"]]
