"""How `grouped_agents` is played in the tests of all scaffolds."""

from apps.reasoning.scaffolds import grouped_agents
from tests.reasoning.candidates import FAIL, PASS, named
from tests.reasoning.plays import PROSE_FAIL, UNREAD, AlwaysYes, Course, Golden, Plays, Verdicts, checks

COURSE: Course = (
    grouped_agents.Params(group=3),
    {
        "step/1/2": "nothing",
        "step/2/*/1": PASS,
        "step/2/*/2": "unread",
        "step/4/*/3": PASS,
        "step/[24]/*": FAIL,
        "step/3/1/2": "nothing",
        "*": named,
    },
)

PLAYS = Plays(
    course=COURSE,
    most=(grouped_agents.Params(group=3, inputs=4), {"step/[24]/*": FAIL, "*": named}),
    # One drawn solution is examined, one report that objects is corrected, and so on to the fifth role.
    golden=Golden(
        grouped_agents.Params(group=2, inputs=1),
        {"step/2/*/1": PASS, "step/[24]/*": FAIL, "*": named},
        "step/1/{1,2} step/2/c1.1/{1,2} step/3/1/{1,2} step/4/c2.2/{1,2} step/5/1/{1,2}",
        "exhausted",
        False,
        "1 of 2 verdicts on it found no fault",
    ),
    yes=AlwaysYes(grouped_agents.Params(), {"step/2/*": PASS, "*": named}, "step/2/*", 16),
    verdicts=Verdicts(
        prose_only=checks(
            grouped_agents.Params(group=2, inputs=1, steps=4),
            {"step/[24]/*": PROSE_FAIL},
            "step/1/{1,2} step/2/c1.1/{1,2} step/3/1/{1,2} step/4/c2.2/{1,2}",
            "exhausted",
            False,
            "0 of 2 verdicts on it found no fault",
            to="step/3/1/1",
        ),
        mixed=checks(
            grouped_agents.Params(group=8, inputs=1, steps=2),
            {"step/2/*/[1-4]": PROSE_FAIL, "step/2/*": PASS},
            "step/1/{1,2,3,4,5,6,7,8} step/2/c1.6/{1,2,3,4,5,6,7,8}",
            "exhausted",
            False,
            "Not accepted: 4 of 8 verdicts on it found no fault.",
        ),
        unread_between=checks(
            grouped_agents.Params(group=4, inputs=1, steps=2),
            {"step/2/*/[2-4]": UNREAD, "step/2/*": PASS},
            "step/1/{1,2,3,4} step/2/c1.2/{1,2,2/again,3,3/again,4,4/again}",
            "exhausted",
            False,
            "Not accepted: 1 of 1 verdicts on it found no fault; 3 of 4 could not be read, and 2 are needed.",
        ),
    ),
)
