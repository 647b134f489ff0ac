"""Estimates of calls and tokens for Intern-S1-MO.

With S rollouts, R rounds, L lemmas per round, n votes per lemma, m votes per proof, C candidates, J revisions:
    most      S·R·(2 + k + L·n)  exploring,  C·(1 + m)·(1 + J)  for the proof
    fewest    the smaller of: a first round that claims a solution without a lemma, 2·S (if a claim alone ends no rollout:
              with one lemma that holds, S·(2 + n)), followed by unreadable proofs, C; or `patience` unreadable rounds,
              S·2·min(patience, R)
    expected  half of the rounds (rounded up), 3 lemmas per round, a quarter of the revisions (rounded up), one formula check
              per round if the reasoner may request any
k is the number of formula checks that a reasoner may request in a round. n is 0 without the theorem verifier;
m and J are 0 without the process verifier. Votes on people's own lemmas are extra.
"""

import math
from collections.abc import Mapping

from apps.reasoning.scaffolds.candidates.costs import estimated
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.intern_s1_mo.params import Params

#: Prompt and completion tokens of a typical call of an olympiad-level reasoning model, for the expected total.
TYPICAL_TOKENS: dict[str, tuple[int, int]] = {
    "reasoner": (3_000, 24_000),
    "summarizer": (9_000, 10_000),
    "theorem_verifier": (3_000, 6_000),
    "writer": (6_000, 12_000),
    "process_verifier": (5_000, 8_000),
    "reviser": (8_000, 12_000),
}
EXPECTED_LEMMAS = 3
ASSUMPTIONS = (
    "Expected: half of the rounds, three new lemmas per round and a quarter of the revisions, with calls as long as "
    "those of a large reasoning model. Smaller models write less."
)


def estimate(params: Params, max_new_tokens: Mapping[str, int] | None = None) -> Estimate:
    """Estimate calls and tokens per role and in total. `max_new_tokens` by role bounds the completions in `tokens_max`."""
    lemma_votes = params.lemma_votes if params.theorem_verifier else 0
    proof_votes = params.proof_votes if params.process_verifier else 0
    revisions = params.revisions if params.process_verifier else 0
    most = _calls(params, params.max_rounds, params.lemmas_per_round, lemma_votes, proof_votes, revisions, params.check_tool)
    likely = _calls(
        params,
        math.ceil(params.max_rounds / 2),
        min(EXPECTED_LEMMAS, params.lemmas_per_round),
        lemma_votes,
        proof_votes,
        math.ceil(revisions / 4),
        min(1, params.check_tool),
    )
    solved = _calls(params, 1, int(params.solved_by == "lemmas"), lemma_votes, 0, 0)
    idle = min(params.patience, params.max_rounds) * params.rollouts
    unread = dict.fromkeys(most, 0) | {"reasoner": idle, "summarizer": idle}
    return estimated(
        fewest={role: min(solved[role], unread[role]) for role in most},
        likely=likely,
        most=most,
        typical=TYPICAL_TOKENS,
        limits=max_new_tokens,
        assumptions=ASSUMPTIONS,
        fewest_in_all=min(sum(solved.values()), sum(unread.values())),
    )


def _calls(
    params: Params, rounds: int, lemmas: int, lemma_votes: int, proof_votes: int, revisions: int, checks: int = 0
) -> dict[str, int]:
    exploring, versions = params.rollouts * rounds, params.candidates * (1 + revisions)
    return {
        "reasoner": exploring * (1 + checks),
        "summarizer": exploring,
        "theorem_verifier": exploring * lemmas * lemma_votes,
        "writer": params.candidates,
        "process_verifier": versions * proof_votes,
        "reviser": params.candidates * revisions,
    }
