"""A claim and its assumptions become a theorem that says the same, or are not expressible."""

import pytest

from apps.mathcheck.kernel.coq import statement_text
from apps.mathcheck.kernel.lean import statement_text as lean_text
from apps.mathcheck.kernel.reading import Read, claims_of


def read(text: str) -> Read:
    """The last claim of a text."""
    return claims_of([("text", text)])[-1]


def stated(text: str) -> str:
    """The last of its theorems for Coq, on one line."""
    found = read(text)
    assert found.theorems, found.reason
    return " ".join(statement_text(found.theorems[-1]).split()).removeprefix("Theorem claim : ")


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        (r"Let $n$ be an odd integer. Then $8 \mid n^2-1$.", "forall (n : Z), (n mod 2 = 1)%Z -> (8 | n ^ 2 - 1)%Z."),
        (r"Let $p>3$ be a prime. Then $p^2\equiv 1\pmod{24}$.", "prime p -> (3 < p)%Z -> (24 | p ^ 2 - 1)%Z."),
        (r"For all real $x$ we have $-x^2\le 0$.", "forall (x : R), (- x ^ 2 <= 0)%R."),
        (r"Let $n$ be an integer. Then $\frac{n(n+1)}{2}\ge 0$.", "forall (n : Z), (0 <= IZR n * (IZR n + 1) / 2)%R."),
        (r"Let $n$ be a positive integer. Then $2^n>n$.", "forall (n : Z), (0 < n)%Z -> (n < 2 ^ n)%Z."),
        (r"We have $|2-5|=3$ and $\binom{4}{2}=6$.", "(binomial 4 2 = 6)%Z."),
        (r"We have $0.5+\frac13=\frac56$.", "(1 / 2 + 1 / 3 = 5 / 6)%R."),
        (r"Let $a,b$ be real with $a+b=1$. Then $a^2+b^2\ge\frac12$.", "(a + b = 1)%R -> (1 / 2 <= a ^ 2 + b ^ 2)%R."),
        (r"Let $q$ be rational. Then $(q-1)^2\ge 0$.", "forall (q : R), (0 <= (q - 1) ^ 2)%R."),
        (
            r"Let $R,S$ be positive real numbers. Then $R+S>0$.",
            "(R_ : R) (S_ : R), (0 < R_)%R -> (0 < S_)%R -> (0 < R_ + S_)%R.",
        ),
    ],
)
def test_the_statement_mirrors_the_formula(text: str, statement: str) -> None:
    assert stated(text).endswith(statement)


def test_an_undeclared_divisor_becomes_a_hypothesis_and_a_declared_one_must_be_proved() -> None:
    undeclared = read(r"We have $\frac{q^2+q}{q}=q+1$.").theorems[0]
    declared = read(r"For all real $x$ we have $\frac{x^2+x}{x}=x+1$.").theorems[0]
    assert "(q <> 0)%R ->" in statement_text(undeclared)
    assert not undeclared.required
    assert "<>" not in statement_text(declared)
    assert len(declared.required) == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (r"We have $\sum_{k=1}^{n} k=\frac{n(n+1)}{2}$.", "a sum or product with a name as its bound"),
        (r"Let $n$ be an integer. Then $2^n>0$.", "an exponent that may be negative"),
        (r"Let $x$ be real. Then $\sqrt[3]{x}\le x^2+1$.", "the function root"),
        (r"Let $A,B$ be matrices. Then $(A+B)^2=A^2+2AB+B^2$.", "capitals side by side"),
        (r"We have $1/2n=n/2$.", "its notation has more than one reading"),
    ],
)
def test_what_has_no_counterpart_is_not_expressible(text: str, reason: str) -> None:
    found = read(text)
    assert not found.theorems
    assert reason in found.reason


def test_conditions_that_no_point_meets_give_no_theorem() -> None:
    found = read(r"Let $x$ be a real number with $x>1$ and $x<0$. Then $x^2\le -1$.")
    assert len(found.theorems) == 1
    assert "->" not in statement_text(found.theorems[0])


def test_the_statement_for_lean_says_the_same() -> None:
    found = read(r"Let $n$ be an odd integer. Then $8 \mid n^2-1$.").theorems[0]
    said = "theorem claim (n : ℤ) (h1 : n % 2 = (1 : ℤ)) : (8 : ℤ) ∣ ((n ^ (Int.toNat (2 : ℤ))) + (-(1 : ℤ)))"
    assert " ".join(lean_text(found).split()) == said
