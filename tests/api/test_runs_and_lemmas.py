"""Runs, their lemmas and their lemma graph over the API."""

from apps.accounts.models import User
from apps.lemmas.models import Lemma
from apps.runs.models import Run
from tests.api.conftest import Ask


def test_the_list_of_runs_is_filtered(ask: Ask, run: Run, bob: User) -> None:
    assert [row["id"] for row in ask(bob, "runs", status="finished").json()["items"]] == [str(run.public_id)]
    assert ask(bob, "runs", status="running").json()["items"] == []
    assert ask(bob, "runs", q="primes", topic="N", scaffold="intern_s1_mo").json()["total"] == 1


def test_a_run_includes_its_specification(ask: Ask, run: Run, alice: User) -> None:
    found = ask(alice, f"runs/{run.public_id}").json()
    assert (found["problem"], found["problem_version"], found["owner"]) == ("two-squares", 2, "alice")
    assert (found["spec"], found["completion_tokens"], found["outcome"]) == ({"seed": 7}, 1234, None)


def test_an_unscored_lemma_has_a_reason_instead_of_a_confidence(ask: Ask, run: Run, alice: User) -> None:
    shared = {"run": run, "rollout": 0, "round": 1, "statement": "$-1$ is a square.", "last_seq": 2}
    Lemma.objects.create(lemma="s0.1", number=1, first_seq=2, confidence=0.75, steps=["Wilson."], **shared)
    Lemma.objects.create(lemma="s0.2", number=2, first_seq=3, unscored="no vote could be read", **shared)
    scored, unscored = ask(alice, f"runs/{run.public_id}/lemmas").json()["items"]
    assert (scored["lemma"], scored["confidence"], scored["steps"], scored["label"]) == ("s0.1", 0.75, ["Wilson."], "1")
    assert (unscored["confidence"], unscored["unscored"]) == (None, "no vote could be read")


def test_the_graph_holds_the_problem_and_the_lemmas(ask: Ask, run: Run, alice: User) -> None:
    Lemma.objects.create(run=run, lemma="s0.1", number=1, rollout=0, round=1, statement="A.", first_seq=2, last_seq=2)
    graph = ask(alice, f"runs/{run.public_id}/graph").json()
    assert [node["id"] for node in graph["nodes"]] == ["problem", "s0.1"]
    assert ask(alice, f"runs/{run.public_id}/graph", since=5).json()["nodes"] == []
