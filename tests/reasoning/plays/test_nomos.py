"""How `nomos` is played in the tests of all scaffolds."""

from apps.reasoning.scaffolds import nomos
from tests.reasoning.candidates import better, named, score
from tests.reasoning.plays import UNREAD, WORDS, AlwaysYes, Course, Golden, Plays, Shown, Verdicts

MARKED = """solve/1 mark/c1.1 solve/2 mark/c1.2 solve/3 mark/c1.3 consolidate final/1/c1.1-c1.3/{1,2}"""
ONE_GROUP = '<group number="1">1, 2</group><likeliest>1</likeliest>'

COURSE: Course = (
    nomos.Params(solutions=5, kept=4),
    {
        "solve/2": "nothing",
        "solve/*": named,
        "mark/c1.3": score(7),
        "mark/*": score(4),
        "consolidate": '<group number="1">1, 2, 3, 4</group><likeliest>1</likeliest>',
        "final/*": better("A"),
    },
)

PLAYS = Plays(
    course=COURSE,
    most=(
        nomos.Params(solutions=4, kept=4),
        {**COURSE[1], "solve/2": named},
    ),
    # The worst marked is not kept, the smaller group is out, the pair is judged in both orders.
    golden=Golden(
        nomos.Params(solutions=4, kept=3),
        {
            "solve/*": named,
            "mark/c1.2": score(1),
            "mark/*": score(5),
            "consolidate": '<group number="1">1, 2</group><group number="2">3</group><likeliest>1</likeliest>',
            "final/*": better("A"),
        },
        """solve/1 mark/c1.1 solve/2 mark/c1.2 solve/3 mark/c1.3 solve/4 mark/c1.4 consolidate
        final/1/c1.1-c1.3/{1,2}""",
        "exhausted",
        None,
        "won the knock-out in the group held most likely right (2 of 3",
    ),
    yes=AlwaysYes(
        nomos.Params(solutions=3, kept=3),
        {"solve/*": named, "mark/*": score(7), "consolidate": "All are right.", "final/*": better("A")},
        "final/*",
        4,
        accepted=None,
    ),
    verdicts=Verdicts(
        prose_only=Shown(
            nomos.Params(solutions=3, kept=2),
            {
                "solve/*": named,
                "mark/c1.2": f"{WORDS}\n<score>0</score>",
                "mark/*": score(5),
                "consolidate": ONE_GROUP,
                "final/*/1": better("A"),
                "final/*/2": better("B"),
            },
            MARKED,
            "exhausted",
            None,
            "won the knock-out",
        ),
        # Both orders name the one shown first: the marks decide.
        mixed=Shown(
            nomos.Params(solutions=3, kept=2),
            {
                "solve/*": named,
                "mark/c1.1": score(6),
                "mark/c1.2": score(1),
                "mark/*": score(5),
                "consolidate": ONE_GROUP,
                "final/*": better("A"),
            },
            MARKED,
            "exhausted",
            None,
            "c1.1 won the knock-out",
        ),
        # A solution without a mark comes last.
        unread_between=Shown(
            nomos.Params(solutions=3, kept=2),
            {
                "solve/*": named,
                "mark/c1.2": UNREAD,
                "mark/*": score(0),
                "consolidate": ONE_GROUP,
                "final/*/1": better("A"),
                "final/*/2": better("B"),
            },
            MARKED.replace("mark/c1.2", "mark/c1.2 mark/c1.2/again"),
            "exhausted",
            None,
            "won the knock-out",
        ),
    ),
)
