"""The selected proof of a run with the lemmas it rests on, in order of dependence."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from apps.explorations.words import scaffold_word
from apps.lemmas.models import Lemma, ProofVersion
from apps.lemmas.network import RunGraph, run_graph
from apps.lemmas.words import acceptance_words, confidence_words
from apps.reasoning.graph.lemma_graph import outline, proof_closure
from apps.runs.models import Run


@dataclass(frozen=True)
class WrittenLemma:
    """A lemma of the write-up. `uses` are ids of earlier lemmas; `also` are names of lemmas merged into it."""

    id: str
    name: str
    statement: str
    steps: tuple[str, ...]
    state: str
    uses: tuple[str, ...]
    also: tuple[str, ...]


@dataclass(frozen=True)
class WrittenProof:
    """A selected proof. `lemmas` are all that it rests on; each comes after those it uses. `uses` are those of the proof."""

    run: str
    title: str
    made_by: str
    statement: str
    lemmas: tuple[WrittenLemma, ...]
    steps: tuple[str, ...]
    uses: tuple[str, ...]
    state: str

    @cached_property
    def names(self) -> dict[str, str]:
        """Names of the lemmas by their ids."""
        return {lemma.id: lemma.name for lemma in self.lemmas}


def has_written(run: Run) -> bool:
    """Whether the run has a selected proof."""
    return ProofVersion.objects.filter(run=run, selected=True).exists()


def written_proof(run: Run) -> WrittenProof | None:
    """The selected proof; None if no proof is selected."""
    graph = run_graph(run)
    proof = next((one for one in graph.proofs if one.selected), None)
    if proof is None:
        return None
    wanted = proof_closure(graph.network)
    order = [name for name in outline(graph.network) if name in wanted and name != proof.proof]
    rows = {lemma.lemma: lemma for lemma in graph.lemmas}
    names = _names(graph.lemmas)
    return WrittenProof(
        run=str(run.public_id),
        title=run.title,
        made_by=scaffold_word(run.scaffold),
        statement=run.problem_version.statement,
        lemmas=tuple(_lemma(graph, rows[name], names, order) for name in order),
        steps=tuple(proof.steps or [proof.text]),
        uses=_used_by(graph, proof.proof, order),
        state=_proof_state(run, proof),
    )


def _names(lemmas: list[Lemma]) -> dict[str, str]:
    """Names by id, as in the texts: the number, and also the rollout if two rollouts share numbers."""
    times = Counter(lemma.label for lemma in lemmas)
    return {lemma.lemma: lemma.label if times[lemma.label] == 1 else f"s{lemma.rollout}.{lemma.label}" for lemma in lemmas}


def _lemma(graph: RunGraph, row: Lemma, names: dict[str, str], order: list[str]) -> WrittenLemma:
    twins = [twin for twin, by in graph.representatives.items() if by == row.lemma and twin != row.lemma]
    human, check = graph.human.get(row.lemma), graph.checks.get(row.lemma, ("", 0))[0]
    words = [row.state_words, confidence_words(row) if row.confidence is not None else ""]
    words += [f"{human} by people" if human else "", "a formula refuted" if check == "refuted" else ""]
    return WrittenLemma(
        id=row.lemma,
        name=names[row.lemma],
        statement=row.statement,
        steps=tuple(row.steps),
        state=", ".join(filter(None, words)),
        uses=_used_by(graph, row.lemma, order),
        also=tuple(names[twin] for twin in sorted(twins, key=names.__getitem__)),
    )


def _used_by(graph: RunGraph, user: str, order: list[str]) -> tuple[str, ...]:
    used = set(graph.network.predecessors(user))
    return tuple(name for name in order if name in used)


def _proof_state(run: Run, proof: ProofVersion) -> str:
    """Whether the proof is accepted, with the reason."""
    accepted: bool | None = (run.outcome or {}).get("accepted", proof.accepted)
    word = "Not judged." if accepted is None else "Accepted." if accepted else "Not accepted."
    reason = acceptance_words(proof) or proof.selected_reason
    return reason if reason.startswith(word[:-1]) else f"{word} {reason}".strip()
