"""How `deepseek_math` is played in the tests of all scaffolds."""

from apps.reasoning.scaffolds import deepseek_math
from tests.reasoning.candidates import named, score
from tests.reasoning.plays import UNREAD, WORDS, AlwaysYes, Course, Golden, Plays, Shown, Verdicts

COURSE: Course = (
    deepseek_math.Params(proofs=2, examinations=2, rounds=3, meta=True),
    {
        "round/1/2": "nothing",
        "round/*": named,
        "examine/c3.1/*": score(1),
        "examine/*": score(0.5),
        "meta/c2.1/1": score(0),
        "meta/*": score(1),
    },
)

PLAYS = Plays(
    course=COURSE,
    most=(
        deepseek_math.Params(proofs=2, examinations=3, rounds=3, meta=True),
        {"round/*": named, "examine/*": score(0.5), "meta/*": score(1)},
    ),
    # A mean of 1 ends it, though two more rounds were allowed.
    golden=Golden(
        deepseek_math.Params(proofs=2, examinations=2, rounds=4),
        {"round/*": named, "examine/c2.1/*": score(1), "examine/*": score(0.5)},
        """round/1/{1,2} examine/c1.1/{1,2} examine/c1.2/{1,2}
        round/2/{1,2} examine/c2.1/{1,2} examine/c2.2/{1,2}""",
        "accepted",
        True,
        "the mean of 2 examinations of c2.1 is 1.00",
    ),
    yes=AlwaysYes(deepseek_math.Params(), {"round/*": named, "examine/*": score(1)}, "examine/*", 16),
    verdicts=Verdicts(
        prose_only=Shown(
            deepseek_math.Params(proofs=1, examinations=2, rounds=2),
            {"round/*": named, "examine/*": f"{WORDS}\n<score>0</score>"},
            "round/1/1 examine/c1.1/{1,2} round/2/1 examine/c2.1/{1,2}",
            "exhausted",
            False,
            "is 0.00",
            to="round/2/1",
        ),
        mixed=Shown(
            deepseek_math.Params(proofs=1, examinations=2, rounds=1),
            {"round/*": named, "*/1": score(0), "*/2": score(1)},
            "round/1/1 examine/c1.1/{1,2}",
            "exhausted",
            False,
            "is 0.50",
        ),
        unread_between=Shown(
            deepseek_math.Params(proofs=1, examinations=2, rounds=1),
            {"round/*": named, "*/1": UNREAD, "*/2": score(1)},
            "round/1/1 examine/c1.1/1{,/again} examine/c1.1/2",
            "exhausted",
            None,
            "only 1 of 2 count, and 2 are needed",
        ),
    ),
)
