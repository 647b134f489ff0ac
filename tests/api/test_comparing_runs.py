"""Comparisons and decisions on pairs of lemmas over the API: the rules of the page."""

import uuid
from typing import Any

import pytest

from apps.accounts.models import User
from apps.contests.models import ContestState
from apps.lemmas.pairs.models import LemmaPair
from apps.problems.models import Problem, ProblemVersion
from apps.runs.models import Run
from tests.api.conftest import Ask
from tests.contests.factory import make_contest
from tests.explorations.factory import make_exploration
from tests.explorations.test_runs_side_by_side import ids, lemma
from tests.lemmas.factory import make_run


@pytest.fixture
def pair(alice: User) -> tuple[Run, Run]:
    one, other = make_run(), make_run()
    Run.objects.update(owner=alice)
    lemma(one, "s0.1", "Every square is $0$ or $1$ modulo $4$.")
    lemma(other, "s0.7", "Every square is $0$ or $1$ modulo $4$")
    lemma(one, "s0.2", "For odd $m$ we have $8 \\mid m^2 - 1$.")
    lemma(other, "s0.8", "For odd $n$ we have $8 \\mid n^2 - 1$.", "rejected")
    lemma(other, "s0.9", "There are infinitely many primes.")
    return one, other


def names(rows: list[dict[str, Any]]) -> list[list[str]]:
    return [[f"{one['letter']}/{one['lemma']}" for one in row["lemmas"]] for row in rows]


def body(pair: tuple[Run, Run], *lemmas: str, say: str = "same") -> dict[str, Any]:
    named = [one.partition("/") for one in lemmas]
    return {"say": say, "lemmas": [{"run": str(pair["AB".index(at)].public_id), "lemma": name} for at, _, name in named]}


def test_lemmas_are_in_three_lists(pair: tuple[Run, Run], ask: Ask, alice: User) -> None:
    found = ask(alice, "runs/compare", **ids(*pair)).json()
    lists = (found[name] for name in ("disagree", "same", "single"))
    assert [names(rows) for rows in lists] == [[["A/s0.2", "B/s0.8"]], [["A/s0.1", "B/s0.7"]], [["B/s0.9"]]]
    assert found["disagree"][0]["how"] == "up to names of variables"
    assert [one["verdict"] for one in found["disagree"][0]["lemmas"]] == ["verified", "rejected"]
    assert (found["may_decide"], found["decisions"]) == (True, [])


def test_outcomes_and_costs_are_those_of_the_page(ask: Ask, alice: User) -> None:
    run, fork = make_exploration(alice), make_exploration(alice)
    Run.objects.filter(pk=fork.pk).update(forked_from=run)
    fork.steps.filter(role="reasoner").update(attempt=0)
    found = ask(alice, "runs/compare", **ids(run, fork)).json()
    assert found["problem"] == run.problem_version.problem.slug
    first, second = found["runs"]
    assert (first["letter"], first["run"], first["state"]) == ("A", str(run.public_id), "accepted")
    assert first["lemmas"]["verified"] == 9
    costs = {one["role"]: one for one in first["costs"]}
    assert (costs["Reason"]["calls"], costs["Reason"]["tokens"], costs["Reason"]["money"]) == (7, 8988, None)
    assert first["cost"]["calls"] == sum(one["calls"] for one in costs.values())
    assert (first["taken_over"], second["taken_over"]) == (0, 7)
    assert "Reason" not in {one["role"] for one in second["costs"]}


def test_the_difference_of_two_runs_is_one_graph(ask: Ask, alice: User) -> None:
    runs = [make_exploration(alice), make_exploration(alice)]
    found = ask(alice, "runs/difference", **ids(*runs)).json()
    assert {node["change"] for node in found["nodes"]} == {"same"}
    refused = ask(alice, "runs/difference", **ids(*runs, make_exploration(alice)))
    assert (refused.status_code, refused.json()["detail"]) == (
        422, "A difference is of two runs: name two, the earlier one first.",
    )  # fmt: skip


def test_runs_that_cannot_be_compared_are_refused(pair: tuple[Run, Run], ask: Ask, alice: User) -> None:
    problem = Problem.objects.create(slug="another", title="Another")
    other = make_run()
    other.problem_version = ProblemVersion.objects.create(problem=problem, number=1, statement="Another.")
    other.save()
    advice = " Name two to four runs of one problem."
    for runs, status, words in (
        ([], 422, "No run is chosen."),
        (pair[:1], 422, "One run alone cannot be compared."),
        ([pair[0], other], 422, "The runs are on different problems, so their lemmas cannot be compared."),
    ):
        answer = ask(alice, "runs/compare", **ids(*runs))
        assert (answer.status_code, answer.json()["detail"]) == (status, words + advice)
    hidden = ask(alice, "runs/compare", run=[str(pair[0].public_id), str(uuid.uuid4())])
    assert (hidden.status_code, hidden.json()["detail"]) == (
        404, f"One of the runs does not exist, or you may not see it.{advice}",
    )  # fmt: skip
    assert ask(alice, "runs/compare", run="s0.1").status_code == 422


def test_a_student_and_a_coach_from_whom_the_problem_is_held_back_compare_nothing(
    pair: tuple[Run, Run], ask: Ask, bob: User, charlie: User, dana: User
) -> None:
    assert ask(bob, "runs/compare", **ids(*pair)).status_code == 200
    make_contest(dana, pair[0].problem_version.problem, state=ContestState.OPEN)
    assert ask(bob, "runs/compare", **ids(*pair)).status_code == 404
    assert ask(charlie, "runs/compare", **ids(*pair)).status_code == 404


def test_people_join_and_part_lemmas_and_withdraw(pair: tuple[Run, Run], ask: Ask, send: Ask, alice: User) -> None:
    joined = send(alice, "lemma-pairs", body(pair, "A/s0.1", "B/s0.9"))
    assert joined.status_code == 201
    (decision,) = joined.json()["items"]
    assert ([one["lemma"] for one in decision["lemmas"]], decision["is_same"], decision["by"]) == (
        ["s0.1", "s0.9"],
        True,
        "alice",
    )
    send(alice, "lemma-pairs", body(pair, "A/s0.1", "B/s0.7", say="differ"))
    found = ask(alice, "runs/compare", **ids(*pair)).json()
    assert names(found["same"]) == [["A/s0.1", "B/s0.9"]]
    assert names(found["single"]) == [["B/s0.7"]]
    assert len(found["decisions"]) == 2
    withdrawn = [send(alice, f"lemma-pairs/{decision['id']}", method="delete", key="a") for _ in range(2)]
    assert [one.json() for one in withdrawn] == [decision, decision]
    gone = send(alice, f"lemma-pairs/{decision['id']}", method="delete")
    assert (gone.status_code, "does not exist any more" in gone.json()["detail"]) == (404, True)


def test_a_decision_sent_again_is_made_once(pair: tuple[Run, Run], send: Ask, alice: User) -> None:
    first, again = (send(alice, "lemma-pairs", body(pair, "A/s0.1", "B/s0.9"), key="a").json() for _ in range(2))
    assert first == again
    assert LemmaPair.objects.count() == 1


def test_only_who_may_steer_all_runs_decides(pair: tuple[Run, Run], send: Ask, alice: User, bob: User, charlie: User) -> None:
    sent = body(pair, "A/s0.1", "B/s0.9")
    refused = send(bob, "lemma-pairs", sent)
    assert (refused.status_code, "Ask a researcher." in refused.json()["detail"]) == (403, True)
    assert send(charlie, "lemma-pairs", sent).status_code == 404
    send(alice, "lemma-pairs", sent)
    assert send(bob, f"lemma-pairs/{LemmaPair.objects.get().pk}", method="delete").status_code == 403
    assert send(charlie, f"lemma-pairs/{LemmaPair.objects.get().pk}", method="delete").status_code == 404
    assert LemmaPair.objects.count() == 1


@pytest.mark.parametrize(
    ("lemmas", "words"),
    [
        (["A/s0.1"], "Choose at least two lemmas"),
        (["A/s0.1", "B/s9.9"], "has no lemma s9.9"),
        ([f"A/s0.{n}" for n in range(13)], "lemmas: List should have at most 12 items"),
    ],
)
def test_an_unusable_decision_is_refused(lemmas: list[str], words: str, pair: tuple[Run, Run], send: Ask, alice: User) -> None:
    answer = send(alice, "lemma-pairs", body(pair, *lemmas))
    assert (answer.status_code, words in answer.json()["detail"]) == (422, True)
    assert not LemmaPair.objects.exists()
