"""Lemmas are grouped word for word, up to names of variables, then by likeness; decisions of people override all three."""

from collections.abc import Sequence

import pytest

from apps.lemmas.pairs.grouping import Decision, Group, How, Statement, groups_of

PROBLEM = "Let $p > 5$ be a prime. Prove that $240 \\mid p^4 - 1$."
EIGHT = "For every odd integer $a$ we have $8 \\mid a^2 - 1$."


def groups(*texts: str, decisions: Sequence[Decision[int]] = ()) -> list[Group[int]]:
    """The groups of some statements, whose keys are their places."""
    return groups_of([Statement(place, text) for place, text in enumerate(texts)], PROBLEM, decisions)


def members(found: list[Group[int]]) -> list[tuple[int, ...]]:
    return [group.keys for group in found]


def test_statements_with_one_normal_form_say_the_same() -> None:
    (group,) = groups(EIGHT, "for every odd integer $a$ we have $8\\,\\mid a^{2}-1$")
    assert (group.how, group.score) == (How.EQUAL, None)


@pytest.mark.parametrize("other", ["For every odd integer $n$ we have $8 \\mid n^2 - 1$.", EIGHT.replace("$a$", "\\(a\\)")])
def test_the_name_of_a_variable_makes_no_difference(other: str) -> None:
    assert members(groups(EIGHT, other)) == [(0, 1)]


def test_a_letter_of_the_problem_keeps_its_name() -> None:
    assert members(groups("We have $p \\mid m$.", "We have $q \\mid m$.")) == [(0,), (1,)]
    assert members(groups("We have $r \\mid m$.", "We have $q \\mid m$.")) == [(0, 1)]


def test_swapped_variables_are_another_statement() -> None:
    assert members(groups("If $a \\mid b$, then $a \\le b$.", "If $a \\mid b$, then $b \\le a$.")) == [(0,), (1,)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("We have $a \\mid b$.", "We have $b \\mid a$."),
        (
            "Suppose that the conditions above hold for the integers in the table; then the number $k$ divides the number $m$.",
            "Suppose that the conditions above hold for the integers in the table; then the number $m$ divides the number $k$.",
        ),
        (
            "In every such table the sum of the first row divides the product of the last column and is positive.",
            "In every such table the product of the last column divides the sum of the first row and is positive.",
        ),
        ("If u divides v then every common multiple is even.", "If v divides u then every common multiple is even."),
    ],
    ids=["formulas", "letters in a long statement", "words", "letters in prose"],
)  # fmt: skip
def test_what_divides_and_what_is_divided_are_not_exchanged(one: str, other: str) -> None:
    assert members(groups(one, other)) == [(0,), (1,)]


def test_exchanged_letters_do_not_meet_by_a_third_statement() -> None:
    assert members(groups("We have $x \\mid y$.", "We have $a \\mid b$.", "We have $b \\mid a$.")) == [(0, 1), (2,)]


def test_words_that_only_connect_may_be_exchanged() -> None:
    (group,) = groups("For each odd $a$ the number $a^2 + 1$ is even.", "For every odd $a$ the number $a^2 + 1$ is even.")
    assert group.how == How.ALIKE


def test_most_words_in_common_are_likeness_with_a_score() -> None:
    (group,) = groups(EIGHT, "It holds for every odd integer $a$ that $8 \\mid a^2 - 1$.")
    assert group.how == How.ALIKE
    assert group.score is not None
    assert 0.8 <= group.score < 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("If $5 \\nmid a$, then $5 \\mid a^4 - 1$ for each $a$.", "If $5 \\nmid a$, then $5 \\mid a^2 - 1$ for each $a$."),
        ("Every such sequence is bounded above by a number.", "Every such sequence is not bounded above by a number."),
        ("For all such $x$ and $y$ we have $x \\le y$ in the end.", "For all such $x$ and $y$ we have $x < y$ in the end."),
        ("A graph that is connected and regular is also planar.", "A graph that is planar and connected is also regular."),
        ("$4 \\mid n$ if the last digits of $n$ are a multiple.", "$4 \\mid n$ only if the last digits of $n$ are a multiple."),
        ("For all $x$ in the interval $f$ is monotone there.", "For all $x$ in the interval $f$ is strictly monotone there."),
        ("For all such $n$ the number $x$ is large or $y$ small.", "For all such $n$ the number $x$ is large and $y$ small."),
        ("For all such $x$ a triangle of side $x$ has area $x$.", "For all such $x$ a square of side $x$ has area $x$."),
    ],
    ids=["a number", "a negation", "a relation", "the order", "a condition", "a property", "a connective", "a word"],
)  # fmt: skip
def test_statements_that_differ_in_one_thing_that_matters_are_not_alike(one: str, other: str) -> None:
    assert members(groups(one, other)) == [(0,), (1,)]


def test_people_join_what_is_computed_to_differ() -> None:
    (group,) = groups(EIGHT, "Odd squares leave remainder one.", decisions=[Decision(0, 1, True)])
    assert group.how == How.DECIDED


def test_a_group_with_a_joined_lemma_says_so_although_others_are_equal() -> None:
    (group,) = groups(EIGHT, EIGHT, "Odd squares leave remainder one.", decisions=[Decision(0, 2, True)])
    assert group.how == How.DECIDED


def test_people_part_equal_statements_and_a_third_stays_with_the_first() -> None:
    assert members(groups(EIGHT, EIGHT, EIGHT, decisions=[Decision(0, 1, False)])) == [(0, 2), (1,)]
    both = [Decision(0, 1, False), Decision(0, 2, False)]
    assert members(groups(EIGHT, EIGHT, EIGHT, decisions=both)) == [(0,), (1, 2)]


def test_the_newest_of_two_decisions_that_contradict_each_other_counts() -> None:
    joins = [Decision(0, 1, True), Decision(1, 2, True)]
    assert members(groups("One.", "Two.", "Three.", decisions=[*joins, Decision(0, 2, False)])) == [(0, 1, 2)]
    assert members(groups("One.", "Two.", "Three.", decisions=[Decision(0, 2, False), *joins])) == [(0, 1), (2,)]


def test_a_decision_about_a_lemma_that_is_not_compared_is_left_out() -> None:
    assert members(groups("One.", decisions=[Decision(0, 9, True)])) == [(0,)]
