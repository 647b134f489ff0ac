"""A merged lemma is represented by the lemma that says the same: in the graph, the panels, the exports and training data."""

from typing import Any

import pytest
from django.test import Client

from apps.datasets.recorded.recorded import recorded_of
from apps.datasets.recorded.rounds import rounds_of
from apps.lemmas.network import run_graph
from apps.lemmas.outline import outline
from apps.lemmas.selectors import graph_data, lemma_detail, proof_detail
from apps.reasoning.domain import events as ev
from apps.runs.models import Run
from tests.explorations.factory import record_calls
from tests.lemmas.factory import make_story_run, make_user, stored, write_events

pytestmark = pytest.mark.django_db

SAME = "Every square is $0$ or $1$ modulo $4$."


def proposed(lemma: str, round_: int = 1, statement: str = "") -> ev.LemmaProposed:
    return ev.LemmaProposed(
        lemma=lemma, number=int(lemma.split(".")[1]), rollout=int(lemma[1]), round=round_, statement=statement or lemma,
        steps=("By Lemma 5.",), call=f"s{lemma[1]}/r{round_}/summarise",
    )  # fmt: skip


def uses(user: str, used: str) -> ev.EdgeAdded:
    return ev.EdgeAdded(user=user, used=used, evidence=ev.TextAnchor(where="step 1", start=3, end=10, quote="Lemma 5"))


def verified(lemma: str) -> ev.VerdictReached:
    return ev.VerdictReached(subject=lemma, passes=4, valid=4, total=4, confidence=1.0, low=0.5, high=1.0, status="verified")


MERGED = ev.LemmaMerged(lemma="s0.5", into="s1.1", reason="equal")
#: The proof rests on s0.7, and s0.7 names s0.5, which says the same as s1.1. Each of the two has a proof of its own.
EVENTS: list[ev.Event] = [
    *[proposed(name) for name in ("s0.2", "s1.3")],
    proposed("s1.1", statement=SAME), proposed("s0.5", statement=SAME), proposed("s0.7", 2),
    uses("s0.5", "s0.2"), uses("s1.1", "s1.3"), uses("s0.7", "s0.5"),
    *[verified(name) for name in ("s0.2", "s1.3", "s1.1", "s0.5", "s0.7")],
    MERGED,
    ev.ProofDrafted(proof="proof/1", text="By Lemma 7.", steps=("By Lemma 7.",), call="final/proof/1", rollout=0),
    uses("proof/1", "s0.7"),
    ev.ProofSelected(proof="proof/1", accepted=True, reason="r"),
]  # fmt: skip


def run_of(events: list[ev.Event]) -> Run:
    return make_story_run([(str(number), event) for number, event in enumerate(events)])


def add(run: Run, *events: ev.Event) -> None:
    keyed = [(f"more/{run.last_seq}/{number}", event) for number, event in enumerate(events)]
    write_events(run, stored(keyed, start=run.last_seq + 1))


def edge(run: Run, name: str) -> Any:
    return next(edge for edge in graph_data(run)["edges"] if edge["id"] == name)


def test_the_proof_rests_on_the_representative_and_on_what_its_own_proof_uses() -> None:
    data = graph_data(run_of(EVENTS))
    assert data["contributing"] == ["proof/1", "s0.7", "s1.1", "s1.3"]
    drawn = {(edge["source"], edge["target"]) for edge in data["edges"] if edge["contributes"]}
    assert drawn == {("s0.7", "proof/1"), ("s1.1", "s0.7"), ("s1.3", "s1.1")}


def test_an_edge_keeps_its_id_and_the_name_in_the_text_when_the_lemma_is_merged() -> None:
    run = run_of([event for event in EVENTS if event is not MERGED])
    assert edge(run, "uses:s0.5>s0.7")["source"] == "s0.5"
    before = run.last_seq
    add(run, MERGED)
    (moved,) = [edge for edge in graph_data(run, before)["edges"] if edge["kind"] == "uses"]
    assert (moved["id"], moved["named"], moved["source"]) == ("uses:s0.5>s0.7", "s0.5", "s1.1")


def test_a_lemma_that_is_used_under_another_name_is_not_on_the_frontier() -> None:
    assert graph_data(run_of(EVENTS))["frontier"] == ["s0.2", "s0.7"]


def test_two_names_for_one_lemma_draw_one_edge() -> None:
    data = graph_data(run_of([*EVENTS[:-3], uses("s0.7", "s1.1"), *EVENTS[-3:]]))
    assert data["redundant"] == ["uses:s1.1>s0.7"]


def test_a_lemma_whose_representative_fell_is_represented_by_itself() -> None:
    run = run_of(EVENTS)
    before = run.last_seq
    add(run, ev.LemmaRetired(lemma="s1.1", reason="its proof uses s1.3, which a person rejected"))
    assert graph_data(run)["contributing"] == ["proof/1", "s0.2", "s0.5", "s0.7"]
    assert "uses:s0.5>s0.7" in {edge["id"] for edge in graph_data(run, before)["edges"]}


def test_a_lemma_that_never_held_leaves_its_edges_to_the_representative() -> None:
    """Merged on arrival: no vote on it, and its own proof counts for nothing."""
    unjudged = [event for event in EVENTS if not (isinstance(event, ev.VerdictReached) and event.subject == "s0.5")]
    run = run_of([*unjudged, ev.LemmaRetired(lemma="s1.1", reason="r")])
    assert edge(run, "uses:s0.5>s0.7")["source"] == "s1.1"


def test_lemmas_merged_one_after_the_other_lead_to_the_last() -> None:
    chain = [*EVENTS, proposed("s2.9", statement=SAME), verified("s2.9"), ev.LemmaMerged(lemma="s1.1", into="s2.9", reason="r")]
    run = run_of(chain)
    assert graph_data(run)["contributing"] == ["proof/1", "s0.7", "s2.9"]
    detail = lemma_detail(run, "s2.9")
    assert detail is not None
    assert [other.lemma for other in detail.merged] == ["s1.1", "s0.5"]
    assert [use.name for use in detail.used_by] == ["s0.7"]


def test_a_representative_that_would_close_a_circle_leaves_the_edge_at_the_named_lemma() -> None:
    run = run_of([*EVENTS[:-4], uses("s1.1", "s0.7"), *EVENTS[-4:]])
    assert edge(run, "uses:s0.5>s0.7")["source"] == "s0.5"
    assert graph_data(run)["contributing"] == ["proof/1", "s0.2", "s0.5", "s0.7"]


def test_used_by_names_the_heirs_with_the_name_in_their_texts(client: Client) -> None:
    run = run_of(EVENTS)
    detail = lemma_detail(run, "s1.1")
    assert detail is not None
    assert [(use.name, use.named) for use in detail.used_by] == [("s0.7", ["s0.5"])]
    user = lemma_detail(run, "s0.7")
    assert user is not None
    assert [(use.name, use.named) for use in user.uses] == [("s1.1", ["s0.5"])]
    twin = lemma_detail(run, "s0.5")
    assert twin is not None
    assert [(use.name, use.named) for use in twin.used_by] == [("s0.7", [])]
    client.force_login(make_user("ada"))
    assert "cited as s0.5" in client.get(f"/runs/{run.public_id}/lemmas/s1.1/").content.decode()
    assert "<h3>Cited by</h3>" in client.get(f"/runs/{run.public_id}/lemmas/s0.5/").content.decode()


def test_a_panel_of_before_the_merge_names_the_lemma_itself() -> None:
    run = run_of(EVENTS)
    merged_at = EVENTS.index(MERGED) + 1
    before, after = lemma_detail(run, "s0.7", merged_at - 1), lemma_detail(run, "s0.7", merged_at)
    assert before is not None
    assert after is not None
    assert [use.name for use in before.uses] == ["s0.5"]
    assert [use.name for use in after.uses] == ["s1.1"]


def test_a_proof_that_names_a_merged_lemma_uses_its_representative() -> None:
    run = run_of([*EVENTS[:-1], uses("proof/1", "s0.5"), EVENTS[-1]])
    detail = proof_detail(run, "1")
    assert detail is not None
    assert [use.name for use in detail.uses] == ["s0.7", "s1.1"]


def test_the_outline_leads_along_representatives() -> None:
    items = {item.node["id"]: item for level in outline(run_graph(run_of(EVENTS))) for item in level.items}
    assert (items["s1.1"].used_by, items["s0.7"].uses, items["s0.5"].used_by) == (["s0.7"], ["s1.1"], [])


def test_a_proof_that_names_a_duplicate_credits_the_lemma_that_was_voted_on() -> None:
    """The votes are on s1.1; s0.5 was merged on arrival, and the proof names it."""
    events = [event for event in EVENTS if not (isinstance(event, ev.VerdictReached) and event.subject == "s0.5")]
    events = [*events[:-1], uses("proof/1", "s0.5"), events[-1]]
    began = [
        ev.CallBegan(call=f"s{rollout}/r{round_}/{name}", role=role, alias="small", rollout=rollout, round=round_)
        for rollout, round_ in ((0, 1), (1, 1), (0, 2))
        for name, role in (("reason", "reasoner"), ("summarise", "summarizer"))
    ]
    final = ev.CallBegan(call="final/proof/1", role="writer", alias="small", rollout=0, round=3)
    run = run_of([*began, final, *events])
    record_calls(run, run.events.filter(kind="call.began").order_by("seq"))
    found = rounds_of(recorded_of(run))
    assert found is not None
    alone = rounds_of(recorded_of(run_of_one_name(began, final)))
    assert alone is not None
    assert (found.used, found.derived) == (alone.used, alone.derived)
    assert len(found.used) == 2


def run_of_one_name(began: list[ev.CallBegan], final: ev.CallBegan) -> Run:
    """The same run, had it named s1.1 wherever it named s0.5."""
    events = [
        uses(event.user, "s1.1") if isinstance(event, ev.EdgeAdded) and event.used == "s0.5" else event
        for event in EVENTS
        if event is not MERGED and not (isinstance(event, ev.EdgeAdded) and event.user == "s0.5")
        if not (isinstance(event, ev.VerdictReached) and event.subject == "s0.5")
    ]
    run = run_of([*began, final, *events[:-1], uses("proof/1", "s1.1"), events[-1]])
    record_calls(run, run.events.filter(kind="call.began").order_by("seq"))
    return run
