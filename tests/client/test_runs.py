"""The client starts, follows and steers runs of a real server; refusals are exceptions with the server's sentence."""

from collections.abc import Callable
from typing import Any

import pytest
from lemmascope_client import Client, Conflict, Invalid, NotAllowed, NotFound, NotSignedIn, TooMany

from apps.accounts import throttle
from apps.explorations.worked_example import PARAMS, SCAFFOLD
from apps.problems.models import Problem
from apps.runs.models import Run, RunCommand
from tests.cast import person
from tests.client.conftest import Server

START: dict[str, Any] = {"scaffold": SCAFFOLD, "preset": "quick", "params": PARAMS, "model": "served", "seed": 1}
Connect = Callable[..., Client]


def test_a_run_is_started_and_followed_to_its_end(connect: Connect, problem: Problem) -> None:
    run = connect().start(problem.slug, **START)
    assert run.status == "queued"
    events = list(run.follow())
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert (events[0].kind, run.status, run.is_live) == ("run.created", "finished", False)
    assert run.outcome is not None
    assert run.outcome["accepted"] is True
    assert [event.seq for event in run.events()] == [event.seq for event in events]


def test_a_later_reader_gets_the_rest(connect: Connect, problem: Problem) -> None:
    run = connect().start(problem.slug, **START).wait()
    last = run.data["last_seq"]
    assert [event.seq for event in run.follow(after=last - 2)] == [last - 1, last]
    with pytest.raises(Conflict, match="begin with after=0"):
        next(run.follow(after=last + 1))


def test_a_live_run_is_steered(connect: Connect, problem: Problem, server: Server) -> None:
    server.holds.set()
    run = connect().start(problem.slug, **START)
    run.hint("Look at residues modulo 16.")
    run.inject("$16$ divides $p^4-1$.", proof="Odd squares are $1$ modulo $8$.")
    run.pause()
    assert list(RunCommand.objects.values_list("name", flat=True)) == ["hint", "inject_lemma", "pause"]
    run.resume()
    server.holds.clear()
    run.wait()
    assert run.data["is_assisted"] is True
    assert any(event.kind == "control.applied" for event in run.events())
    with pytest.raises(Invalid, match="Fork it to continue"):
        run.pause()


def test_a_lemma_gets_a_persons_verdict_while_the_run_is_live(connect: Connect, problem: Problem, server: Server) -> None:
    run = connect().start(problem.slug, **START).wait()
    Run.objects.update(status="running")
    lemma = run.lemmas()[0]["lemma"]
    assert run.annotate(lemma, accepted=False, reason="Seen in class.")["name"] == "reject_lemma"
    with pytest.raises(NotFound, match="no such lemma"):
        run.annotate("s9.9", accepted=True)


def test_a_budget_is_extended_only_where_there_is_a_limit(connect: Connect, problem: Problem, server: Server) -> None:
    server.holds.set()
    run = connect().start(problem.slug, **START, budget={"calls": 3})
    run.extend(calls=100)
    assert run.refresh().data["budget"]["calls"] == 103
    with pytest.raises(Invalid, match="no limit of tokens"):
        run.extend(tokens=5)
    run.cancel()


def test_a_fork_takes_over_equal_calls(connect: Connect, problem: Problem) -> None:
    run = connect().start(problem.slug, **START).wait()
    fork = run.fork(budget={"tokens": 1_000_000}).wait()
    assert (fork.data["forked_from"], fork.data["calls"]) == (run.id, 0)
    assert fork.data["inherited_calls"] == run.data["calls"]


def test_refusals_are_exceptions_with_the_servers_sentence(connect: Connect, problem: Problem, server: Server) -> None:
    server.holds.set()
    client, reader = connect(), connect(may_write=False)
    with pytest.raises(Invalid, match="No enabled model is named gpt") as wrong:
        client.start(problem.slug, **START | {"model": "gpt"})
    assert wrong.value.errors[0]["loc"] == ["body", "model"]
    with pytest.raises(NotAllowed, match="may only read"):
        reader.start(problem.slug, **START)
    with pytest.raises(NotFound):
        client.run("00000000-0000-4000-8000-000000000000")
    with pytest.raises(NotSignedIn, match="Send a token"), Client(server.url, "lsc_wrong") as stranger:
        stranger.problem(problem.slug)
    run = client.start(problem.slug, **START)
    with pytest.raises(NotAllowed, match="Only the owner"):
        connect(person("bob")).run(run.id).pause()
    with pytest.raises(NotFound, match="no such run"):
        connect(person("charlie")).run(run.id)


def test_too_many_requests_are_an_exception_with_the_time_to_wait(
    connect: Connect, problem: Problem, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throttle, "WRITES", 1)
    server.holds.set()
    run = connect().start(problem.slug, **START)
    with pytest.raises(TooMany, match="Send this one again in") as refused:
        run.pause()
    assert refused.value.retry_after_s > 0


def test_without_a_token_the_client_says_where_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LEMMASCOPE_TOKEN", raising=False)
    with pytest.raises(ValueError, match="Your profile page creates tokens"):
        Client("http://127.0.0.1:9")
