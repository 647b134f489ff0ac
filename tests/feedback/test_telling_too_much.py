"""What a hint reveals of a solution is found, except what its reader has already and what the rung allows."""

import pytest

from apps.reasoning.feedback.leaks import LeakKind, leaks_of

STATEMENT = "Find all integers $n > 1$ such that $n^2 + 1$ divides $2^n - 1$."
SOLUTION = (
    "Let $q$ be the smallest prime divisor of $n^2+1$. By Fermat the order of two modulo $q$ divides both $n$ and $q-1$, "
    "which is impossible because of the choice of that prime. We now apply Zsigmondy to see that $a_{n+1} = a_n^2 - 2$ holds."
)
ANSWER = "$n = 4711$"


def kinds(hint: str, level: int = 1) -> set[str]:
    found = leaks_of(hint, level=level, secrets=[SOLUTION], answer=ANSWER, known=[STATEMENT])
    return {leak.kind.value for leak in found}


def test_a_hint_in_its_own_words_reveals_nothing() -> None:
    assert kinds("Look again at the second step: for which numbers does it hold? Try $n = 3$.") == set()


def test_a_run_of_words_of_the_solution_is_found_whatever_its_case() -> None:
    hint = "Think of THE ORDER of two modulo $q$ divides both $n$ and something else."
    assert kinds(hint) == {"words"}
    found = leaks_of(hint, level=1, secrets=[SOLUTION])
    assert "the order of two modulo" in found[0].words


def test_seven_words_in_a_row_may_be_chance_and_eight_are_not() -> None:
    secret = "one two three four five six seven eight nine"
    assert leaks_of("one two three four five six seven then", level=0, secrets=[secret]) == ()
    assert leaks_of("one two three four five six seven eight", level=0, secrets=[secret])[0].kind is LeakKind.WORDS


def test_a_formula_of_the_solution_is_found_however_it_is_set() -> None:
    assert kinds("Look at \\( a_{n+1}=a_n^2-2 \\).") == {"formula"}
    assert kinds("Look at $a_{n+1} = a_n^2 - 3$.") == set()


def test_the_answer_is_found_as_a_formula_an_equation_or_in_words() -> None:
    assert kinds("Is it $n=4711$?") == {"answer"}
    assert leaks_of("So $k = 12$.", level=4, secrets=[], answer="12")[0].kind is LeakKind.ANSWER
    assert leaks_of("The answer is 12.", level=4, secrets=[], answer="$12$")[0].kind is LeakKind.ANSWER
    assert leaks_of("Read step 12 again.", level=4, secrets=[], answer="12") == ()


def test_a_name_is_found_on_the_first_rungs_and_allowed_on_later_ones() -> None:
    assert kinds("Do you know what Zsigmondy proved?", level=1) == {"name"}
    assert kinds("Do you know what Zsigmondy proved?", level=2) == set()


def test_what_the_reader_has_already_is_no_secret() -> None:
    own = "By Fermat the order of two modulo $q$ divides both $n$ and $q-1$, and $a_{n+1} = a_n^2 - 2$ by Zsigmondy."
    hint = "You say: the order of two modulo $q$ divides both $n$ and $q-1$, and $a_{n+1} = a_n^2 - 2$; is Zsigmondy needed?"
    assert leaks_of(hint, level=0, secrets=[SOLUTION], answer=ANSWER, known=[STATEMENT, own]) == ()


@pytest.mark.parametrize("level", [5, 6])
def test_near_the_top_a_hint_may_reveal_a_lemma_but_not_the_answer(level: int) -> None:
    hint = "the order of two modulo $q$ divides both $n$ and $q-1$, so $a_{n+1} = a_n^2 - 2$ and $n = 4711$."
    assert kinds(hint, level=level) == {"answer"}


def test_the_last_rung_reveals_everything() -> None:
    assert kinds(SOLUTION + " So $n = 4711$.", level=7) == set()


def test_long_texts_are_compared_in_little_time() -> None:
    long = "alpha beta gamma delta epsilon zeta eta theta " * 2000
    assert leaks_of(long, level=0, secrets=["something else entirely " * 4000]) == ()
