"""Intern-S1-MO in the table of scaffolds."""

from apps.reasoning.scaffolds.intern_s1_mo import estimate, handing_in, params, program
from apps.reasoning.scaffolds.scaffold import Preset, Role, Scaffold

SCAFFOLD = Scaffold(
    name="intern_s1_mo",
    title="Intern-S1-MO",
    description=(
        "Explores a problem in rounds and keeps proved results as lemmas. Independent votes check every lemma; "
        "the final proof is marked step by step and revised until it passes."
    ),
    source="arXiv 2512.10739",
    params=params.Params,
    presets={
        "quick": Preset("Quick", "Two rounds, two votes, one revision; for trying a problem or a model.", params.QUICK),
        "paper": Preset("Paper", "Eight rounds, four votes, eight revisions: the paper's default.", params.PAPER),
        "contest": Preset(
            "Contest",
            "256 rollouts of twelve rounds, eight votes, 24 revisions of eight candidates: up to 300,000 calls.",
            params.CONTEST,
            priority=9,
        ),
    },
    roles=(
        Role("reasoner", "Reasoner", "Works on the problem using the lemma library, with full rigour.", 65_536),
        Role(
            "summarizer", "Summarizer", "Extracts the new lemmas of a round as self-contained statements with proofs.", 65_536
        ),
        Role("theorem_verifier", "Theorem verifier", "Looks for the first wrong step of one lemma.", 32_768),
        Role("writer", "Writer", "Writes the full proof from the library.", 65_536),
        Role("process_verifier", "Process verifier", "Marks the proof step by step.", 32_768),
        Role("reviser", "Reviser", "Fixes the markers' findings and rewrites the proof.", 65_536),
    ),
    solve=program.solve,
    estimate=estimate.estimate,
    hands_in=handing_in.hands_in,
    hands_in_after=handing_in.AFTER,
    shares_prompts=False,
    takes_lemmas=True,
    measured_with={"rollouts": 8, "rounds": 3, "lemma_votes": 4, "proof_votes": 4, "revisions": 2, "candidates": 2},
)
