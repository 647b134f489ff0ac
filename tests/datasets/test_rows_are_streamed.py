"""Trajectories become shards of a trainer's stream group by group, over restarts and old policies; or a refusal."""

from dataclasses import replace
from math import log
from pathlib import Path

import pytest

from tests.datasets.streams import attempt, producer, said, shards, told
from workers.learning.arrays import NotLearnable
from workers.learning.rows import Leak
from workers.recipes.registry import RECIPES
from workers.recipes.trajectory import Trajectory, Turn
from workers.training.tables import stream_facts


def test_a_group_is_written_as_soon_as_it_is_whole_with_the_recipes_rows(tmp_path: Path) -> None:
    group = [attempt("a", 1, said(), said()), attempt("b", 0)]
    with producer(tmp_path) as made:
        assert made.take(group[0]) == []
        assert made.take(attempt("c", 1, problem="q")) == []
        assert made.take(group[1]) == ["00000000.parquet"]
        made.tell("running")
        assert (told(tmp_path)["waiting"], told(tmp_path)["complete"]) == (1, 1)
        made.end()
    rows = shards(tmp_path)[0]
    assert [(row.trajectory_id, row.step_index) for row in rows] == [("a", 0), ("a", 1), ("b", 0)]
    assert [row.advantage for row in rows] == pytest.approx([row.advantage for row in RECIPES["turn_grpo"].rows(group)])
    assert (tmp_path / "rows" / "END").exists()
    assert (told(tmp_path)["state"], told(tmp_path)["unfinished"]) == ("ended", 1)
    assert sorted(path.name for path in (tmp_path / "rows").iterdir()) == ["00000000.parquet", "END"], "nothing half-written"


def test_a_role_is_handed_over_before_its_trajectories_have_ended(tmp_path: Path) -> None:
    """Two attempts are whole while their verdicts, three on the first attempt, are still being written."""
    first = [attempt(name, 0, said(reward, group="p")) for name, reward in (("a", 1.0), ("b", 0.0))]
    judged = [said(value, role="verifier1", group="a") for value in (1.0, 0.0, 1.0)]
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
    assert told(tmp_path)["roles"] == {"solver": 2, "verifier1": 3}


def test_visits_that_teach_nothing_are_counted_until_one_does(tmp_path: Path) -> None:
    """A visit counts once, however many of its groups are silent."""
    with producer(tmp_path, "marsrl", sizes={"": 2}) as made:
        for visit in ("1", "2"):
            for group in ("p", "q"):
                same = [attempt(f"{visit}{group}{name}", 0, said(1.0, group=group)) for name in "ab"]
                assert [made.take(one, visit=visit) for one in same] == [[], []]
        assert (made.counts.silent, made.counts.quiet) == (4, 2)
        for name, reward in (("c", 1.0), ("d", 0.0)):
            made.take(attempt(name, 0, said(reward, group="p")), visit="3")
        made.tell("running")
        assert (told(tmp_path)["silent"], told(tmp_path)["quiet"]) == (4, 0)


def test_a_group_of_trajectories_waits_until_each_has_ended(tmp_path: Path) -> None:
    with producer(tmp_path) as made:
        made.take(attempt("a", 1))
        assert made.take(attempt("b", 0), finished=False) == []
        assert made.take(attempt("b", 0, said(), said())) == ["00000000.parquet"]
    assert len(shards(tmp_path)[0]) == 3


def test_a_problem_that_gets_no_more_answers_goes_with_those_it_has(tmp_path: Path) -> None:
    with producer(tmp_path, size=8) as made:
        for one in (attempt("a", 1), attempt("b", 0), attempt("c", 1, problem="q")):
            made.take(one)
        assert made.close_problem("p") == ["00000000.parquet"]
        assert made.take(attempt("d", 1)) == []
    assert told(tmp_path)["late"] == 1


def test_groups_without_a_size_wait_until_they_are_closed(tmp_path: Path) -> None:
    turns = [said(1.0, group="p"), said(1.0, role="verifier", group="a/1"), said(0.0, role="verifier", group="a/1")]
    with producer(tmp_path, "marsrl", size=0) as made:
        assert made.take(attempt("a", 1, *turns)) == []
        assert made.close_problem("p", under="a/") == ["00000000.parquet"]
        assert made.take(attempt("b", 0, said(0.0, group="p"))) == []
        assert made.close_problem("p") == ["00000001.parquet"]
    assert [{row.role for row in rows} for rows in shards(tmp_path)] == [{"verifier"}, {"solver"}]


def test_a_producer_that_begins_again_writes_no_group_twice(tmp_path: Path) -> None:
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
    assert (told(tmp_path)["complete"], told(tmp_path)["rows"], told(tmp_path)["late"]) == (2, 4, 1)


def test_a_problem_that_is_played_again_is_another_group(tmp_path: Path) -> None:
    with producer(tmp_path) as made:
        for visit in ("1", "2"):
            for one in (attempt("a", 1), attempt("b", 0)):
                made.take(one, visit=visit)
    assert [[row.group_id for row in rows] for rows in shards(tmp_path)] == [["p#1", "p#1"], ["p#2", "p#2"]]


def test_groups_that_teach_nothing_are_counted_and_not_written(tmp_path: Path) -> None:
    with producer(tmp_path) as made:
        assert [made.take(attempt(name, 1)) for name in "ab"] == [[], []]
    assert shards(tmp_path) == []
    assert told(tmp_path)["silent"] == 1


def test_a_verifier_that_flags_everything_is_told_of_though_its_groups_teach_nothing(tmp_path: Path) -> None:
    """Both verdicts flag a wrong solution: they are right, alike, and no row; on a right one they differ."""

    def verdict(group: str, passed: bool, reward: float) -> Turn:
        return said(reward, role="verifier", group=group, passed=passed)

    alike = [verdict("a", False, 1.0), verdict("a", False, 1.0)]
    apart = [verdict("b", False, 0.0), verdict("b", True, 1.0)]
    with producer(tmp_path, "marsrl") as made:
        assert made.take(attempt("x", 0, *alike)) == []
        assert made.take(attempt("y", 1, *apart)) == ["00000000.parquet"]
        rates = {"role/verifier/found": [2, 2], "role/verifier/spared": [1, 2]}
        made.tell("running")
        assert told(tmp_path)["told"] == rates | {"role/verifier/silent": [1, 2]}
    with producer(tmp_path, "marsrl") as again:
        assert again.counts.told == {"role/verifier/spared": (1, 2), "role/verifier/silent": (0, 1)}, "as its shards have it"
        again.take(attempt("x", 0, *alike))
        again.tell("running")
        assert told(tmp_path)["told"] == rates | {"role/verifier/silent": [1, 2]}


def test_of_provers_the_worth_of_lemmas_and_rounds_without_one_are_told(tmp_path: Path) -> None:
    rounds = [said(kind="round", lemmas=("a",)), said(kind="round"), said(kind="answer")]
    with producer(tmp_path, "orealh") as made:
        made.take(attempt("x", 1, *rounds, votes=(4, 4), used=frozenset("a")))
        made.take(attempt("y", 0, *rounds[1:], votes=(0, 4)))
    assert told(tmp_path)["told"]["masked_rounds"] == [2, 3]
    assert told(tmp_path)["told"]["mean_value"] == [pytest.approx(log(251)), 1]


def test_rows_of_a_policy_too_far_behind_are_dropped_after_their_group_was_compared(tmp_path: Path) -> None:
    for version in ("7", ".8"):
        (tmp_path / "policy" / version).mkdir(parents=True)
    with producer(tmp_path, most_lag=5) as made:
        made.take(attempt("old", 0, said(policy_version=1)))
        made.take(attempt("new", 1, said(policy_version=2)))
        made.take(attempt("older", 0, said(policy_version=0), problem="q"))
        assert made.take(attempt("oldest", 1, said(policy_version=0), problem="q")) == []
    (rows,) = shards(tmp_path)
    assert [(row.trajectory_id, round(row.advantage or 0, 3)) for row in rows] == [("new", 0.707)]
    assert (told(tmp_path)["dropped"], told(tmp_path)["rows"], told(tmp_path)["policy"]) == (3, 1, 7)


@pytest.mark.parametrize(
    ("recipe", "group", "reason"),
    [
        ("turn_grpo", [attempt("a", float("nan")), attempt("b", 0)], "p, trajectories of p: .*nan"),
        ("orealh", [attempt("a", 1, votes=(4, 4)), attempt("b", 0, votes=(0, 8))], "p, trajectories of p: .*4.*8"),
        ("turn_grpo", [attempt("a", 1, said(logprobs=None)), attempt("b", 0)], "no log-probabilities"),
        ("marsrl", [attempt("a", 1, said(1.0)), attempt("b", 0)], "needs a reward and its group"),
    ],
    ids=["NaN", "mixed n", "no log-probabilities", "no group"],
)
def test_a_group_that_cannot_be_learned_from_stops_the_producer_with_nothing_of_it_written(
    tmp_path: Path, recipe: str, group: list[Trajectory], reason: str
) -> None:
    def feed() -> None:
        with producer(tmp_path, recipe) as made:
            for one in group:
                made.take(one)

    with pytest.raises(NotLearnable, match=reason):
        feed()
    assert list((tmp_path / "rows").iterdir()) == []
    assert told(tmp_path)["state"] == "failed"
    assert told(tmp_path)["message"]


def test_another_tokenizer_and_another_split_are_refused(tmp_path: Path) -> None:
    with producer(tmp_path, tokenizer="aaaa") as made:
        made.take(attempt("a", 1), tokenizer="aaaa")
        with pytest.raises(NotLearnable, match=r"another tokenizer \(bbbb…\) than the job's \(aaaa…\)"):
            made.take(attempt("b", 0), tokenizer="bbbb")
        with pytest.raises(Leak, match="belongs to the split “test”"):
            made.take(attempt("b", 0, split="test"))
    assert shards(tmp_path) == []


def test_a_stream_of_runs_of_its_own_holds_to_the_tokenizer_of_the_first(tmp_path: Path) -> None:
    with producer(tmp_path) as made:
        made.take(attempt("a", 1), tokenizer="aaaa")
        made.take(attempt("b", 0), tokenizer="aaaa")
    with producer(tmp_path) as again, pytest.raises(NotLearnable, match=r"another tokenizer \(bbbb…\) than what came before"):
        again.take(attempt("c", 1, problem="q"), tokenizer="bbbb")
    assert stream_facts(tmp_path / "rows" / "00000000.parquet")["tokenizer"] == "aaaa"


def test_a_folder_has_one_producer_and_an_ended_stream_none(tmp_path: Path) -> None:
    with producer(tmp_path) as made:
        with pytest.raises(NotLearnable, match="Another producer"):
            producer(tmp_path)
        made.end()
        with pytest.raises(NotLearnable, match="has ended"):
            made.take(attempt("a", 1))
    with pytest.raises(NotLearnable, match="has ended"):
        producer(tmp_path)
