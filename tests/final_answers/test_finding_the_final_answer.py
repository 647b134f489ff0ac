"""The final answer of a solution: an answer line, a box, or what the last line calls the answer."""

import pytest

from apps.reasoning.answers.comparison import answer_compared
from apps.reasoning.answers.final import final_answer


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("We add.\n\nAnswer: $7$", "$7$"),
        ("**Answer:** 7", "7"),
        ("**Final answer: $7$.**", "$7$"),
        ("## Answer\n\n$x=2$", "$x=2$"),
        ("Answer:\n\\[\n\\frac12\n\\]", "\\[\n\\frac12\n\\]"),
        ("Answer: $7$\n\nThis completes the proof. ∎", "$7$"),
        (r"Answer: $\boxed{7}$", "$7$"),
        (r"So $x = \boxed{\frac{1}{2}}$, as claimed.", r"$\frac{1}{2}$"),
        (r"Thus $x=\boxed{1}$ or $x=\boxed{2}$.", "$1$, $2$"),
        ("First \\boxed{1}, but that is wrong.\n\nAnswer: 2", "2"),
        ("Answer: 1 was a guess.\n\nIn fact \\boxed{2}.", "$2$"),
        ("The answer is $7$, since $8>7$.", "$7$"),
        ("The final answer to the problem is: $7$", "$7$"),
    ],
)
def test_a_stated_answer_is_found(text: str, found: str) -> None:
    assert final_answer(text) == (found, True)


@pytest.mark.parametrize(
    ("text", "found"),
    [("Hence the only solution is $n=7$.", "$n=7$"), ("The minimum value of the sum is $12$", "$12$")],
)
def test_what_the_last_line_calls_a_solution_is_found_but_not_stated(text: str, found: str) -> None:
    assert final_answer(text) == (found, False)


def test_the_last_formula_counts_only_where_it_is_equal() -> None:
    assert answer_compared("Adding both we come to $3+4=7$.", "7").outcome == "equal"
    other = answer_compared("Hence $a^2+b^2=12$ and we are done.", "7")
    assert other.outcome == "undecided"
    assert "states no answer" in other.reason


def test_a_stated_wrong_answer_is_different_and_an_empty_text_undecided() -> None:
    assert answer_compared("Hence the only solution is $n=8$.", "7").outcome == "undecided"
    assert answer_compared("Answer: 8", "7").outcome == "different"
    assert answer_compared(" \n ", "7").outcome == "undecided"
