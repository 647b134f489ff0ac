"""Proof graphs and ledgers become lemmas, uses and votes; circles, loose ends and breaks are listed and stop nothing."""

import json
from typing import Any

import pytest

from apps.explorations.importing.imported_run import LogFile, LogWrong
from apps.lemmas.graph_data import graph_data
from apps.lemmas.models import Lemma, LemmaEdge, ProofVersion
from apps.lemmas.selectors import lemma_detail, votes
from apps.reasoning.programs.anytime import NoAnytimeAnswer, answers_over
from apps.reasoning.story.vocabulary import event_from
from apps.runs.models import Run
from tests.importing.files import graph, import_of, imported, ledger_event, node, unread

pytestmark = pytest.mark.django_db
QED: dict[str, Any] = {"type": "qed", "status": "verified", "dependencies": ["b"]}


def uses(run: Run) -> set[tuple[str, str]]:
    return set(LemmaEdge.objects.filter(run=run).values_list("user", "used"))


def test_nodes_are_lemmas_with_their_uses_and_verdicts() -> None:
    nodes: dict[str, dict[str, Any]] = {
        "a": {"type": "assumption", "status": "verified"},
        "b": {"status": "rejected", "dependencies": ["a"], "depth": 2},
        "q": QED,
    }
    run = imported(graph(nodes), "g.json")
    a, b = Lemma.objects.get(run=run, lemma="a"), Lemma.objects.get(run=run, lemma="b")
    assert (a.status, a.confidence, a.statement) == ("verified", 1.0, "Assumption. What a says.")
    assert (b.status, b.confidence, b.round) == ("rejected", 0.0, 3)
    assert uses(run) == {("b", "a"), ("q", "b"), ("proof/1", "q")}
    assert graph_data(run)["contributing"] == ["a", "b", "proof/1", "q"]
    assert ProofVersion.objects.get(run=run).steps == ["Assumption. What a says.", "What b says.", "What q says."]


@pytest.mark.parametrize(
    ("qed", "accepted"),
    [({}, True), ({"status": "rejected"}, False), ({"status": "proposed"}, None), ({"taint": "tainted"}, None)],
)
def test_it_is_accepted_only_where_its_conclusion_is_verified_and_clean(qed: dict[str, str], accepted: bool | None) -> None:
    run = imported(graph({"b": {}, "q": QED | qed}), "g.json")
    assert run.outcome is not None
    assert run.outcome["accepted"] is accepted


def test_a_circle_is_cut_where_it_closes_and_listed() -> None:
    circle = {"a": {"dependencies": ["b"]}, "b": {"dependencies": ["a"]}, "c": {"dependencies": ["c"]}}
    run = imported(graph(circle), "g.json")
    assert {pair for pair in uses(run) if not pair[0].startswith("proof")} == {("b", "a")}
    assert unread(run) == [
        "node a: a depends on b, which depends on it; this dependency is left out",
        "node c: c depends on itself",
    ]


def test_an_id_that_leads_nowhere_is_listed_and_the_rest_goes_in() -> None:
    run = imported(graph({"a": {"dependencies": ["missing"]}}), "g.json")
    assert unread(run) == ["node a: a depends on the unknown id missing"]
    assert Lemma.objects.filter(run=run).count() == 1


def test_a_claim_uses_what_its_own_parts_conclude() -> None:
    nodes: dict[str, dict[str, Any]] = {"big": {}, "p1": {"parent": "big"}, "p2": {"parent": "big", "dependencies": ["p1"]}}
    run = imported(graph(nodes), "g.json")
    assert ("big", "p2") in uses(run)
    assert ("big", "p1") not in uses(run)


def test_archived_nodes_are_retired_and_nodes_without_a_statement_listed() -> None:
    archived = {"old": {"id": "old", "statement": "It was said differently.", "status": "rejected"}}
    run = imported(graph({"a": {"statement": ""}, "b": {}}, **{"archived-nodes": archived}), "g.json")
    assert Lemma.objects.get(run=run, lemma="old").status == "retired"
    assert unread(run) == ["nodes, a: a node without an id or a statement"]


def test_ids_become_safe_in_addresses() -> None:
    run = imported(graph({"../x y": {}}), "g.json")
    assert Lemma.objects.get(run=run).lemma == "..-x-y"


@pytest.mark.parametrize("text", ['{"theorem": {"statement": "x"}, "nodes": {', '{"theorem": {}, "nodes": {}}'])
def test_a_graph_that_is_not_whole_is_refused_in_words(text: str) -> None:
    with pytest.raises(LogWrong, match=r"g\.json"):
        import_of(LogFile("g.json", text.encode()))


def test_macros_for_words_become_markdown_and_formulas_stay() -> None:
    statement = r"By \emph{parity}, \textbf{Case 1}: $\text{\emph{a}} = \checkmark$ \checkmark"
    run = imported(graph({"a": {"statement": statement}}), "g.json")
    assert Lemma.objects.get(run=run).statement == r"By *parity*, **Case 1**: $\text{\emph{a}} = \checkmark$ ✓"


def test_a_reference_to_a_claim_becomes_its_name_and_the_evidence_of_the_use() -> None:
    nodes: dict[str, dict[str, Any]] = {
        "1-a": {"display-order": 1},
        "1-b": {"display-order": 2, "statement": "Clear (:1-a), and from :1-a.", "dependencies": ["1-a"]},
        "1-c": {"display-order": 3, "statement": "By :1-b; $f :1-a$; see :9-z."},
    }
    run = imported(graph(nodes), "g.json")
    texts = dict(Lemma.objects.filter(run=run).values_list("lemma", "statement"))
    assert texts["1-b"] == "Clear (Lemma 1), and from Lemma 1."
    assert texts["1-c"] == "By Lemma 2; $f :1-a$; see :9-z."
    assert {pair for pair in uses(run) if not pair[0].startswith("proof")} == {("1-b", "1-a"), ("1-c", "1-b")}
    evidence = LemmaEdge.objects.get(run=run, user="1-b").evidence
    assert evidence == {"where": "statement", "start": 7, "end": 14, "quote": "Lemma 1"}
    assert lemma_detail(run, "1-b").uses[0].places[0].mark == "Lemma 1"  # type: ignore[union-attr]


def test_justification_taint_and_labels_of_assumptions_are_kept() -> None:
    nodes = {
        "a": {"type": "assumption", "assumption-label": "A2", "justification": "assumption"},
        "b": {"status": "admitted", "taint": "self-admitted", "justification": "admitted"},
    }
    run = imported(graph(nodes), "g.json")
    rows = {row.lemma: row for row in Lemma.objects.filter(run=run)}
    assert rows["a"].statement == "Assumption A2. What a says."
    assert rows["a"].steps == ["Justified by: assumption. Taint: clean."]
    assert rows["b"].steps == ["Justified by: admitted. Taint: self admitted. Admitted without proof."]


def test_workers_of_a_ledger_are_named_in_votes_and_in_nodes_they_write() -> None:
    events = [
        ledger_event("proof_initialized", 1, conjecture="The number $7$ is odd.", author="ada"),
        ledger_event("node_created", 2, node=node("1")),
        ledger_event("nodes_claimed", 3, node_ids=["1"], owner="prover-1"),
        ledger_event("node_created", 4, node=node("1.1")),
        ledger_event("nodes_released", 5, node_ids=["1"]),
        ledger_event("node_created", 6, node=node("1.2")),
        ledger_event("nodes_claimed", 7, node_ids=["1.1"], owner="verifier-1"),
        ledger_event("node_validated", 8, node_id="1.1", note="Yes."),
    ]
    run = imported("\n".join(json.dumps(event) for event in events), "ledger.jsonl")
    steps = dict(Lemma.objects.filter(run=run).values_list("lemma", "steps"))
    assert steps["1.1"] == ["Justified by: modus ponens. Written by prover-1."]
    assert steps["1.2"] == ["Justified by: modus ponens."]
    assert [vote.summary for vote in votes(run, subject="1.1")] == ["validated by verifier-1: Yes."]
    assert unread(run) == []


LEDGER = [
    ledger_event("proof_initialized", 1, conjecture="The number $7$ is odd.", author="ada"),
    ledger_event("node_created", 2, node=node("1")),
    ledger_event("nodes_claimed", 3, node_ids=["1"]),
    ledger_event("node_created", 4, node=node("1.1", kind="local_assume")),
    ledger_event("node_created", 5, node=node("1.2", "1.1")),
    ledger_event("challenge_raised", 6, node_id="1.2", reason="Why?"),
    ledger_event("node_validated", 7, node_id="1.2", note="It is clear now."),
    ledger_event("node_validated", 8, node_id="1", note="All of it holds."),
]


def test_a_ledger_of_lines_is_a_run_with_challenges_and_validations_as_votes() -> None:
    run = imported("\n".join(json.dumps(event) for event in LEDGER), "ledger.jsonl")
    middle = Lemma.objects.get(run=run, lemma="1.2")
    assert (middle.passes, middle.valid, middle.status) == (1, 2, "verified")
    assert uses(run) == {("1.2", "1.1"), ("1", "1.2"), ("proof/1", "1")}
    assert run.outcome is not None
    assert run.outcome["accepted"] is True
    assert unread(run) == []
    events = [(row.seq, event_from(row.kind, row.body)) for row in run.events.order_by("seq")]
    with pytest.raises(NoAnytimeAnswer, match=r"imported from ledger\.jsonl"):
        answers_over(run.scaffold, run.spec["params"], events)


def test_a_file_for_each_event_makes_one_ledger_and_missing_numbers_are_listed() -> None:
    files = [LogFile(f"{number:06d}.json", json.dumps(event).encode()) for number, event in enumerate(LEDGER, 1) if number != 3]
    files[-1] = LogFile(files[-1].name, files[-1].data[:-20])
    run = import_of(*files).run
    assert "000004.json: event 3 is missing before it" in unread(run)
    assert "000008.json: truncated or invalid JSON" in unread(run)
    assert run.outcome is not None
    assert run.outcome["accepted"] is None


def test_a_verdict_on_nothing_and_an_unknown_event_are_listed() -> None:
    events = [*LEDGER, ledger_event("node_validated", 9, node_id="9.9"), ledger_event("comet_seen", 9)]
    found = unread(imported("\n".join(json.dumps(event) for event in events), "ledger.jsonl"))
    assert "9.9: a verdict on an unknown claim" in found
    assert "line 10: unknown event “comet_seen”" in found


def test_values_of_another_kind_are_listed_and_the_rest_goes_in() -> None:
    nodes: dict[str, dict[str, Any]] = {"a": {"dependencies": 5}, "b": {"parent": "a"}}
    run = imported(graph(nodes, obligations=5), "g.json")
    assert unread(run) == ["node a: its dependencies are not a list", "obligations: not a list"]
    assert ("a", "b") in uses(run)
    first = ledger_event("node_created", 2, node={**node("1"), "dependencies": 5})
    run = imported("\n".join(json.dumps(event) for event in [LEDGER[0], first]), "ledger.jsonl")
    assert unread(run) == ["line 2: its dependencies are not a list"]
    assert Lemma.objects.filter(run=run).count() == 1


def test_characters_that_no_database_keeps_are_replaced() -> None:
    odd: dict[str, dict[str, Any]] = {"a": {"statement": "What \ud835 and \x00 say.", "taint": "\ud835"}}
    run = imported(graph(odd, **{"\ud835": 1}), "g.json")
    assert Lemma.objects.get(run=run).statement == "What \ufffd and \ufffd say."
    first = ledger_event("node_created", 2, node={**node("1"), "statement": "\x00 \ud835"})
    run = imported("\n".join(json.dumps(event) for event in [LEDGER[0], first]), "ledger.jsonl")
    assert Lemma.objects.get(run=run).statement == "\ufffd \ufffd"


@pytest.mark.parametrize("value", ["[" * 500 + "]" * 500, "1" * 5_000], ids=["deep", "a long number"])
def test_a_graph_that_cannot_be_decoded_is_refused_in_words(value: str) -> None:
    text = graph({"a": {}}).replace('"depth": 1', f'"depth": {value}')
    with pytest.raises(LogWrong, match=r"g\.json"):
        import_of(LogFile("g.json", text.encode()))


ASKED = {"challenge_id": "ch-1", "node_id": "1", "reason": "Why?"}
RAISED, RESOLVED = ("challenge_raised", ASKED), ("challenge_resolved", {"challenge_id": "ch-1"})
VALIDATED, REFUTED = ("node_validated", {"node_id": "1"}), ("node_refuted", {"node_id": "1"})


@pytest.mark.parametrize(
    ("story", "accepted"),
    [
        ([RAISED, RESOLVED, VALIDATED], True),
        ([RAISED, VALIDATED], True),
        ([VALIDATED, RAISED, RESOLVED], True),
        ([RAISED, RESOLVED], None),
        ([RAISED], False),
        ([VALIDATED, RAISED], False),
        ([RAISED, REFUTED, RESOLVED], False),
        ([], None),
    ],
)
def test_the_last_valid_verdict_on_the_conjecture_decides(
    story: list[tuple[str, dict[str, str]]], accepted: bool | None
) -> None:
    events = [*LEDGER[:2], *(ledger_event(kind, 10 + place, **fields) for place, (kind, fields) in enumerate(story))]
    run = imported("\n".join(json.dumps(event) for event in events), "ledger.jsonl")
    assert run.outcome is not None
    assert run.outcome["accepted"] is accepted
    assert unread(run) == []


def test_an_answer_to_no_challenge_is_listed() -> None:
    events = [*LEDGER[:2], ledger_event("challenge_resolved", 9, challenge_id="ch-9")]
    found = unread(imported("\n".join(json.dumps(event) for event in events), "ledger.jsonl"))
    assert found == ["line 3: “challenge_resolved” of an unknown challenge"]
