"""How `solver_verifier_corrector` is played in the tests of all scaffolds."""

from apps.reasoning.scaffolds import solver_verifier_corrector
from tests.reasoning.candidates import FAIL, PASS, decision, named
from tests.reasoning.plays import PROSE_FAIL, UNREAD, AlwaysYes, Course, Golden, Plays, Verdicts, checks

CONVERSED = solver_verifier_corrector.Params(accept=2, give_up=2, corrections=4)

COURSE: Course = (
    solver_verifier_corrector.Params(accept=2, corrections=3),
    {"check/1": FAIL, "check/2": "unread", "check/4": FAIL, "check/*": PASS, "*": named},
)

PLAYS = Plays(
    course=COURSE,
    most=(
        solver_verifier_corrector.Params(accept=2, corrections=3),
        {"check/[2468]": FAIL, "check/*": PASS, "*": named},
    ),
    # Too many failures in a row end it, without a last correction.
    golden=Golden(
        solver_verifier_corrector.Params(accept=2, give_up=3, corrections=4),
        {"check/*": FAIL, "*": named},
        "solve check/1 correct/1 check/2 correct/2 check/3",
        "exhausted",
        False,
        "3 checks in a row failed",
    ),
    yes=AlwaysYes(solver_verifier_corrector.Params(), {"check/*": PASS, "*": named}, "check/*", 4),
    verdicts=Verdicts(
        prose_only=checks(
            CONVERSED,
            {"check/*": PROSE_FAIL},
            "solve check/1 correct/1 check/2",
            "exhausted",
            False,
            "2 checks in a row failed",
            to="correct/1",
        ),
        # A pass next to a gap is a fail as well.
        mixed=checks(
            CONVERSED,
            {"check/1": PASS, "check/*": decision("pass", ("gap", "Why is $n$ even?"))},
            "solve check/1 check/2 correct/1 check/3",
            "exhausted",
            False,
            "2 checks in a row failed",
        ),
        # Two fails, but not in a row; nothing is corrected from a check that could not be read.
        unread_between=checks(
            CONVERSED,
            {"check/2": UNREAD, "check/*": PROSE_FAIL},
            "solve check/1 correct/1 check/2 check/2/again check/3 correct/2 check/4",
            "exhausted",
            False,
            "2 checks in a row failed; of all versions no check passed. 1 of 4 checks could not be read.",
        ),
    ),
)
