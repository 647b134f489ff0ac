"""Prose next to an answer is no part of its value: it is cut off, or nothing is decided."""

import pytest

from apps.reasoning.answers.comparison import answer_compared

RIGHT = [
    "Answer: 7, as 8 is too large",
    "Answer: 7, at x = 2",
    "Answer: 7, or seven",
    "Answer: 7, or equivalently $14/2$",
    "Answer: 7, since the next candidate 8 fails",
    "Answer: $7$, attained at $x = 2$",
    "Answer: 7, which is the value at 3",
    "Answer: 7, namely 1, 2, 3, 4, 5, 6, 8",
    "Answer: 7, with equality when $x = 1$",
    "Answer: 7, so we are done",
    "Answer: 7 is the minimum",
    "Answer: $7$ is the only solution, because 8 is even",
    "The number of solutions is $7$, namely $1,2,3,4,5,6,8$.",
    "Answer: $7 because 8 fails$",
    r"Hence \boxed{7 \text{ at } x=2}",
    "The final answer is 7, as claimed.",
]
UNDECIDED = [
    "So $n=7$ is the only solution, because the maximum is $12$.",
    "Therefore 7 is the minimum, since the value 6 is 1 too small.",
    r"The minimum is attained at $x = 2$ and equals 7",
    "Hence the only solution is $n=8$.",
    "Answer: x = 2, so 7",
    "Answer: $x = 2$, hence the minimum is $7$",
    "Answer: x = 2, which gives 7",
    "Answer: one number, namely 7",
    "Answer: at x = 2, 7",
    "Answer: 7; equality at x = 2",
    "Answer: $7$, $x = 2$",
    "Answer: $7$, $(a,b)=(1,2)$",
    "Answer: 7; x = 2",
    "Answer: 7, n > 6",
    "Answer: x = 2 and the value is 7",
    "Answer: $x=2$, value $7$",
    "Answer: Yes, 7",
    "Answer: 7 and 8 do not work",
    "Answer: 7, 8 too large",
    "Answer: 7, not 8",
    "Answer: 7 (attained at x = 2)",
    r"So \boxed{7}, since \boxed{8} is too large",
    "The answer, which is attained at $x = 2$, is 7",
]
OTHER = [
    "Answer: 8, as 7 is too small",
    "Answer: 8, since 7 is too small",
    "Answer: 8, not 7",
    "Answer: 8 instead of 7",
    "Answer: 8, at x = 7",
    "Answer: 8, or eight",
    "Answer: 3 or seven",
    "Answer: 7 or eight",
    "Answer: 7 as well as 8",
    "Answer: x = 7, so 49",
    "Answer: 7 at least",
    "Answer: 7 at most",
    "Answer: 7 when n is even and 8 otherwise",
    "Answer: 7 is wrong",
    "Answer: 7 and 8 fail",
    "The minimum is attained at $x = 7$ and equals 2",
    "The answer is not 7",
    "The number of solutions is $8$, namely $7$ and others.",
]


@pytest.mark.parametrize("text", RIGHT)
def test_a_remark_is_cut_off(text: str) -> None:
    assert answer_compared(text, "7").outcome == "equal", answer_compared(text, "7")


@pytest.mark.parametrize("text", UNDECIDED)
def test_prose_that_is_not_read_decides_nothing(text: str) -> None:
    found = answer_compared(text, "7")
    assert found.outcome == "undecided", found
    assert len(found.reason) > 10


@pytest.mark.parametrize("text", OTHER)
def test_another_answer_is_never_equal_through_its_remark(text: str) -> None:
    assert answer_compared(text, "7").outcome != "equal", answer_compared(text, "7")


@pytest.mark.parametrize(
    "text", ["Answer: 8, since 7 is too small", "Answer: 8 ways", r"\boxed{8}", "The answer is 8.", r"\boxed{1} or \boxed{2}"]
)
def test_a_stated_wrong_answer_is_different(text: str) -> None:
    assert answer_compared(text, "7").outcome == "different", answer_compared(text, "7")
