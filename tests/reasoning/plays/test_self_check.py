"""How `self_check` is played in the tests of all scaffolds."""

from apps.reasoning.scaffolds import self_check
from tests.reasoning.candidates import FAIL, PASS, named
from tests.reasoning.plays import PROSE_FAIL, UNREAD, AlwaysYes, Course, Golden, Plays, Verdicts, checks, every_third_passes

CHECKED = self_check.Params(accept=2, give_up=3, iterations=6)

COURSE: Course = (
    self_check.Params(accept=2, iterations=6),
    {"check/1": FAIL, "check/3": FAIL, "check/*": PASS, "correct/2": "nothing", "*": named},
)

PLAYS = Plays(
    course=COURSE,
    most=(self_check.Params(give_up=3, iterations=9), {"check/[36]": PASS, "check/*": FAIL, "*": named}),
    # One failure restarts the streak of passes.
    golden=Golden(
        self_check.Params(accept=2, give_up=3, iterations=9),
        {"check/2": FAIL, "check/*": PASS, "*": named},
        "solve improve check/1 check/2 correct/1 check/3 check/4",
        "accepted",
        True,
        "2 checks in a row",
    ),
    yes=AlwaysYes(self_check.Params(), {"check/*": PASS, "*": named}, "check/*", 5),
    verdicts=Verdicts(
        prose_only=checks(
            CHECKED,
            {"check/*": PROSE_FAIL},
            "solve improve check/1 correct/1 check/2 correct/2 check/3",
            "exhausted",
            False,
            "3 checks in a row failed",
            to="correct/1",
        ),
        mixed=checks(
            CHECKED,
            {"check/*": every_third_passes},
            "solve improve check/1 correct/1 check/2 correct/2 check/3 check/4 correct/3 check/5 correct/4 check/6",
            "exhausted",
            False,
            "no streak was long enough; of all versions 1 of 6 checks passed it.",
        ),
        # Two passes, but not in a row.
        unread_between=checks(
            CHECKED,
            {"check/2": UNREAD, "check/*": PASS},
            "solve improve check/1 check/2 check/2/again check/3 check/4",
            "accepted",
            True,
            "2 checks in a row",
        ),
    ),
)
