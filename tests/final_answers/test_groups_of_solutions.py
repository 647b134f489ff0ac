"""Solutions are grouped by the value of their final answer, and by their beginning; a group needs two."""

import time

from apps.reasoning.answers.groups import COMPARISONS, WORDS, by_answer, by_beginning, groups_of

INDUCTION = (
    "We use induction on $n$. For $n = 1$ the sum is $1$, and the claim holds. Now assume that the claim holds for $n$, and "
)
EXTREME = (
    "Consider the smallest counterexample $m > 0$. By its choice every smaller number has the property, so $m - 1$ has it too. "
)


def test_equal_values_are_one_group_in_any_spelling() -> None:
    texts = {
        1: "So it is.\n\nAnswer: $1/2$",
        2: r"Answer: $\frac{1}{2}$",
        3: "Answer: 0.5",
        4: "Answer: 2",
        5: r"Thus \boxed{3}.",
    }
    (found,) = by_answer(texts)
    assert (found.keys, found.shared) == ((1, 2, 3), "$1/2$")


def test_a_formula_at_the_end_of_a_proof_is_no_answer() -> None:
    assert by_answer({1: "Hence $n = 2$", 2: "Hence $n = 2$"}) == []


def test_an_answer_that_cannot_be_read_is_grouped_by_its_words() -> None:
    words = "Answer: all numbers that Ada likes"
    (found,) = by_answer({1: words, 2: words.replace("that Ada", "that   Ada"), 3: "Answer: all numbers that Bob likes"})
    assert found.keys == (1, 2)


def test_beginnings_are_alike_in_other_typesetting_and_with_another_end() -> None:
    texts = {
        "a": INDUCTION + "add $n + 1$ to both sides.",
        "b": EXTREME + "Contradiction.",
        "c": INDUCTION.replace("$n = 1$", r"\(n=1\)") + "multiply by two.",
        "d": EXTREME + "So there is none.",
    }
    assert [one.keys for one in by_beginning(texts)] == [("a", "c"), ("b", "d")]


def test_only_the_beginning_counts() -> None:
    one, other = (words + "so it follows " * WORDS + "The end is the same." for words in (INDUCTION * 3, EXTREME * 3))
    assert by_beginning({1: one, 2: other}) == []


def test_a_beginning_of_a_few_words_says_too_little() -> None:
    assert by_beginning({1: "We use induction.", 2: "We use induction."}) == []


def test_the_largest_group_is_first_and_answers_come_before_beginnings() -> None:
    texts = {number: f"{INDUCTION}\n\nAnswer: {number % 3 % 2}" for number in range(6)}
    found = groups_of(texts)
    assert [(one.kind, len(one.keys)) for one in found] == [("answer", 4), ("answer", 2), ("beginning", 6)]


def test_a_formula_at_the_end_of_a_beginning_is_not_cut() -> None:
    text = "".join(f"word{number} " for number in range(WORDS - 2)) + "and $a + b + c$ follows. " + "More. " * 9
    (found,) = by_beginning({1: text, 2: text})
    assert found.shared.count("$") % 2 == 0


def test_texts_without_spaces_and_a_thousand_answers_take_seconds_at_most() -> None:
    began = time.process_time()
    hostile = {number: "a=" * 50_000 + str(number) for number in range(50)}
    assert by_beginning(hostile) == []
    different = {number: f"Answer: $\\sqrt{{{number * number + 1}}}$" for number in range(COMPARISONS)}
    assert by_answer(different) == []
    assert time.process_time() - began < 60
