"""The words of exploration pages: roles, phases and endings, the same everywhere."""

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
#: Runs that were read from files and that no scaffold of ours could have made.
_IMPORTED_WORDS = {"proof_graph": "Proof graph", "proof_ledger": "Proof ledger"}
FINISH_WORDS = {"stop": "ended by itself", "length": "cut off by its token limit", "cancelled": "cancelled"}


def role_word(role: str) -> str:
    """What a role does, as a verb; roles of other scaffolds keep their name."""
    return ROLE_WORDS.get(role, role.replace("_", " ").capitalize())


def compares_solutions(scaffold: str) -> bool:
    """Does the scaffold work on whole solutions, without a lemma graph?"""
    return scaffold in ("difficulty", TRIAL_PROGRAM) or (scaffold in SCAFFOLDS and SCAFFOLDS[scaffold].shares_prompts)


def page_of(scaffold: str) -> Page:
    """What the scaffold says of its page; of one that is not here any more, the ordinary one."""
    return SCAFFOLDS[scaffold].page if scaffold in SCAFFOLDS else Page()


def draws_lineage(scaffold: str) -> bool:
    """Is the scaffold about how solutions come from each other? Then its page draws that from the beginning."""
    return page_of(scaffold).draws_lineage


def round_word(scaffold: str) -> str:
    """What the scaffold's paper calls a round."""
    return page_of(scaffold).round_word


def round_title(run: Run, number: int) -> str:
    """A round of a run as a heading."""
    return page_of(run.scaffold).title(number, run.spec.get("params") or {})


def scaffold_word(name: str) -> str:
    """The scaffold's title; its name, where this code no longer has it."""
    return RUNNABLE[name].title if name in RUNNABLE else _IMPORTED_WORDS.get(name, name)


def ending(run: Run) -> str:
    """How a finished run ended, in three words at most; empty for others."""
    if run.status != RunStatus.FINISHED:
        return ""
    outcome = run.outcome or {}
    if outcome.get("ended_by") == "nothing-readable":
        return "nothing readable"
    accepted = outcome.get("accepted")
    return "not judged" if accepted is None else "accepted" if accepted else "not accepted"
