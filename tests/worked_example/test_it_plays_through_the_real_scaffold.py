"""The authored transcript played through the real scaffold, at once: every text is asked for, every text is read."""

import json
from typing import NamedTuple, TypeVar

import networkx as nx
import pytest

from apps.explorations.worked_example import ALIAS, PARAMS, SCAFFOLD, problem, script
from apps.explorations.worked_example.authored import HERE
from apps.reasoning.domain.events import (
    CallFailed,
    EdgeAdded,
    Event,
    LemmaMerged,
    LemmaProposed,
    LemmaRetired,
    LemmasAlike,
    OutputUnread,
    ProofDrafted,
    ProofSelected,
    RoundEnded,
    VerdictReached,
    VoteCast,
)
from apps.reasoning.domain.generation import Sampling
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.inference.local import LocalDispatcher
from apps.reasoning.inference.scripted import ScriptedBackend
from apps.reasoning.journal.memory import InMemoryJournal
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.running.context import RunContext
from apps.reasoning.scaffolds.running.controls import NoControls
from apps.reasoning.scaffolds.spec import RoleSpec, RunSpec

E = TypeVar("E", bound=Event)


class Played(NamedTuple):
    """A finished run of the example."""

    outcome: Outcome
    journal: InMemoryJournal

    def of(self, kind: type[E]) -> list[E]:
        return [event for _, _, event in self.journal.events if isinstance(event, kind)]


@pytest.fixture
async def played() -> Played:
    scaffold = SCAFFOLDS[SCAFFOLD]
    roles = {role.name: RoleSpec(alias=ALIAS, revision="authored", sampling=Sampling()) for role in scaffold.roles}
    spec = RunSpec(problem=problem(), scaffold=SCAFFOLD, params=PARAMS, roles=roles, authored=True)
    journal = InMemoryJournal()
    context = RunContext(spec, journal, LocalDispatcher({ALIAS: ScriptedBackend(script())}), NoControls(), backoff_s=0)
    outcome = await scaffold.solve(problem(), context, scaffold.read_params(PARAMS))
    return Played(outcome, journal)


@pytest.fixture
def uses(played: Played) -> "nx.DiGraph[str]":
    """User → used, between lemma versions and proofs."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_edges_from((edge.user, edge.used) for edge in played.of(EdgeAdded))
    return graph


def verdicts(played: Played) -> dict[str, tuple[str, int, int]]:
    return {verdict.subject: (verdict.status, verdict.passes, verdict.valid) for verdict in played.of(VerdictReached)}


async def test_every_text_is_asked_for_and_no_call_lacks_one(played: Played) -> None:
    assert {record.key for record in played.journal.records if record.kind == "call"} == set(script())
    assert played.of(CallFailed) == []


async def test_every_text_is_read(played: Played) -> None:
    assert played.of(OutputUnread) == []
    assert [vote for vote in played.of(VoteCast) if vote.unscored] == []


async def test_no_text_is_longer_than_what_the_roles_may_write() -> None:
    smallest = min(Sampling().max_new_tokens, *(role.max_new_tokens for role in SCAFFOLDS[SCAFFOLD].roles))
    assert max(len(text.split()) for text in script().values()) < smallest


async def test_a_verifier_writes_of_every_step_up_to_the_first_wrong_one(played: Played) -> None:
    steps = {lemma.lemma: len(lemma.steps) for lemma in played.of(LemmaProposed)}
    steps |= {proof.proof: len(proof.steps) for proof in played.of(ProofDrafted)}
    for vote in played.of(VoteCast):
        needed = steps[vote.subject] if vote.first_fault == -1 else vote.first_fault
        assert needed is not None
        assert [check.step for check in vote.checks][:needed] == list(range(1, needed + 1)), vote.call


async def test_two_rollouts_take_three_rounds_each(played: Played) -> None:
    ended = {(end.rollout, end.round): (end.proposed, end.stop) for end in played.of(RoundEnded)}
    assert {place: proposed for place, (proposed, _) in ended.items()} == {
        (0, 1): 4, (0, 2): 5, (0, 3): 5, (1, 1): 3, (1, 2): 3, (1, 3): 1,
    }  # fmt: skip
    assert {place: stop for place, (_, stop) in ended.items() if stop} == {
        (0, 3): "it claims a complete solution, and its lemmas hold",
        (1, 3): "this was the last round",
    }


async def test_there_are_twenty_one_lemma_versions(played: Played) -> None:
    assert {lemma.lemma for lemma in played.of(LemmaProposed)} == {
        *(f"s0.{number}" for number in range(1, 14)),
        "s0.7-fixed",
        *(f"s1.{number}" for number in range(1, 8)),
    }


async def test_the_squarefree_lemma_is_rejected_at_its_fourth_step(played: Played) -> None:
    assert verdicts(played)["s0.4"] == ("rejected", 0, 4)
    assert [vote.first_fault for vote in played.of(VoteCast) if vote.subject == "s0.4"] == [4, 4, 4, 4]
    assert [subject for subject, (status, _, _) in verdicts(played).items() if status == "rejected"] == ["s0.4"]


async def test_the_lemma_with_a_gap_is_corrected_in_the_next_round(played: Played) -> None:
    faults = {vote.index: vote.first_fault for vote in played.of(VoteCast) if vote.subject == "s0.7"}
    assert faults == {1: 2, 2: 2, 3: -1, 4: 2}
    assert verdicts(played)["s0.7"] == ("doubtful", 1, 4)
    assert [lemma.lemma for lemma in played.of(LemmaProposed) if lemma.supersedes == "s0.7"] == ["s0.7-fixed"]
    assert verdicts(played)["s0.7-fixed"] == ("verified", 4, 4)
    assert [retired.lemma for retired in played.of(LemmaRetired)] == ["s0.7"]


async def test_the_objections_reach_the_summariser_of_the_next_round(played: Played) -> None:
    record = played.journal.recorded("s0/r3/summarise")
    assert record is not None
    asked = "\n".join(played.journal.texts[sha] for sha in record.prompt_shas)
    assert "Objection: The first fault is in step 2." in asked
    assert "9$ divides $\\binom{10}{5}" in asked or "28\\cdot 9" in asked


async def test_equal_statements_merge_across_the_rollouts(played: Played) -> None:
    assert {merged.lemma: merged.into for merged in played.of(LemmaMerged)} == {"s1.2": "s0.3", "s0.5": "s1.1", "s1.4": "s0.6"}


async def test_look_alikes_are_proposed_and_not_merged(played: Played) -> None:
    pairs = {frozenset((alike.lemma, alike.other)) for alike in played.of(LemmasAlike)}
    assert frozenset(("s0.9", "s1.3")) in pairs
    assert not pairs & {frozenset((merged.lemma, merged.into)) for merged in played.of(LemmaMerged)}


async def test_lemmas_use_earlier_lemmas(uses: "nx.DiGraph[str]") -> None:
    assert {user: set(uses.successors(user)) for user in uses if uses.out_degree(user)} == {
        "s0.2": {"s0.1"},
        "s0.6": {"s0.5"},
        "s0.7-fixed": {"s0.5"},
        "s0.9": {"s0.8"},
        "s0.10": {"s0.3", "s0.6", "s0.7-fixed", "s0.9"},
        "s0.13": {"s0.10", "s0.11", "s0.12"},
        "s1.4": {"s1.1"},
        "s1.5": {"s1.2", "s1.4"},
        "s1.6": {"s1.3"},
        "proof/1": {"s0.1", "s0.13"},
        "proof/2": {"s0.1", "s0.2", "s0.13"},
    }


async def test_the_graph_is_acyclic_and_five_deep(played: Played, uses: "nx.DiGraph[str]") -> None:
    into = {merged.lemma: merged.into for merged in played.of(LemmaMerged)}
    merged = nx.DiGraph((into.get(user, user), into.get(used, used)) for user, used in uses.edges)
    assert nx.is_directed_acyclic_graph(merged)
    assert nx.dag_longest_path_length(merged) == 4
    assert nx.descendants(merged, "proof/2") == {
        "s0.1", "s0.2", "s0.3", "s1.1", "s0.6", "s0.7-fixed", "s0.8", "s0.9", "s0.10", "s0.11", "s0.12", "s0.13",
    }  # fmt: skip


async def test_the_evidence_of_an_edge_names_just_the_lemma(played: Played) -> None:
    for edge in played.of(EdgeAdded):
        label = edge.used if edge.user.startswith("proof/") else edge.used.split(".")[1]
        assert edge.evidence.quote == f"Lemma {label}"


async def test_the_first_proof_has_a_gap_and_is_not_accepted(played: Played) -> None:
    assert verdicts(played)["proof/1"] == ("not accepted", 2, 4)
    found = [vote for vote in played.of(VoteCast) if vote.subject == "proof/1" and vote.first_fault != -1]
    assert sorted((vote.index, vote.first_fault) for vote in found) == [(1, 4), (3, 4)]


async def test_the_revised_proof_is_accepted_by_all_votes(played: Played) -> None:
    assert verdicts(played)["proof/2"] == ("accepted", 4, 4)
    assert {proof.proof: proof.revises for proof in played.of(ProofDrafted)} == {"proof/1": "", "proof/2": "proof/1"}
    assert [(chosen.proof, chosen.accepted) for chosen in played.of(ProofSelected)] == [("proof/2", True)]
    assert played.outcome.accepted
    assert played.outcome.ended_by == "accepted"


def test_the_script_file_is_up_to_date() -> None:
    """`python -m apps.explorations.worked_example` writes it again."""
    assert json.loads((HERE / "script.json").read_text(encoding="utf-8")) == script()
