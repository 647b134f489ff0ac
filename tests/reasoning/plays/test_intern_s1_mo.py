"""How `intern_s1_mo` is played in the tests of all scaffolds."""

from apps.reasoning.scaffolds.intern_s1_mo.params import Params as InternParams
from tests.reasoning.play import FOLLOWS, lemma, proof, verdict
from tests.reasoning.plays import UNREAD, WORDS, AlwaysYes, Course, Golden, Plays, Shown, Verdicts

PROVED = InternParams(rounds=1, lemma_votes=1, proof_votes=3, revisions=1)
EXPLORED = "s0/r1/reason s0/r1/summarise s0/r1/verify/s0.1/1 s0/r1/verify/s0.2/1 final/write/1 final/check/1/{1,2,3}"

COURSE: Course = (
    InternParams(rounds=2, lemma_votes=2, proof_votes=2, revisions=2),
    {
        "s0/r1/reason": "<claim>partial</claim>",
        "s0/r2/summarise": "nothing readable",
        "final/check/1/1": verdict(1),
        "final/revise/*": proof("Divide."),
    }
    | FOLLOWS,
)

PLAYS = Plays(
    course=COURSE,
    most=(
        InternParams(rounds=1, lemma_votes=2, proof_votes=2, revisions=2, lemmas_per_round=1),
        {
            "s0/r1/reason": "<claim>partial</claim>",
            "s0/r1/summarise": lemma(1, "One.", "It is plain."),
            "final/check/*": verdict(1),
            "final/revise/*": proof("Divide."),
        }
        | FOLLOWS,
    ),
    # A claim whose lemmas hold ends the rounds before the third; the proof is revised until all votes pass.
    golden=Golden(
        InternParams(rounds=3, lemma_votes=2, proof_votes=3, revisions=2),
        {
            "s0/r1/reason": "<claim>partial</claim>",
            "s0/r2/reason": "<claim>complete</claim>",
            "s0/r2/summarise": lemma(3, "Three.", "It is plain."),
            "final/check/1/1": verdict(2),
            "final/revise/*": proof("By Lemma 2 it holds.", "Divide."),
        }
        | FOLLOWS,
        """s0/r1/reason s0/r1/summarise s0/r1/verify/s0.1/{1,2} s0/r1/verify/s0.2/{1,2}
        s0/r2/reason s0/r2/summarise s0/r2/verify/s0.3/{1,2}
        final/write/1 final/check/1/{1,2,3} final/revise/1/1 final/check/2/{1,2,3}""",
        "accepted",
        True,
        "3 of 3 valid votes found no fault",
    ),
    yes=AlwaysYes(InternParams(lemma_votes=2, proof_votes=4), FOLLOWS, "final/check/*", 4),
    verdicts=Verdicts(
        prose_only=Shown(
            PROVED,
            {"final/check/1/*": f"{WORDS}\n<verdict>1</verdict>", "final/revise/*": proof("Divide.")} | FOLLOWS,
            f"{EXPLORED} final/revise/1/1 final/check/2/{{1,2,3}}",
            "accepted",
            True,
            "3 of 3 valid votes",
            to="final/revise/1/1",
        ),
        # A verdict that all steps hold, next to a step that its log calls unsound.
        mixed=Shown(
            PROVED,
            {"final/check/1/1": verdict(-1, 2, steps=2), "final/revise/*": proof("Divide.")} | FOLLOWS,
            f"{EXPLORED} final/revise/1/1 final/check/2/{{1,2,3}}",
            "accepted",
            True,
            "3 of 3 valid votes",
        ),
        unread_between=Shown(
            PROVED,
            {"final/check/1/2": UNREAD} | FOLLOWS,
            EXPLORED.replace("{1,2,3}", "{1,2,2/again,3}"),
            "exhausted",
            False,
            "2 of 2 valid votes found no fault, but 3 valid votes are needed",
        ),
    ),
)
