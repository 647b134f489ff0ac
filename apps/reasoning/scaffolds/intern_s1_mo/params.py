"""The parameters of Intern-S1-MO, their validation, and its presets."""

import math
from typing import Literal

from pydantic import Field, ValidationInfo, field_validator

from apps.reasoning.domain.values import Value
from apps.reasoning.scaffolds.running.check_tool import tool_option
from apps.reasoning.scaffolds.running.checking_first import marks_option


class Params(Value):
    """Defaults are the paper's (App. B.1). Paper letters: S rollouts, R rounds, n votes, τ threshold, J revisions."""

    rollouts: int = Field(
        default=1, ge=1, le=1024, title="Rollouts", description="Independent explorations (S), merged at the end."
    )
    rounds: int = Field(
        default=8, ge=1, le=64, title="Rounds", description="Most rounds of reasoning, summarising and verifying (R)."
    )
    lemma_votes: int = Field(
        default=4, ge=1, le=32, title="Votes per lemma", description="Independent checks of each new lemma (n)."
    )
    threshold: float = Field(
        default=0.5, gt=0, le=1, title="Threshold", description="Confidence that a lemma needs to enter the library (τ)."
    )
    unread_votes: Literal["against", "left_out"] = Field(
        default="against",
        title="Unread votes on lemmas",
        description=(
            "Against: confidence is the share of all requested votes that find no fault, as in the paper (§3). Left out: the "
            "share of readable votes, if at least half are readable."
        ),
    )
    solved_by: Literal["claim", "lemmas"] = Field(
        default="claim",
        title="A rollout ends",
        description=(
            "Claim: when its reasoner claims a complete solution, which then goes to the write-up and its revisions, as in the "
            "paper (Fig. 2). Lemmas: only if every lemma of that round also holds."
        ),
    )
    stop_together: bool = Field(
        default=True,
        title="Stop together",
        description="Stop all rollouts once one claims a complete solution and every lemma of that round holds.",
    )
    thinking: bool = Field(
        default=True,
        title="Summarise thinking",
        description="Show the reasoner's thinking to the summarizer, as in the paper (A.2), if the model reveals it.",
    )
    patience: int = Field(
        default=2,
        ge=1,
        le=64,
        title="Patience",
        description="Consecutive rounds without a new lemma that holds before a rollout stops.",
    )
    lemmas_per_round: int = Field(
        default=12, ge=1, le=64, title="Lemmas per round", description="Most new lemmas taken from one summary."
    )
    candidates: int = Field(
        default=1, ge=1, le=32, title="Candidates", description="Proofs written in parallel, initially and in each revision."
    )
    proof_votes: int = Field(default=4, ge=1, le=32, title="Votes per proof", description="Independent checks of each proof.")
    accept_share: float = Field(
        default=1.0, gt=0, le=1, title="Acceptance", description="Share of valid votes that must pass a proof to accept it."
    )
    min_valid: int | None = Field(
        default=None,
        ge=1,
        title="Fewest valid votes",
        description="Valid votes that a proof needs to be accepted; default: three quarters of the votes, rounded up.",
    )
    revisions: int = Field(default=8, ge=0, le=64, title="Revisions", description="Most rounds of revision (J).")
    final_lemmas: int = Field(
        default=80, ge=1, le=1000, title="Lemmas for the writer", description="Most lemmas shown to the writer."
    )
    kept_back: float = Field(
        default=0.15,
        ge=0,
        le=0.9,
        title="Reserve for the write-up",
        description=(
            "Share of each budget limit reserved for the write-up once a lemma holds. Of calls: at least one proof with its "
            "votes, at most half."
        ),
    )
    single_round: bool = Field(default=False, title="Single round", description="Ablation: one round only.")
    formulas_first: bool = Field(
        default=False,
        title="Formulas before votes",
        description="Check formulas before votes. A lemma or proof with a refuted formula gets no votes.",
    )
    verifier_marks: bool = marks_option()
    check_tool: int = tool_option(
        description="Most formula checks that the reasoner may request in a round. 0 does not offer them, as in the paper."
    )
    theorem_verifier: bool = Field(default=True, title="Theorem verifier", description="Check lemmas by votes.")
    lemma_scores: bool = Field(default=True, title="Lemma scores", description="Show each lemma's confidence to later rounds.")
    process_verifier: bool = Field(default=True, title="Process verifier", description="Check the proof and revise it.")
    structured_output: bool = Field(
        default=False,
        title="Structured output",
        description="Request JSON by schema from the summarizer and verifiers, on engines that support it.",
    )

    @field_validator("min_valid")
    @classmethod
    def _at_most_the_votes(cls, min_valid: int | None, info: ValidationInfo) -> int | None:
        votes = info.data.get("proof_votes")
        if min_valid and votes and min_valid > votes:
            raise ValueError(f"{min_valid} valid votes are more than the {votes} votes per proof")
        return min_valid

    @property
    def max_rounds(self) -> int:
        return 1 if self.single_round else self.rounds

    @property
    def valid_needed(self) -> int:
        return self.min_valid or math.ceil(0.75 * self.proof_votes)

    @property
    def proof_calls(self) -> int:
        """Calls for the first proofs with their votes."""
        return self.candidates * (1 + (self.proof_votes if self.process_verifier else 0))

    @property
    def shows_scores(self) -> bool:
        return self.lemma_scores and self.theorem_verifier


QUICK = Params(rounds=2, lemma_votes=2, proof_votes=2, revisions=1, lemmas_per_round=6)
PAPER = Params()
CONTEST = Params(rollouts=256, rounds=12, lemma_votes=8, proof_votes=8, revisions=24, candidates=8)
