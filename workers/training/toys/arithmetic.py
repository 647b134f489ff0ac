"""Arithmetic problems with proofs in steps, and the check of such a proof by `apps.mathcheck`.

`Compute $7+5\\cdot3$.` is proved by lines that each carry out one operation: `$7+5\\cdot3=7+15$`, `$7+15=22$`. Products come
first, then sums from the left. A proof is right if the lines form a chain from the problem's
expression to a number, the computational verifier proves every line, and the number is the answer.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np

from apps.mathcheck.checking import check_text
from apps.mathcheck.findings import PROVED
from apps.reasoning.answers.comparison import answer_compared, answers_compared

TIMES = r"\cdot"
#: One problem in eight is never trained on. Its content decides, so that no seed can mix the two kinds.
HELD_OUT = 8
MOST_VALUE = 40
LEAST_DRAWN, MOST_DRAWN = 2, 9
_SIGNS = {"+": "+", "-": "-", "*": TIMES}
_FORMULA = re.compile(r"\$([^$]*)\$")

Terms = tuple[int | str, ...]


@dataclass(frozen=True)
class Problem:
    """An expression of numbers and signs in turns: `(7, "+", 5, "*", 3)`."""

    terms: Terms

    @property
    def expression(self) -> str:
        """The expression in TeX."""
        return written(self.terms)

    @property
    def statement(self) -> str:
        """The text of the problem."""
        return f"Compute ${self.expression}$."

    @property
    def answer(self) -> str:
        """The value as text; it is in no prompt."""
        return str(self.lines()[-1][-1][0])

    @property
    def is_held_out(self) -> bool:
        """Whether the hash of its statement keeps it from training."""
        return hashlib.sha256(self.statement.encode()).digest()[0] % HELD_OUT == 0

    def lines(self) -> list[tuple[Terms, Terms]]:
        """Left and right sides of the lines of its proof."""
        found, terms = [], self.terms
        while len(terms) > 1:
            place = _next(terms)
            after = (*terms[: place - 1], _value(terms, place), *terms[place + 2 :])
            found.append((terms, after))
            terms = after
        return found


def written(terms: Terms) -> str:
    """TeX of an expression."""
    return "".join(_SIGNS.get(str(term), str(term)) for term in terms)


def drawn_problem(random: np.random.Generator, *, held_out: bool) -> Problem:
    """A problem of two operations with values from 1 to 40, of the kind that is held out or of the other."""
    while True:
        problem = Problem(_drawn_terms(random))
        if problem.is_held_out == held_out and _is_small(problem):
            return problem


@lru_cache
def held_out_count() -> int:
    """How many different problems are held out."""
    values, signs = range(LEAST_DRAWN, MOST_DRAWN + 1), _SIGNS
    every = (Problem(terms) for terms in product(values, signs, values, signs, values))
    return sum(problem.is_held_out and _is_small(problem) for problem in every)


def proof_text(lines: Sequence[tuple[Terms, Terms]]) -> str:
    """A proof in the form that the scaffolds' prompts ask for, with the line of its answer."""
    steps = [f"${written(left)}={written(right)}$" for left, right in lines]
    body = "</step>\n<step>".join(steps)
    return f"<proof>\n<step>{body}\n\nAnswer: {written(lines[-1][1])}</step>\n</proof>"


def slipped_lines(problem: Problem, random: np.random.Generator) -> tuple[list[tuple[Terms, Terms]], int]:
    """Lines of a proof with one wrong value, which the later lines use, and the number of the wrong line."""
    lines, terms = problem.lines(), problem.terms
    wrong = int(random.integers(len(lines)))
    found: list[tuple[Terms, Terms]] = []
    while len(terms) > 1:
        place = _next(terms)
        value = _value(terms, place)
        if len(found) == wrong:
            value = _slip(value, random)
        after = (*terms[: place - 1], value, *terms[place + 2 :])
        found.append((terms, after))
        terms = after
    return found, wrong


def is_right(steps: Sequence[str], problem: Problem) -> bool:
    """Whether the steps are a proof: a chain from the expression to the answer, every line of which is proved."""
    side = problem.expression
    for step in steps:
        formulas = _FORMULA.findall(step)
        left, equals, right = formulas[0].partition("=") if len(formulas) == 1 else ("", "", "")
        if not equals or left != side or not is_proved(step):
            return False
        side = right
    text = "\n\n".join(steps)
    is_answer = side.isdecimal() and answers_compared(side, problem.answer).is_equal
    return bool(is_answer and answer_compared(text, problem.answer).is_equal)


@lru_cache(maxsize=100_000)
def is_proved(step: str) -> bool:
    """Whether the computational verifier proves every formula of a step, and there is one."""
    found = check_text(step)
    return bool(found) and all(one.outcome == PROVED for one in found)


def _drawn_terms(random: np.random.Generator) -> Terms:
    one, two, three = (int(number) for number in random.integers(LEAST_DRAWN, MOST_DRAWN + 1, 3))
    first, second = (str(random.choice(list(_SIGNS))) for _ in range(2))
    return one, first, two, second, three


def _is_small(problem: Problem) -> bool:
    """Whether all values are from 1 to 40."""
    values = [term for _, right in problem.lines() for term in right if isinstance(term, int)]
    return min(values) > 0 and max(values) <= MOST_VALUE


def _next(terms: Terms) -> int:
    """The place of the sign to carry out next."""
    return terms.index("*") if "*" in terms else 1


def _value(terms: Terms, place: int) -> int:
    one, sign, two = int(terms[place - 1]), terms[place], int(terms[place + 1])
    return one * two if sign == "*" else one + two if sign == "+" else one - two


def _slip(value: int, random: np.random.Generator) -> int:
    """Another value close to the right one, as errors are."""
    changed = value + int(random.choice([-10, -2, -1, 1, 2, 10]))
    return changed if changed > 0 else value + 1
