"""What the graph's data says about the story's run."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from apps.accounts.models import Role
from apps.lemmas.graph_data import GraphData, GraphEdge, GraphNode
from apps.lemmas.selectors import graph_data
from apps.reasoning.domain import control as cv
from apps.reasoning.domain import events as ev
from apps.runs.models import Run, RunStatus
from tests.lemmas.factory import make_run, make_story_run, make_user, stored, write_events
from tests.lemmas.story import story

pytestmark = pytest.mark.django_db
DOCUMENT = Path(__file__).resolve().parents[2] / "docs/graph_data.md"
ANCHOR = ev.TextAnchor(where="step 1", start=0, end=1, quote="x")


#: Fields of a lemma's event that are no field of its node: its id, what decides its kind, and its proof, which is long.
NOT_ON_A_NODE = {"title", "lemma", "origin", "steps"}


def node(run: Run, name: str) -> GraphNode:
    return next(node for node in graph_data(run)["nodes"] if node["id"] == name)


def test_a_node_has_the_fields_of_its_lemmas_event() -> None:
    missing = set(ev.LemmaProposed.model_fields) - set(GraphNode.__annotations__) - NOT_ON_A_NODE
    assert missing == set(), "add them to GraphNode and _PLAIN in apps/lemmas/graph_data.py, or to NOT_ON_A_NODE"
    run = make_story_run()
    for event in (event for _, event in story() if isinstance(event, ev.LemmaProposed)):
        for name in set(ev.LemmaProposed.model_fields) - NOT_ON_A_NODE - {"statement"}:
            assert node(run, event.lemma)[name] == getattr(event, name), name  # type: ignore[literal-required]


def test_every_field_is_explained_in_the_documents() -> None:
    explained = set(re.findall(r"`(\w+)`", DOCUMENT.read_text()))
    fields = {name for shape in (GraphNode, GraphEdge, GraphData) for name in shape.__annotations__}
    assert fields - explained == set(), "add them to docs/graph_data.md"


def test_what_the_selected_proof_rests_on_contributes() -> None:
    data = graph_data(make_story_run())
    assert set(data["contributing"]) == {
        "proof/2", "s0.10-fixed", "s1.11", "s0.1", "s0.7", "s0.8", "s0.2", "s0.6", "s0.3", "s1.5"
    }  # fmt: skip


def test_without_a_selected_proof_nothing_contributes() -> None:
    run = make_story_run(story()[:-2])
    assert graph_data(run)["contributing"] == []


def test_an_edge_that_a_longer_way_implies_is_redundant() -> None:
    lemmas = [ev.LemmaProposed(lemma=name, number=1, rollout=0, round=1, statement=name, steps=("x",)) for name in "abc"]
    edges = [ev.EdgeAdded(user=user, used=used, evidence=ANCHOR) for user, used in ("ba", "cb", "ca")]
    data = graph_data(make_story_run([(str(i), event) for i, event in enumerate([*lemmas, *edges])]))
    assert data["redundant"] == ["uses:a>c"]


def test_uses_that_run_in_a_circle_do_not_break_the_graph() -> None:
    lemmas = [ev.LemmaProposed(lemma=name, number=1, rollout=0, round=1, statement=name, steps=("x",)) for name in "ab"]
    edges = [ev.EdgeAdded(user=user, used=used, evidence=ANCHOR) for user, used in ("ba", "ab", "aa")]
    data = graph_data(make_story_run([(str(i), event) for i, event in enumerate([*lemmas, *edges])]))
    assert [edge["id"] for edge in data["edges"]] == ["uses:a>b"]


def test_a_persons_verdict_and_rediscovery_are_on_the_node() -> None:
    run = make_story_run()
    assert (node(run, "s0.7")["human"], node(run, "s1.9")["human"], node(run, "s0.1")["human"]) == ("accepted", "rejected", "")
    assert node(run, "s0.2")["found_by"] == 2


def test_people_who_differ_dispute() -> None:
    run = make_story_run()
    asked = cv.ControlRequested(command="c9", name="reject_lemma", by="Ben", args={"lemma": "s0.7"})
    applied = cv.ControlApplied(command="c9", name="reject_lemma", point="p")
    write_events(run, stored([("c9", asked), ("c9a", applied)], start=run.last_seq + 1))
    assert node(run, "s0.7")["human"] == "disputed"


def test_the_frontier_is_what_no_live_lemma_uses() -> None:
    assert graph_data(make_story_run())["frontier"] == ["s0.10-fixed", "s1.11", "s1.12"]


def test_after_an_event_only_what_changed_comes_with_whole_lists() -> None:
    run = make_story_run(story()[:-40])
    before = run.last_seq
    write_events(run, stored(story()[-40:], start=before + 1))
    data, whole = graph_data(run, before), graph_data(run)
    assert 0 < len(data["nodes"]) < len(whole["nodes"])
    assert all(row["seq"] > before for row in data["nodes"])
    assert (data["contributing"], data["frontier"]) == (whole["contributing"], whole["frontier"])


def test_pieces_after_each_event_add_up_to_the_whole() -> None:
    run, stored_events = make_run(), stored(story())
    nodes: dict[str, dict[str, Any]] = {}
    edges: dict[str, dict[str, Any]] = {}
    seq = 0
    for start in range(0, len(stored_events), 7):
        write_events(run, stored_events[start : start + 7])
        data = graph_data(run, seq)
        nodes |= {row["id"]: dict(row) for row in data["nodes"]}
        edges |= {row["id"]: dict(row) for row in data["edges"]}
        seq = data["seq"]
    whole = graph_data(run)
    changing = {"contributes", "redundant", "round"}
    now = [dict(row) for row in whole["nodes"]] + [dict(row) for row in whole["edges"]]
    kept = nodes | edges
    assert {row["id"] for row in now} == set(kept)
    for row in now:
        mine = {key: value for key, value in kept[str(row["id"])].items() if key not in changing}
        assert mine == {key: value for key, value in row.items() if key not in changing}


def test_an_unchanged_graph_is_not_sent_again(client: Client) -> None:
    run = make_story_run()
    client.force_login(make_user("ada"))
    address = f"/runs/{run.public_id}/graph.json"
    etag = client.get(address).headers["ETag"]
    assert client.get(address, headers={"If-None-Match": etag}).status_code == 304
    write_events(run, stored([("x", ev.LemmaRestored(lemma="s0.10", reason="r"))], start=run.last_seq + 1))
    assert client.get(address, headers={"If-None-Match": etag}).status_code == 200


def test_a_coach_reads_the_graph_and_a_student_gets_404(client: Client) -> None:
    run = make_story_run(status=RunStatus.RUNNING)
    address = f"/runs/{run.public_id}/graph.json"
    client.force_login(make_user("coach", Role.COACH))
    answer = client.get(address, {"after": "nonsense"}).json()
    assert (answer["live"], len(answer["nodes"])) == (True, 16)
    assert len(client.get(address, {"after": "9" * 5000}).json()["nodes"]) == 16
    client.force_login(make_user("student", Role.STUDENT))
    assert client.get(address).status_code == 404
