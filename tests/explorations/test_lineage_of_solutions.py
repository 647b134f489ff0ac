"""The lineage of solutions: who was made from whom, the knock-out below it, what the result comes from, and its outline."""

import re
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.explorations.candidates.lineage import LineageData, lineage_data
from apps.explorations.candidates.lineage_levels import has_lineage, lineage_levels
from apps.reasoning.domain.agent_events import MemoryStored
from apps.reasoning.domain.candidate_events import (
    CandidateDrafted,
    CandidateJudged,
    CandidateScored,
    PairDecided,
    PoolKept,
    ScoreDropped,
)
from apps.reasoning.domain.event_base import Event
from apps.reasoning.domain.events import ProofDrafted, ProofSelected
from apps.runs.models import Run, RunStatus
from tests.explorations.factory import add_event
from tests.runs.factory import make_run

pytestmark = pytest.mark.django_db


def lineage_after(run: Run, *events: Event) -> LineageData:
    """The lineage after these events."""
    for number, event in enumerate(events):
        add_event(run, f"{event.kind}/{run.last_seq}/{number}", event)
    return lineage_data(run)


def drafted(name: str, *parents: str, text: str = "") -> CandidateDrafted:
    made_as = "aggregate" if parents else "solution"
    text = text or f"Text of {name}. " + "x" * 300
    round_ = int(name[1:].partition(".")[0])
    return CandidateDrafted.model_validate(
        {"candidate": name, "made_as": made_as, "text": text, "steps": [text], "call": f"call/{name}", "round": round_,
         "parents": parents}
    )  # fmt: skip


def scored(name: str, index: int, score: float | None) -> CandidateScored:
    unscored = "" if score is not None else "no mark"
    return CandidateScored(candidate=name, index=index, of=3, call="x", scale=1, score=score, unscored=unscored)


@pytest.fixture
def run() -> Run:
    return make_run(scaffold="rsa")


def nodes(data: LineageData) -> dict[str, object]:
    return {node["id"]: node for node in data["nodes"]}


def edges(data: LineageData, kind: str = "uses") -> set[tuple[str, str]]:
    return {(edge["source"], edge["target"]) for edge in data["edges"] if edge["kind"] == kind}


def test_lines_lead_from_parents_to_children(run: Run) -> None:
    data = lineage_after(
        run, drafted("c1.1"), drafted("c1.2"), drafted("c2.1", "c1.1", "c1.2"), drafted("c2.2", "c1.2", "missing")
    )
    assert edges(data) == {("c1.1", "c2.1"), ("c1.2", "c2.1"), ("c1.2", "c2.2")}
    assert data["frontier"] == ["c2.1", "c2.2"]
    assert data["rounds"] == 2


def test_only_the_beginning_of_a_text_is_sent(run: Run) -> None:
    node = next(node for node in lineage_after(run, drafted("c1.1"))["nodes"] if node["id"] == "c1.1")
    assert node["statement"].startswith("Text of c1.1.")
    assert len(node["statement"]) == 160


def test_scores_and_checks_become_fill_ring_and_words(run: Run) -> None:
    data = lineage_after(
        run, drafted("c1.1"), drafted("c1.2"), drafted("c1.3"),
        scored("c1.1", 1, 1), scored("c1.1", 2, 0.5), scored("c1.1", 3, None), scored("c1.2", 1, 0),
        ScoreDropped(candidate="c1.2", index=1, call="x", reason="unfounded"),
        CandidateJudged(candidate="c1.3", index=1, call="x", passed=True, passes=1, failures=0),
        CandidateJudged(candidate="c1.3", index=2, call="x", passed=False, passes=0, failures=1),
        CandidateJudged(candidate="c1.3", index=3, call="x", passed=None, unscored="no decision", passes=0, failures=0),
        CandidateJudged(candidate="missing", index=1, call="x", passed=True, passes=1, failures=0),
        PoolKept(round=1, kept=("c1.1",), means={"c1.1": 0.75}, reason="best"),
    )  # fmt: skip
    by_name = {node["id"]: node for node in data["nodes"]}
    first = by_name["c1.1"]
    assert (first["confidence"], first["passes"], first["valid"], first["total"], first["expected"]) == (0.75, 1, 2, 3, 3)
    assert (first["words"], first["status"]) == ("mean 0.75 of 1, 2 reports, 1 not read", "kept")
    assert by_name["c1.2"]["confidence"] is None
    assert (by_name["c1.3"]["confidence"], by_name["c1.3"]["words"]) == (0.5, "1 of 2 checks passed, 1 not read")


def test_a_knock_out_is_drawn_below_with_winners_and_losers(run: Run) -> None:
    data = lineage_after(
        run, *(drafted(f"c1.{number}") for number in (1, 2, 3, 4)),
        PairDecided(round=1, pair=("c1.1", "c1.2"), winner="c1.2", by="both orders"),
        PairDecided(round=1, pair=("c1.3", "c1.4"), winner="c1.3", by="seed"),
        PairDecided(round=2, pair=("c1.2", "c1.3"), winner="c1.2", by="score"),
    )  # fmt: skip
    final = "pair/2/c1.2/c1.3"
    assert ("pair/1/c1.1/c1.2", final) in edges(data)
    assert ("pair/1/c1.3/c1.4", final) in edges(data, "loses")
    assert [node["round"] for node in data["nodes"] if node["kind"] == "pair"] == [2, 2, 3]


def test_the_result_comes_from_its_ancestors_and_not_from_what_it_beat(run: Run) -> None:
    data = lineage_after(
        run, drafted("c1.1"), drafted("c1.2"), drafted("c2.1", "c1.1"), drafted("c2.2", "c1.2"),
        PairDecided(round=1, pair=("c2.1", "c2.2"), winner="c2.1", by="score"),
    )  # fmt: skip
    assert data["contributing"] == []
    text = run.events.get(kind="candidate.drafted", body__candidate="c2.1").body["text"]
    data = lineage_after(
        run,
        ProofDrafted(proof="proof/1", text=text, steps=(text,), call="", rollout=0),
        ProofSelected(proof="proof/1", accepted=False, reason="won"),
    )
    assert data["contributing"] == ["c1.1", "c2.1", "pair/1/c2.1/c2.2"]
    assert data["selected_proof"] == "c2.1"


def remembered(name: str, round_: int, correct: bool | None, ayes: int, valid: int) -> MemoryStored:
    fields = {"condensed": "x", "condensed_by": "", "judgement": "", "judged_by": "", "of": valid}
    return MemoryStored.model_validate(
        {"candidate": name, "round": round_, "correct": correct, "ayes": ayes, "valid": valid, **fields}
    )


def test_what_is_remembered_meets_in_a_node_that_the_next_round_is_shown() -> None:
    run = make_run(scaffold="alpha_apollo", params={"mode": "evolution"})
    data = lineage_after(
        run, drafted("c1.1"), drafted("c1.2"), remembered("c1.1", 1, True, 3, 4), remembered("c1.2", 1, None, 0, 0),
        PoolKept(round=1, kept=("c1.1", "c1.2"), means={}, reason="remembered"),
        drafted("c2.1", "c1.1", "c1.2"), drafted("c2.2"),
    )  # fmt: skip
    assert edges(data) == {
        ("c1.1", "memory/1"), ("c1.2", "memory/1"), ("memory/1", "c2.1"), ("c1.1", "c2.1"), ("c1.2", "c2.1")
    }  # fmt: skip
    assert data["redundant"] == ["c2.1<c1.1", "c2.1<c1.2"]
    by_name = {node["id"]: node for node in data["nodes"]}
    assert by_name["c1.1"]["words"] == "judged correct, 3 of 4"
    assert by_name["memory/1"]["words"] == "2 remembered after round 1"
    assert by_name["memory/1"]["statement"] == "c1.1: judged correct, 3 of 4; c1.2: no report could be read"
    assert [level.title for level in lineage_levels(data)] == ["Round 1", "Memory after round 1", "Round 2"]
    assert has_lineage(run, data)


def test_a_pool_of_which_nothing_is_remembered_has_no_memory(run: Run) -> None:
    data = lineage_after(
        run, drafted("c1.1"), PoolKept(round=1, kept=("c1.1",), means={}, reason="best"), drafted("c2.1", "c1.1")
    )
    assert edges(data) == {("c1.1", "c2.1")}
    assert data["redundant"] == []


def test_one_conversation_without_rounds_is_not_drawn() -> None:
    run = make_run(scaffold="alpha_apollo", params={"mode": "reasoning"})
    assert not has_lineage(run, lineage_after(run, drafted("c1.1")))


def test_after_asks_for_what_changed(run: Run) -> None:
    lineage_after(run, drafted("c1.1"), drafted("c1.2"))
    seen = run.last_seq
    lineage_after(run, scored("c1.1", 1, 1), drafted("c2.1", "c1.2"))
    data = lineage_data(run, seen)
    assert [node["id"] for node in data["nodes"]] == ["c1.1", "c2.1"]
    assert [edge["id"] for edge in data["edges"]] == ["c2.1<c1.2"]


def test_the_outline_has_rounds_and_the_knock_out(run: Run) -> None:
    data = lineage_after(
        run, drafted("c1.1"), drafted("c1.2"), PairDecided(round=1, pair=("c1.1", "c1.2"), winner="c1.2", by="score")
    )
    assert [level.title for level in lineage_levels(data)] == ["Round 1", "Knock-out, round 1"]


def test_a_chain_of_corrections_is_not_drawn() -> None:
    chain = make_run(scaffold="self_check")
    data = lineage_after(chain, drafted("c1.1"), drafted("c2.1", "c1.1"), drafted("c3.1", "c2.1"))
    assert not has_lineage(chain, data)
    assert has_lineage(chain, lineage_after(chain, drafted("c3.2", "c2.1")))


def test_the_page_draws_it_and_its_parts_are_for_readers_of_runs(
    run: Run, client_for: Callable[[User | None], Client], alice: User, charlie: User
) -> None:
    Run.objects.filter(pk=run.pk).update(status=RunStatus.FINISHED)
    lineage_after(run, drafted("c1.1"), drafted("c2.1", "c1.1"))
    client = client_for(alice)
    page = client.get(reverse("explorations:run_detail", args=[run.public_id])).content.decode()
    assert 'data-noun="solution"' in page
    assert re.search(r'data-node="c2\.1" data-uses="c1\.1"', page)
    address = reverse("explorations:run_lineage", args=[run.public_id])
    assert len(client.get(address).json()["nodes"]) == 3
    assert client.get(address, headers={"If-None-Match": client.get(address)["ETag"]}).status_code == 304
    assert client_for(charlie).get(address).status_code == 404
