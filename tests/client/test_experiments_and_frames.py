"""Experiments and data frames of the client, from a real server."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas
import pytest
from lemmascope_client import Client, Conflict, Invalid, NotAllowed, NotFound, frames
from lemmascope_client.events import event_of

from apps.experiments.models import Experiment
from apps.problems.models import Problem
from tests.cast import person
from tests.client.test_runs import START

Connect = Callable[..., Client]
MANIFEST: dict[str, Any] = {
    "title": "Sums",
    "problems": {"set": "sums@1"},
    "methods": [{"name": "single", "scaffold": "single_call"}],
    "teams": [{"name": "served", "roles": {"": "served"}}],
    "scorers": [{"name": "answer", "kind": "answer"}],
}
TOML = """
title = "Sums"
[problems]
set = "sums@1"
[[methods]]
name = "single"
scaffold = "single_call"
[[teams]]
name = "served"
roles = { "" = "served" }
[[scorers]]
name = "answer"
kind = "answer"
"""


def test_an_experiment_is_planned_started_and_read_as_frames(connect: Connect, problem: Problem, tmp_path: Path) -> None:
    (tmp_path / "sums.toml").write_text(TOML)
    client = connect()
    experiment = client.start_experiment(tmp_path / "sums.toml", planned=True)
    assert (experiment.state, experiment.data["cells"], experiment.data["cells_ended"]) == ("planned", 2, 0)
    assert experiment.table()["rows"][0]["tokens"] is None
    assert experiment.start().state == "running"
    assert experiment.wait(poll_s=0.1).state == "done"
    cells = experiment.cells_frame()
    assert list(cells["state"]) == ["finished", "finished"]
    assert list(experiment.scores_frame()["share"]) == [1.0, 0.0]
    (row,) = experiment.table_frame().to_dict("records")
    assert (row["method"], row["mean"], row["scored"]) == ("single", 0.5, 2)
    assert row["tokens"] > 0
    assert [one["title"] for one in client.experiments()] == ["Sums"]


def test_an_experiment_is_paused_and_steered_only_by_those_who_may(connect: Connect, problem: Problem) -> None:
    experiment = connect().start_experiment(MANIFEST, planned=True)
    other = connect(person("bob")).experiment(experiment.id)
    with pytest.raises(NotAllowed, match="Only the owner of an experiment"):
        other.start()
    with pytest.raises(NotAllowed, match="may only read"):
        connect(may_write=False).experiment(experiment.id).start()
    with pytest.raises(Conflict, match="Only a running experiment can be paused"):
        experiment.pause()
    with pytest.raises(NotFound):
        connect(person("charlie")).experiment(experiment.id)


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"titel": "x"}, Invalid, r"titel: there is no such field\. Similar: title\."),
        ({"problems": {"set": "none@1"}}, Conflict, "There is no problem set none@1"),
        ({"teams": [{"name": "t", "roles": {"": "gpt"}}]}, Conflict, "no enabled model has this name"),
        ({"methods": [{"name": "m", "scaffold": "dance"}]}, Conflict, "The method m cannot run"),
    ],
)
def test_a_wrong_manifest_is_refused(
    changes: dict[str, Any], error: type[Exception], words: str, connect: Connect, problem: Problem
) -> None:
    with pytest.raises(error, match=words):
        connect().start_experiment(MANIFEST | changes)
    assert not Experiment.objects.exists()


def test_a_table_by_an_unknown_scorer_is_refused_with_the_known_ones(connect: Connect, problem: Problem) -> None:
    experiment = connect().start_experiment(MANIFEST, planned=True)
    with pytest.raises(Conflict, match=r"no scorer taste\. Choose from: answer\."):
        experiment.table("taste")


def test_a_run_is_read_as_frames_and_compared_with_its_fork(connect: Connect, problem: Problem) -> None:
    client = connect()
    run = client.start(problem.slug, **START).wait()
    lemmas, calls, recorded = run.lemmas_frame(), run.calls_frame(), run.events_frame("run.created")
    assert len(lemmas) == len(run.lemmas()) > 3
    assert set(calls["state"]) == {"ended"}
    assert calls["completion_tokens"].sum() == run.data["completion_tokens"]
    assert list(recorded["kind"]) == ["run.created"]
    fork = run.fork().wait()
    assert set(fork.calls_frame()["inherited"]) == {True}
    table = client.compare([run, fork.id])
    assert list(table.index) == [run.id, fork.id]
    assert list(table["lemmas"]) == [len(lemmas)] * 2
    assert (list(table["accepted"]), table.loc[fork.id, "calls"]) == ([True, True], 0)
    assert [row["id"] for row in client.runs(status="finished")] == [fork.id, run.id]
    assert problem.slug in {row["slug"] for row in client.problems()}


def test_a_call_that_has_not_ended_has_no_tokens_and_a_failed_one_a_reason() -> None:
    began = {"role": "reasoner", "alias": "small", "rollout": 0, "round": 1, "subject": "", "index": 0}
    rows = [("call.began", {"call": one, **began}) for one in ("a", "b")]
    rows.append(("call.failed", {"call": "b", "reason": "It was stopped.", "attempt": 2}))
    at = "2026-01-01T00:00:00+00:00"
    found = [{"seq": n, "key": "", "kind": kind, "at": at, "body": body} for n, (kind, body) in enumerate(rows, 1)]
    table = frames.calls_frame(map(event_of, found))
    assert list(table["state"]) == ["running", "failed"]
    assert table["completion_tokens"].isna().all()
    assert (table["reason"][1], table["attempt"][1]) == ("It was stopped.", 2)


def test_without_pandas_the_frames_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(frames.frame([]), pandas.DataFrame)
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install"):
        frames.frame([])
