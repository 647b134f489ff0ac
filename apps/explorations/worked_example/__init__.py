"""The worked example: an exploration with authored texts, played by the scripted backend through the real scaffold.

The texts are the Markdown files of this folder: `problem.md`, for every round `s0.r1.reason.md` and `s0.r1.lemmas.md`, and
`proof.1.md`, `proof.2.md` (docs/worked_example.md). `script()` converts them to the answer formats of the scaffold;
`script.json` is its stored result for the inference worker.
"""

from typing import Any

from apps.explorations.worked_example.authored import Lemma, Proof, read_lemmas, read_problem, read_proof, read_work
from apps.explorations.worked_example.outputs import lemma_vote, proof_text, proof_vote, reasoner_text, summary_text
from apps.reasoning.domain.problems import ProblemText

SLUG = "pairs-with-prime-sums"
TOPIC = "N"
ALIAS = "worked-example"
SCAFFOLD = "intern_s1_mo"

#: Parameters of a run of the example. Other values would need calls that have no text.
PARAMS: dict[str, Any] = {"rollouts": 2, "rounds": 3, "lemma_votes": 4, "proof_votes": 4, "revisions": 2}


def problem() -> ProblemText:
    """The problem of the example; its id is its slug in the library."""
    title, statement = read_problem()
    return ProblemText(id=SLUG, version=1, title=title, statement=statement)


def script() -> dict[str, str]:
    """Output texts of the model by call key, in the formats of docs/intern_s1_mo_formats.md."""
    texts: dict[str, str] = {}
    for rollout in range(PARAMS["rollouts"]):
        for round_ in range(1, PARAMS["rounds"] + 1):
            texts |= _round_texts(rollout, round_)
    drafts = {1: "final/write/1", 2: "final/revise/1/1"}
    for number, call in drafts.items():
        proof = read_proof(number)
        texts[call] = proof_text(proof)
        texts |= _check_texts(number, proof)
    return texts


def _round_texts(rollout: int, round_: int) -> dict[str, str]:
    prefix = f"s{rollout}/r{round_}"
    introduction, lemmas = read_lemmas(rollout, round_)
    texts = {
        f"{prefix}/reason": reasoner_text(read_work(rollout, round_)),
        f"{prefix}/summarise": summary_text(introduction, lemmas),
    }
    for lemma in lemmas:
        texts |= _vote_texts(f"{prefix}/verify/s{rollout}.{lemma.label}", lemma)
    return texts


def _vote_texts(prefix: str, lemma: Lemma) -> dict[str, str]:
    return {f"{prefix}/{number}": lemma_vote(vote) for number, vote in enumerate(lemma.votes, 1)}


def _check_texts(number: int, proof: Proof) -> dict[str, str]:
    return {f"final/check/{number}/{index}": proof_vote(vote) for index, vote in enumerate(proof.votes, 1)}
