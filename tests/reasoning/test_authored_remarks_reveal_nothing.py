"""Authored remarks on the wrong attempts of the easy problems pass the leak tests, and leaking ones do not.

The secrets are the reference solutions, the marking schemes and the final answers.
"""

import functools

import pytest

from apps.reasoning.domain.generation import Final
from apps.reasoning.marking.sheets.sheet import Fallacy
from apps.reasoning.remarks.wording import Wording, reveals, wording_read
from benchmarks.remarks.measured import Case, cases

#: By problem: the kind, the question and the reason of a remark on its wrong attempt.
REMARKS = {
    "as-far-from-both": (
        "begging-the-question",
        "Which fact do you use of the set of all points that are equally far from both ends, and has it been proved here?",
        "The sentence quotes the very statement that is to be proved, so nothing has been shown.",
    ),
    "corner-on-a-circle": (
        "proof-by-example",
        "What changes in your picture if $C$ moves a little towards $A$?",
        "The problem speaks of every point $C$ of the circle; choosing one position leaves all the others open.",
    ),
    "divisible-by-six": (
        "proof-by-example",
        "Why should $n=1000$ behave like the five numbers that you tried?",
        "Five examples do not show that the next one follows the pattern.",
    ),
    "handshakes": (
        "missing-case",
        "Does this cover a party with three guests and only one handshake?",
        "Only parties at which all pairs shake hands are treated, and other parties are possible.",
    ),
    "lines-across-a-polygon": (
        "inventing-wrong-facts",
        "If you draw a hexagon, how many diagonals do you count?",
        "A further vertex does not add one diagonal at each old vertex: the two next to it behave differently.",
    ),
    "midpoints-of-four-sides": (
        "missing-case",
        "Can a quadrilateral with a very short side $AB$ and a long side $CD$ be moved so that it becomes a rectangle?",
        "Moving a figure keeps its lengths and angles, so most quadrilaterals never become rectangles.",
    ),
    "neighbours-among-many": (
        "wrong-logical-conclusion",
        "Take $2$ from one box and $7$ from the other: what do they tell you?",
        "An even and an odd number may be far apart, so nothing follows from having one of each.",
    ),
    "odd-squares": (
        "calculation-mistakes",
        "What does your formula for $a^2$ give when $k=1$, and what is the square of $3$?",
        "The square of a sum has a mixed term, and it is missing here.",
    ),
    "prime-before-a-square": (
        "wrong-logical-conclusion",
        "Is $15$ a prime number, and which even $m$ have you not looked at?",
        "Two values of $m$ are tried, and nothing is said of the infinitely many other even ones.",
    ),
    "squares-and-products": (
        "wrong-logical-conclusion",
        "What happens to your first sentence for $a=0$, and for a negative product $abc$?",
        "Dividing by a number that may be zero or negative is not allowed without a word on its sign.",
    ),
    "sum-of-odd-numbers": (
        "begging-the-question",
        "What is left to prove once you suppose this sentence?",
        "The supposition is the whole claim; an induction may suppose it for one number only.",
    ),
    "two-means": (
        "calculation-mistakes",
        "Which sign does $2\\sqrt{ab}$ have after you bring it to the other side?",
        "Moving the root over gives it a minus sign, so the inequality that follows is a weaker one.",
    ),
}
#: What a remark may not say, by problem: in its question, or in its reason.
LEAKING = [
    ("divisible-by-six", "Is $n^3-n=n(n^2-1)=(n-1)\\,n\\,(n+1)$ of any use?", "Examples prove nothing."),
    ("handshakes", "What about $d_1+d_2+\\dots+d_n=2m$?", "Only special parties are treated."),
    ("odd-squares", "What is missing?", "It should be $a^2=(2k+1)^2=4k^2+4k+1=4k(k+1)+1$."),
    (
        "neighbours-among-many",
        "What do the boxes give?",
        "Use boxes: every number from $1$ to $2n$ lies in exactly one of them.",
    ),
    ("lines-across-a-polygon", "Is it not $\\frac{n(n-3)}2$?", "The pattern is wrong."),
    ("two-means", "Do you see it?", "Take instead: the square of a real number is never negative, so start there."),
    ("sum-of-odd-numbers", "You see that the supposition is the whole claim, do you?", "The supposition is the whole claim."),
]


@functools.cache
def wrong() -> dict[str, Case]:
    return {case.slug: case for case in cases() if case.kind == "wrong"}


def is_refused(slug: str, wording: Wording) -> bool:
    case = wrong()[slug]
    known = (case.material.problem, *case.material.steps)
    return reveals(wording, case.secret.model_copy(update={"known": known}))


def test_there_is_a_remark_on_every_wrong_attempt() -> None:
    assert sorted(REMARKS) == sorted(wrong())


@pytest.mark.parametrize("slug", REMARKS)
def test_an_authored_remark_is_read_and_reveals_nothing(slug: str) -> None:
    kind, question, reason = REMARKS[slug]
    block = f"<remark><kind>{kind}</kind><question>{question}</question><reason>{reason}</reason></remark>"
    wording = wording_read(Final(text=block, finish_reason="stop"))
    assert wording == Wording(kind=Fallacy(kind), question=question, reason=reason)
    assert not is_refused(slug, wording)


@pytest.mark.parametrize(("slug", "question", "reason"), LEAKING, ids=[f"{one[0]}-{at}" for at, one in enumerate(LEAKING)])
def test_a_remark_that_leaks_is_refused(slug: str, question: str, reason: str) -> None:
    assert is_refused(slug, Wording(kind=Fallacy.GAP, question=question, reason=reason))
