"""The client writes notes and tags, forks from a place, and compares runs of a real server."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils.timezone import localdate
from lemmascope_client import Client, Invalid, NotAllowed, NotFound

from apps.problems.models import Problem
from tests.cast import person
from tests.client.conftest import Server
from tests.client.test_runs import START

Connect = Callable[..., Client]


def test_a_run_gets_notes_and_tags(connect: Connect, problem: Problem, server: Server) -> None:
    server.holds.set()
    client, bob = connect(), connect(person("bob"))
    run = client.start(problem.slug, **START)
    note = run.note("@bob, is this a *good* start? @none")
    assert note["unreached"] == ["none"]
    assert [one["text"] for one in bob.run(run.id).notes(is_open=True)] == [note["text"]]
    assert run.note_change(note["id"], text="Yes.", is_resolved=True)["text"] == "Yes."
    assert run.notes("run", is_open=True) == []
    with pytest.raises(NotAllowed, match="Only its author"):
        bob.run(run.id).note_change(note["id"], text="No.")
    with pytest.raises(Invalid, match="no such lemma, step or call"):
        run.note("Why?", "lemma", "s9.9")
    assert run.note_delete(note["id"])["id"] == note["id"]
    with pytest.raises(NotFound, match="was deleted"):
        run.note_delete(note["id"])
    assert run.tag("Best", "first try") == ["best", "first try"]
    assert run.untag("first try") == ["best"]
    assert [one["name"] for one in run.tags()] == ["best"]
    assert run.refresh().data["tags"] == ["best"]


def test_runs_are_listed_by_filters(connect: Connect, problem: Problem, server: Server) -> None:
    server.holds.set()
    client, other = connect(), connect(person("bob"))
    mine, bobs = client.start(problem.slug, **START), other.start(problem.slug, **START)
    mine.tag("best")
    assert [one["id"] for one in client.runs(sort="started")] == [mine.id, bobs.id]
    assert [one["id"] for one in client.runs(tag="best", model="served", outcome="live")] == [mine.id]
    assert [one["id"] for one in client.runs(owner="bob", since=localdate() - timedelta(days=1))] == [bobs.id]
    with pytest.raises(Invalid, match="sort: one of problem, outcome"):
        next(client.runs(sort="beauty"))


def test_a_fork_from_a_lemma_says_what_it_takes_over(connect: Connect, problem: Problem, server: Server) -> None:
    run = connect().start(problem.slug, **START).wait()
    server.holds.set()
    lemma = run.lemmas()[0]["lemma"]
    offers = run.fork_offers(lemma=lemma)
    taken = next(one for one in offers["changes"] if one["change"] == "without")["taken_over"]
    assert sum(one["calls"] for one in taken) > 0
    fork = run.fork_here("without", lemma=lemma)
    assert (fork.data["forked_from"], fork.data["spec"]["branch"]["change"]) == (run.id, "without")
    with pytest.raises(Invalid, match="text: Write the hint"):
        run.fork_here("hint", lemma=lemma)
    with pytest.raises(Invalid, match="exactly one of event, call and lemma"):
        run.fork_offers()


def test_runs_are_compared_as_frames_and_people_decide(connect: Connect, problem: Problem) -> None:
    client = connect()
    run = client.start(problem.slug, **START).wait()
    fork = run.fork(budget={"tokens": 1_000_000}).wait()
    found = client.comparison([run, fork.id])
    runs = found.runs_frame()
    assert list(runs.index) == ["A", "B"]
    assert list(runs["taken_over"]) == [0, run.data["calls"]]
    assert set(found.costs_frame()["letter"]) == {"A"}
    lemmas = found.lemmas_frame()
    assert set(lemmas["list"]) == {"same"}
    assert lemmas.groupby("row")["letter"].apply(lambda one: {"A", "B"} <= set(one)).all()
    assert {node["change"] for node in found.difference()["nodes"]} == {"same"}
    row = lemmas[lemmas["row"] == 0]
    named = [f"{letter}/{row[row['letter'] == letter]['lemma'].iloc[0]}" for letter in "AB"]
    (decision,) = found.part(*named)
    assert set(found.lemmas_frame()["list"]) == {"same", "single"}
    found.withdraw(decision["id"])
    assert set(found.lemmas_frame()["list"]) == {"same"}
    assert len(found.join(*named)) == 1
    with pytest.raises(ValueError, match="No run has the letter 'C'"):
        found.join("C/s0.1", named[0])
    with pytest.raises(NotAllowed, match="only of runs that you may steer"):
        connect(person("bob")).comparison([run, fork]).part(*named)
