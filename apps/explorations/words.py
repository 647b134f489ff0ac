"""The words of exploration pages: roles, phases and endings, the same everywhere."""

from apps.reasoning.scaffolds.registry import SCAFFOLDS
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
    return scaffold == "difficulty" or (scaffold in SCAFFOLDS and SCAFFOLDS[scaffold].shares_prompts)


def draws_lineage(scaffold: str) -> bool:
    """Is the scaffold about how solutions come from each other? Then its page draws that from the beginning."""
    return scaffold in {"rsa", "deepseek_math", "nomos", "grouped_agents"}


def round_word(scaffold: str) -> str:
    """What the scaffold's paper calls a round."""
    return {"reasoning_cache": "Turn", "rsa": "Step"}.get(scaffold, "Round")


def round_title(run: Run, number: int) -> str:
    """A round of a run as a heading."""
    turns = (run.spec.get("params") or {}).get("turns")
    if run.scaffold == "reasoning_cache" and turns and number > turns:
        return "States tried again"
    return f"{round_word(run.scaffold)} {number}"


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
