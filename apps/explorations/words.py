"""Names of roles, phases and endings on exploration pages."""

from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.page import Page
from apps.reasoning.trying.program import NAME as TRIAL_PROGRAM
from apps.reasoning.trying.registry import RUNNABLE
from apps.runs.models import Run, RunStatus

ROLE_WORDS = {
    "reasoner": "Reason",
    "summarizer": "Summarise",
    "theorem_verifier": "Verify lemmas",
    "writer": "Write the proof",
    "process_verifier": "Check the proof",
    "reviser": "Revise",
    "solver": "Solve",
    "improver": "Improve",
    "verifier": "Verify",
    "verifier_1": "Verify the solver's text",
    "verifier_2": "Verify",
    "corrector": "Correct",
    "corrector_1": "Correct the solver's text",
    "corrector_2": "Correct",
    "grader": "Mark",
    "consolidator": "Group",
    "aggregator": "Aggregate",
    "judge": "Judge pairs",
    "evaluator": "Examine",
    "refiner": "Refine",
    "meta_verifier": "Check reports",
    "decider": "Decide: pass or fail",
    "solver_2": "Solve, second",
    "solver_3": "Solve, third",
    "abstractor": "Condense",
    "rewriter": "Reword a question",
    "librarian": "Read documentation",
    "python": "Run Python",
    "check_math": "Check formulas",
    "search": "Look something up",
}
#: Titles of imported formats that are not scaffolds.
_IMPORTED_WORDS = {"proof_graph": "Proof graph", "proof_ledger": "Proof ledger"}
FINISH_WORDS = {"stop": "complete", "length": "cut off by its token limit", "cancelled": "cancelled"}


def role_word(role: str) -> str:
    """A role as a verb; unknown roles keep their name."""
    return ROLE_WORDS.get(role, role.replace("_", " ").capitalize())


def compares_solutions(scaffold: str) -> bool:
    """Whether the scaffold works on whole solutions, without a lemma graph."""
    return scaffold in ("difficulty", TRIAL_PROGRAM) or (scaffold in SCAFFOLDS and SCAFFOLDS[scaffold].shares_prompts)


def page_of(scaffold: str) -> Page:
    """Page settings of the scaffold; defaults for a removed scaffold."""
    return SCAFFOLDS[scaffold].page if scaffold in SCAFFOLDS else Page()


def draws_lineage(scaffold: str) -> bool:
    """Whether the page always draws the lineage of solutions."""
    return page_of(scaffold).draws_lineage


def round_word(scaffold: str) -> str:
    """The paper's name for a round."""
    return page_of(scaffold).round_word


def round_title(run: Run, number: int) -> str:
    """Heading of a round."""
    return page_of(run.scaffold).title(number, run.spec.get("params") or {})


def scaffold_word(name: str) -> str:
    """The scaffold's title; the name of a removed scaffold."""
    return RUNNABLE[name].title if name in RUNNABLE else _IMPORTED_WORDS.get(name, name)


def ending(run: Run) -> str:
    """Ending of a finished run in at most three words; empty for others."""
    if run.status != RunStatus.FINISHED:
        return ""
    outcome = run.outcome or {}
    if outcome.get("ended_by") == "nothing-readable":
        return "nothing readable"
    accepted = outcome.get("accepted")
    return "not judged" if accepted is None else "accepted" if accepted else "not accepted"
