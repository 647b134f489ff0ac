"""Z3 is believed where it says that a relation cannot fail, so it must never say so of a question that has a solution.

All questions here have one by construction, mostly a single point where a line touches a curve. Version 4.15.4 denied some.
"""

import random
from fractions import Fraction

import pytest
import z3

from apps.mathcheck.checking import check_text
from apps.mathcheck.findings import PROVED
from apps.mathcheck.proving import solver

TOUCHING = [
    r"For all $x \in [0, 2\pi]$, $\sin x + \cos x < \sqrt2$.",
    r"For all real $x$, $\sin x + \cos x < \sqrt2$.",
    r"For all $x \in [0, 2]$, $\sin x + \cos x < \sqrt2$.",
    r"For $0\le x\le 2\pi$, $\sin x+\cos x<\sqrt2$.",
    r"For all real $x$, $\sin x - \cos x < \sqrt2$.",
    r"For all real $x$, $\cos x < \sqrt2 - \sin x$.",
    r"For all real $x$, $\sin x + \cos x \neq \sqrt2$.",
    r"For all real $x$, $\sqrt2 - \sin x - \cos x > 0$.",
    r"For all real $x$, $\sqrt2(\sin x+\cos x)<2$.",
    r"For all real $x$, $\sin x+\cos x<\frac{2}{\sqrt2}$.",
    r"For all real $x$, $\sin x + \sqrt3\cos x < 2$.",
    r"For all real $x$, $2\sin x + 2\cos x < \sqrt8$.",
]


@pytest.mark.parametrize("text", TOUCHING)
def test_a_strict_inequality_with_equality_somewhere_is_not_proved(text: str) -> None:
    assert PROVED not in [finding.outcome for finding in check_text(text)]


def test_the_inequality_itself_is_proved() -> None:
    (finding,) = check_text(r"For all real $x$, $\sin x + \cos x \le \sqrt2$.")
    assert finding.outcome == PROVED


@pytest.mark.parametrize("text", [r"For all real $x$, $e^x > 1+x$.", r"For all $x \ge 0$, $e^x > 1+x+\frac{x^2}{2}$."])
def test_equality_at_zero_refutes_a_strict_inequality_with_a_power(text: str) -> None:
    (finding,) = check_text(text)
    assert finding.counterexample is not None
    assert finding.counterexample.values == {"x": "0"}


def test_questions_with_a_touching_point_are_not_denied() -> None:
    assert solver.is_installed(), f"Z3 {z3.get_version_string()} is too old"
    source = random.Random(20261128)
    denied = [question for _ in range(40) for question in _questions(source) if _is_denied(question)]
    assert denied == []


def _is_denied(question: list[z3.BoolRef]) -> bool:
    asked = z3.SolverFor("QF_NRA")
    asked.set("rlimit", solver.PER_QUESTION)
    asked.add(question)
    return bool(asked.check() == z3.unsat)


def _questions(source: random.Random) -> list[list[z3.BoolRef]]:
    x, y, z, root = z3.Reals("x y z root")
    p, q, sign = source.randint(1, 4), source.randint(1, 4), source.choice((1, -1))
    low, high = source.randint(1, 3), source.randint(1, 3)
    box = [x >= -low, x <= high, y >= -low, y <= high][: source.randint(0, 4)]
    at, level = Fraction(source.randint(-4, 4), source.randint(1, 3)), source.randint(2, 7)
    touched = z3.RealVal(str(p * at * at + q))
    tangent = [root > 0, root * root == p * p + q * q, p * x + sign * q * y >= root]
    return [
        [*box, *tangent, x * x + y * y == 1],
        [*box, *tangent, x * x + y * y <= 1],
        [p * x * x + q * y * y <= touched, z3.RealVal(str(p * at)) * x + q * y >= touched],
        [x > 0, y > 0, x * y == level, root * root == level, root >= 0, x + y <= 2 * root],
        [x > 0, y > 0, z > 0, x**3 + y**3 + z**3 <= 3 * x * y * z],
    ]
