"""How `alpha_apollo` is played in the tests of all scaffolds."""

from apps.reasoning.scaffolds.alpha_apollo.params import Params as ApolloParams
from tests.reasoning.agents import ask, follows, python, raised, report
from tests.reasoning.plays import UNREAD, WORDS, AlwaysYes, Course, Golden, Plays, Shown, Verdicts

COURSE: Course = (
    ApolloParams(rounds=3, evaluators=2, threads=2, turns=3),
    follows(
        {
            "solve/c1.1/turn/1": python("print(2+2)"),
            "solve/c1.1/turn/2": ask(),
            "solve/c1.2/turn/*": "nothing",
            "solve/c2.1/turn/1": python("import sympy\nsympy.slove(1)"),
            "solve/c2.1/turn/1/python": raised("AttributeError: module 'sympy' has no attribute 'slove'"),
            "judge/c1.1/2/turn/1": python("print(3)"),
            "judge/c1.1/2/turn/2": report(0),
            "judge/c2.1/4/turn/1": "unread",
            "judge/c2.1/4/turn/2": report(0),
        }
    ),
)

PLAYS = Plays(
    course=COURSE,
    most=(
        ApolloParams(rounds=2, evaluators=2, threads=2, turns=2),
        follows(
            {
                "*/turn/1": ask(),
                "judge/*/[123]/turn/2": report(1),
                "judge/*/turn/2": report(0),
            }
        ),
    ),
    # A solution that the panel refuses is remembered; the next is passed by two panels, which ends the rounds.
    golden=Golden(
        ApolloParams(rounds=5, evaluators=2, turns=2),
        follows({"judge/c1.1/*": report(0), "solve/c1.1/turn/1": python("print(1)")}),
        """solve/c1.1/turn/1 solve/c1.1/turn/1/python solve/c1.1/turn/2 condense/c1.1 judge/c1.1/{1,2}/turn/1 sum-up/c1.1
        solve/c2.1/turn/1 condense/c2.1 judge/c2.1/{1,2,3,4}/turn/1 sum-up/c2.1""",
        "accepted",
        True,
        "4 of 4 evaluators found it correct, in two panels",
    ),
    yes=AlwaysYes(ApolloParams(rounds=3, evaluators=3), follows({"judge/*": report(1)}), "judge/*", 6),
    verdicts=Verdicts(
        prose_only=Shown(
            ApolloParams(rounds=1, evaluators=2, turns=1),
            follows({"judge/*": report(0, WORDS)}),
            "solve/c1.1/turn/1 condense/c1.1 judge/c1.1/{1,2}/turn/1 sum-up/c1.1",
            "exhausted",
            False,
            "0 of 2 evaluators found it correct",
            to="sum-up/c1.1",
        ),
        mixed=Shown(
            ApolloParams(rounds=1, evaluators=2, turns=1),
            follows({"judge/*/1/turn/*": report(0, WORDS)}),
            "solve/c1.1/turn/1 condense/c1.1 judge/c1.1/{1,2}/turn/1",
            "exhausted",
            None,
            "Undecided: 1 of 2 evaluators found it correct",
        ),
        unread_between=Shown(
            ApolloParams(rounds=1, evaluators=2, turns=1),
            follows({"judge/*/1/turn/*": UNREAD}),
            "solve/c1.1/turn/1 condense/c1.1 judge/c1.1/1/turn/1{,/again} judge/c1.1/2/turn/1",
            "exhausted",
            None,
            "but only 1 of 2 reports could be read",
        ),
    ),
)
