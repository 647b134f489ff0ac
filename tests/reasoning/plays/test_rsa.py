"""How `rsa` is played in the tests of all scaffolds."""

from apps.reasoning.scaffolds import rsa
from tests.reasoning.candidates import better, named
from tests.reasoning.plays import UNREAD, WORDS, AlwaysYes, Course, Golden, Plays, Shown, Verdicts

PAIRED = "step/0/{1,2} step/1/{1,2} final/1/c2.1-c2.2/{1,2}"

COURSE: Course = (
    rsa.Params(population=4, subset=2, steps=2),
    {"step/1/3": "nothing", "step/*": named, "final/*/1": better("A"), "final/*/2": better("B")},
)

PLAYS = Plays(
    course=COURSE,
    most=COURSE,
    # T steps after the first population, then the knock-out in the last one.
    golden=Golden(
        rsa.Params(population=2, subset=2, steps=2),
        {"step/*": named, "final/*/1": better("A"), "final/*/2": better("B")},
        "step/0/{1,2} step/1/{1,2} step/2/{1,2} final/1/c3.1-c3.2/{1,2}",
        "exhausted",
        None,
        "among the 2 solutions of the last step",
    ),
    yes=AlwaysYes(
        rsa.Params(population=2, subset=2, steps=1), {"step/*": named, "final/*": better("A")}, "final/*", 2, accepted=None
    ),
    verdicts=Verdicts(
        prose_only=Shown(
            rsa.Params(population=2, subset=2, steps=1),
            {"step/*": named, "final/*/1": f"{WORDS}\n<better>B</better>", "final/*/2": f"{WORDS}\n<better>A</better>"},
            PAIRED,
            "exhausted",
            None,
            "won the knock-out",
        ),
        mixed=Shown(
            rsa.Params(population=2, subset=2, steps=1),
            {"step/*": named, "final/*": better("A")},
            PAIRED,
            "exhausted",
            None,
            "won the knock-out",
        ),
        unread_between=Shown(
            rsa.Params(population=2, subset=2, steps=1),
            {"step/*": named, "final/*/1": better("A"), "final/*/2": UNREAD},
            f"{PAIRED} final/1/c2.1-c2.2/2/again",
            "exhausted",
            None,
            "won the knock-out",
        ),
    ),
)
