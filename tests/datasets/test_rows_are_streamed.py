"""Trajectories become shards of a trainer's stream group by group, over restarts and old policies, or are rejected."""

from dataclasses import replace
from math import log
from pathlib import Path

import pytest

from apps.recipes.mathematics.arrays import NotLearnable
from apps.recipes.mathematics.rows import Leak
from apps.recipes.registry import RECIPES
from apps.recipes.tallies import TALLY_KEY
from apps.recipes.trajectory import Trajectory, Turn
from tests.datasets.streams import a_turn, attempt, producer, shards, stream_state
from workers.training.rows.tables import stream_facts


def test_a_complete_group_is_written_at_once_with_the_recipes_rows(tmp_path: Path) -> None:
    group = [attempt("a", 1, a_turn(), a_turn()), attempt("b", 0)]
    with producer(tmp_path) as made:
        assert made.take(group[0]) == []
        assert made.take(attempt("c", 1, problem="q")) == []
        assert made.take(group[1]) == ["00000000.parquet"]
        made.write_status("running")
        assert (stream_state(tmp_path)["waiting"], stream_state(tmp_path)["complete"]) == (1, 1)
        made.end()
    rows = shards(tmp_path)[0]
    assert [(row.trajectory_id, row.step_index) for row in rows] == [("a", 0), ("a", 1), ("b", 0)]
    assert [row.advantage for row in rows] == pytest.approx([row.advantage for row in RECIPES["turn_grpo"].rows(group)])
    assert (tmp_path / "rows" / "END").exists()
    assert (stream_state(tmp_path)["state"], stream_state(tmp_path)["unfinished"]) == ("ended", 1)
    assert sorted(path.name for path in (tmp_path / "rows").iterdir()) == ["00000000.parquet", "END"], "no partial files"


def test_a_role_is_written_before_its_trajectories_have_ended(tmp_path: Path) -> None:
    """Two attempts are complete while the three verdicts on the first one are still being written."""
    first = [attempt(name, 0, a_turn(reward, group="p")) for name, reward in (("a", 1.0), ("b", 0.0))]
    judged = [a_turn(value, role="verifier1", group="a") for value in (1.0, 0.0, 1.0)]
    with producer(tmp_path, "marsrl", sizes={"": 2, "verifier1": 3}) as made:
        assert [made.take(one, finished=False) for one in first] == [[], ["00000000.parquet"]]
        grown = replace(first[0], turns=(*first[0].turns, *judged[:2]))
        assert made.take(grown) == []
        assert made.take(replace(first[0], turns=judged[2:]), first=3) == ["00000001.parquet"]
    solvers, verifiers = shards(tmp_path)
    assert {row.role for row in solvers} == {"solver"}
    assert [(row.role, row.step_index, row.reward) for row in verifiers] == [
        ("verifier1", 1, 1.0),
        ("verifier1", 2, 0.0),
        ("verifier1", 3, 1.0),
    ]
    assert sum(row.advantage or 0 for row in verifiers) == pytest.approx(0, abs=1e-5)
    assert stream_state(tmp_path)["roles"] == {"solver": 2, "verifier1": 3}


def test_visits_without_rows_are_counted_until_one_has_rows(tmp_path: Path) -> None:
    """A visit counts once, regardless of its number of silent groups."""
    with producer(tmp_path, "marsrl", sizes={"": 2}) as made:
        for visit in ("1", "2"):
            for group in ("p", "q"):
                same = [attempt(f"{visit}{group}{name}", 0, a_turn(1.0, group=group)) for name in "ab"]
                assert [made.take(one, visit=visit) for one in same] == [[], []]
        assert (made.counts.silent, made.counts.quiet) == (4, 2)
        for name, reward in (("c", 1.0), ("d", 0.0)):
            made.take(attempt(name, 0, a_turn(reward, group="p")), visit="3")
        made.write_status("running")
        assert (stream_state(tmp_path)["silent"], stream_state(tmp_path)["quiet"]) == (4, 0)


def test_a_group_of_trajectories_waits_until_each_has_ended(tmp_path: Path) -> None:
    with producer(tmp_path) as made:
        made.take(attempt("a", 1))
        assert made.take(attempt("b", 0), finished=False) == []
        assert made.take(attempt("b", 0, a_turn(), a_turn())) == ["00000000.parquet"]
    assert len(shards(tmp_path)[0]) == 3


def test_a_closed_problem_is_written_with_its_answers_so_far(tmp_path: Path) -> None:
    with producer(tmp_path, size=8) as made:
        for one in (attempt("a", 1), attempt("b", 0), attempt("c", 1, problem="q")):
            made.take(one)
        assert made.close_problem("p") == ["00000000.parquet"]
        assert made.take(attempt("d", 1)) == []
    assert stream_state(tmp_path)["late"] == 1


def test_groups_without_a_size_wait_until_they_are_closed(tmp_path: Path) -> None:
    turns = [a_turn(1.0, group="p"), a_turn(1.0, role="verifier", group="a/1"), a_turn(0.0, role="verifier", group="a/1")]
    with producer(tmp_path, "marsrl", size=0) as made:
        assert made.take(attempt("a", 1, *turns)) == []
        assert made.close_problem("p", under="a/") == ["00000000.parquet"]
        assert made.take(attempt("b", 0, a_turn(0.0, group="p"))) == []
        assert made.close_problem("p") == ["00000001.parquet"]
    assert [{row.role for row in rows} for rows in shards(tmp_path)] == [{"verifier"}, {"solver"}]


def test_a_restarted_producer_writes_no_group_twice(tmp_path: Path) -> None:
    ones = [attempt("a", 1), attempt("b", 0), attempt("c", 1, problem="q"), attempt("d", 0, problem="q")]
    with producer(tmp_path) as made:
        for one in ones[:3]:
            made.take(one)
    (tmp_path / ".stream").mkdir()
    (tmp_path / ".stream" / "00000.parquet").write_bytes(b"half")
    with producer(tmp_path) as again:
        assert [again.take(one) for one in ones] == [[], [], [], ["00000001.parquet"]]
        assert again.take(attempt("e", 1, problem="q")) == []
    assert [row.trajectory_id for rows in shards(tmp_path) for row in rows] == ["a", "b", "c", "d"]
    assert (stream_state(tmp_path)["complete"], stream_state(tmp_path)["rows"], stream_state(tmp_path)["late"]) == (2, 4, 1)


def test_a_problem_that_is_played_again_is_another_group(tmp_path: Path) -> None:
    with producer(tmp_path) as made:
        for visit in ("1", "2"):
            for one in (attempt("a", 1), attempt("b", 0)):
                made.take(one, visit=visit)
    assert [[row.group_id for row in rows] for rows in shards(tmp_path)] == [["p#1", "p#1"], ["p#2", "p#2"]]


def test_silent_groups_are_counted_and_not_written(tmp_path: Path) -> None:
    with producer(tmp_path) as made:
        assert [made.take(attempt(name, 1)) for name in "ab"] == [[], []]
    assert shards(tmp_path) == []
    assert stream_state(tmp_path)["silent"] == 1


def test_silent_groups_of_a_verifier_count_in_the_tally(tmp_path: Path) -> None:
    """Both verdicts flag a wrong solution: they are right and equal, so they give no row. On a right one they differ."""

    def verdict(group: str, passed: bool, reward: float) -> Turn:
        return a_turn(reward, role="verifier", group=group, passed=passed)

    alike = [verdict("a", False, 1.0), verdict("a", False, 1.0)]
    apart = [verdict("b", False, 0.0), verdict("b", True, 1.0)]
    with producer(tmp_path, "marsrl") as made:
        assert made.take(attempt("x", 0, *alike)) == []
        assert made.take(attempt("y", 1, *apart)) == ["00000000.parquet"]
        rates = {"role/verifier/found": [2, 2], "role/verifier/spared": [1, 2]}
        made.write_status("running")
        assert stream_state(tmp_path)[TALLY_KEY] == rates | {"role/verifier/silent": [1, 2]}
    with producer(tmp_path, "marsrl") as again:
        assert again.counts.tally == {"role/verifier/spared": (1, 2), "role/verifier/silent": (0, 1)}, "from its shards"
        again.take(attempt("x", 0, *alike))
        again.write_status("running")
        assert stream_state(tmp_path)[TALLY_KEY] == rates | {"role/verifier/silent": [1, 2]}


def test_the_tally_of_provers_has_lemma_values_and_rounds_without_a_lemma(tmp_path: Path) -> None:
    rounds = [a_turn(kind="round", lemmas=("a",)), a_turn(kind="round"), a_turn(kind="answer")]
    with producer(tmp_path, "orealh") as made:
        made.take(attempt("x", 1, *rounds, votes=(4, 4), used=frozenset("a")))
        made.take(attempt("y", 0, *rounds[1:], votes=(0, 4)))
    assert stream_state(tmp_path)[TALLY_KEY]["masked_rounds"] == [2, 3]
    assert stream_state(tmp_path)[TALLY_KEY]["mean_value"] == [pytest.approx(log(251)), 1]


def test_rows_of_too_old_a_policy_are_dropped_after_the_comparison_of_their_group(tmp_path: Path) -> None:
    for version in ("7", ".8"):
        (tmp_path / "policy" / version).mkdir(parents=True)
    with producer(tmp_path, most_lag=5) as made:
        made.take(attempt("old", 0, a_turn(policy_version=1)))
        made.take(attempt("new", 1, a_turn(policy_version=2)))
        made.take(attempt("older", 0, a_turn(policy_version=0), problem="q"))
        assert made.take(attempt("oldest", 1, a_turn(policy_version=0), problem="q")) == []
    (rows,) = shards(tmp_path)
    assert [(row.trajectory_id, round(row.advantage or 0, 3)) for row in rows] == [("new", 0.707)]
    assert (stream_state(tmp_path)["dropped"], stream_state(tmp_path)["rows"], stream_state(tmp_path)["policy"]) == (3, 1, 7)


@pytest.mark.parametrize(
    ("recipe", "group", "reason"),
    [
        ("turn_grpo", [attempt("a", float("nan")), attempt("b", 0)], "p, trajectories of p: .*nan"),
        ("orealh", [attempt("a", 1, votes=(4, 4)), attempt("b", 0, votes=(0, 8))], "p, trajectories of p: .*4.*8"),
        ("turn_grpo", [attempt("a", 1, a_turn(logprobs=None)), attempt("b", 0)], "no log-probabilities"),
        ("marsrl", [attempt("a", 1, a_turn(1.0)), attempt("b", 0)], "needs a reward and a group"),
    ],
    ids=["NaN", "mixed n", "no log-probabilities", "no group"],
)
def test_an_invalid_group_stops_the_producer_and_is_not_written(
    tmp_path: Path, recipe: str, group: list[Trajectory], reason: str
) -> None:
    def feed() -> None:
        with producer(tmp_path, recipe) as made:
            for one in group:
                made.take(one)

    with pytest.raises(NotLearnable, match=reason):
        feed()
    assert list((tmp_path / "rows").iterdir()) == []
    assert stream_state(tmp_path)["state"] == "failed"
    assert stream_state(tmp_path)["message"]


def test_another_tokenizer_and_another_split_are_rejected(tmp_path: Path) -> None:
    with producer(tmp_path, tokenizer="aaaa") as made:
        made.take(attempt("a", 1), tokenizer="aaaa")
        with pytest.raises(NotLearnable, match=r"another tokenizer \(bbbb…\) than the job's \(aaaa…\)"):
            made.take(attempt("b", 0), tokenizer="bbbb")
        with pytest.raises(Leak, match="belongs to the split “test”"):
            made.take(attempt("b", 0, split="test"))
    assert shards(tmp_path) == []


def test_a_stream_keeps_the_tokenizer_of_its_first_rows(tmp_path: Path) -> None:
    with producer(tmp_path) as made:
        made.take(attempt("a", 1), tokenizer="aaaa")
        made.take(attempt("b", 0), tokenizer="aaaa")
    with producer(tmp_path) as again, pytest.raises(NotLearnable, match=r"another tokenizer \(bbbb…\) than the earlier rows"):
        again.take(attempt("c", 1, problem="q"), tokenizer="bbbb")
    assert stream_facts(tmp_path / "rows" / "00000000.parquet")["tokenizer"] == "aaaa"


def test_a_folder_has_one_producer_and_an_ended_stream_has_none(tmp_path: Path) -> None:
    with producer(tmp_path) as made:
        with pytest.raises(NotLearnable, match="Another producer"):
            producer(tmp_path)
        made.end()
        with pytest.raises(NotLearnable, match="has ended"):
            made.take(attempt("a", 1))
    with pytest.raises(NotLearnable, match="has ended"):
        producer(tmp_path)
