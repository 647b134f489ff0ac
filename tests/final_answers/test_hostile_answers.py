"""Answers that are meant to break the reader have an outcome, within a bound that counts operations and no seconds."""

import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from apps.reasoning.answers import comparison
from apps.reasoning.answers.comparison import answer_compared, answers_compared
from apps.reasoning.answers.work import MOST_WORK, Work

UNDECIDED = {
    "40 kB": "1+" * 20_000 + "1",
    "40 kB of braces": "{" * 20_000 + "}" * 20_000,
    "40 kB of open formulas": "a$b" + r"\(" * 20_000,
    "a tower": "$9^{9^{9^9}}$",
    "a tower below": "$2^{-9^{9^9}}$",
    "a factorial": "$10^9!$",
    "factorials of factorials": "$((9!)!)!$",
    "a binomial": r"$\binom{10^{12}}{10^6}$",
    "brackets": "(" * 300 + "1" + ")" * 300,
    "roots": "$" + r"\sqrt{" * 60 + "2" + "}" * 60 + "$",
    "slashes": "$" + "1/" * 400 + "3$",
    "fractions without arguments": r"\frac" * 300,
    "an open brace": r"$\frac{1}{2",
    "closing braces": "}}}}",
    "an angle": r"$\sin 10^{1000}$",
    "code": '__import__("os").system("true")',
    "control characters": "\x00\x01\x02",
    "dollars": "$" * 999,
    "dots": "..." * 1000,
    "conditions": "for " * 500,
    "permutations": "(1,2,3,4,5,6,7,8,9) and permutations",
    "division by zero": "$1/0$",
}
DIFFERENT = {
    "a set of the empty set": r"\{\emptyset\}",
    "the empty set": r"\emptyset",
    "signs in signs": "$" + r"\pm(" * 25 + "1" + ")" * 25 + "$",
    "many roots": "$" + "+".join(rf"\sqrt{{{n}}}" for n in range(2, 60)) + "$",
    "a set of roots": ", ".join(rf"\sqrt{{{n}}}" for n in range(2, 190)),
    "sets in sets": r"\{" * 25 + "1,2" + r"\}" * 25,
    "a long range": r"1,2,\dots,10^{12}",
    "a long decimal": "0." + "3" * 3000,
    "angles of large denominators": r"$\cos\frac{\pi}{61}\cos\frac{\pi}{59}\cos\frac{\pi}{53}$",
}


@pytest.fixture
def works(monkeypatch: pytest.MonkeyPatch) -> list[Work]:
    """The work of every comparison."""
    kept: list[Work] = []

    def recorded() -> Work:
        kept.append(Work())
        return kept[-1]

    monkeypatch.setattr(comparison, "Work", recorded)
    answers_compared.cache_clear()
    return kept


@pytest.mark.parametrize("name", UNDECIDED)
def test_it_is_undecided_with_a_reason_within_the_bound(name: str, works: list[Work]) -> None:
    for given, expected in ((UNDECIDED[name], "7"), ("7", UNDECIDED[name]), (UNDECIDED[name], "$x+1$")):
        found = answers_compared(given, expected)
        assert found.outcome == "undecided"
        assert 10 < len(found.reason) < 300
    assert all(work.spent <= MOST_WORK + 25_000 for work in works), "one operation may overdraw what is left"


@pytest.mark.parametrize("name", DIFFERENT)
def test_it_differs_from_seven_within_the_bound(name: str, works: list[Work]) -> None:
    assert answers_compared("7", DIFFERENT[name]).outcome == "different"
    assert answers_compared(DIFFERENT[name], DIFFERENT[name] + " ").outcome == "equal"
    assert all(work.spent <= MOST_WORK for work in works)


def test_the_same_pair_costs_the_same_every_time(works: list[Work]) -> None:
    for _ in range(3):
        answers_compared(r"$\lfloor n/2\rfloor$", r"$\frac{2n-1+(-1)^n}{4}$")
        answers_compared.cache_clear()
    assert len({work.spent for work in works}) == 1


def test_a_comparison_out_of_operations_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "Work", lambda: Work(50))
    answers_compared.cache_clear()
    found = answers_compared(r"$\lfloor m/2\rfloor$", r"$\frac{2m-1+(-1)^m}{4}$")
    assert (found.outcome, found.reason) == ("undecided", "Comparing them takes more than 50 operations.")
    answers_compared.cache_clear()


@pytest.mark.parametrize(
    "text", [r"\boxed{" * 4_000, "number " * 6_000, "Answer: " + "7" * 40_000, "", "\n" * 50_000, "$" * 40_000]
)
def test_a_hostile_solution_is_undecided(text: str) -> None:
    assert answer_compared(text, "7").outcome == "undecided"


SIGNS = r"""
1 2 7 0 10^{10} 0.3 n x i e + - / * ^ _ ! ( ) [ ] { } , ; = < \le \ge \ne \approx \pm \frac \sqrt \binom \log \ln \sin
\tan \pi \infty \lfloor \rfloor | \{ \} \cup \setminus \in \mathbb{R} \emptyset \ldots $ and or for odd cm % ^\circ \max
1.000000000000000001
"""
PIECES = st.sampled_from(SIGNS.split())


@settings(max_examples=300, deadline=None, derandomize=True)
@drawn(st.lists(PIECES, max_size=14).map(" ".join), st.lists(PIECES, max_size=8).map(" ".join))
def test_whatever_is_written_has_an_outcome(given_answer: str, expected: str) -> None:
    found = answers_compared(given_answer, expected)
    assert 10 < len(found.reason) < 300
    assert answers_compared(given_answer, given_answer + " ").outcome == "equal" or not given_answer.strip()
