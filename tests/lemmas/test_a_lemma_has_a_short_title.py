"""A lemma has a short title: its conclusion as plain text. The model's own title comes first."""

import pytest

from apps.lemmas.fold import Fold
from apps.lemmas.models import Lemma
from apps.lemmas.titles import LONGEST, title_of
from apps.reasoning.domain.events import LemmaProposed
from tests.lemmas.factory import make_run


@pytest.mark.parametrize(
    ("statement", "title"),
    [
        (r"For every integer $n\ge 1$ we have $4^n\le 2n\binom{2n}{n}$.", "4ⁿ ≤ 2nC(2n, n)"),
        (
            r"Let $n\ge 1$ be an integer and let $p$ be a prime. The exponent of $p$ in $n!$ is finite.",
            "The exponent of p in n! is finite",
        ),
        (r"Let $p$ be a prime with $2m<p<4m$. Put $r=p-2m$. Then $r$ is odd.", "r is odd"),
        (r"If $b_n = A$, then $r_n = r_{n-1}$.", "If bₙ = A, then rₙ = rₙ₋₁"),
        (r"Suppose that $N$ is prime. Then $4^n\le 2N$.", "… 4ⁿ ≤ 2N"),
        (r"If $n$ is even, $f(n)=0$; if $n$ is odd, $f(n)=1$.", "If n is even, f(n) = 0; if n is odd, f(n) = 1"),
        (r"$\frac{a+b}{2}\ge\sqrt{ab}$", "(a+b)/2 ≥ √(ab)"),
        (r"$\lfloor\frac{n+1}2\rfloor=\frac1{n(n+1)}$", "⌊(n+1)/2⌋ = 1/(n(n+1))"),
        (r"$\sum_{i=1}^n i\ge\sqrt[3]{x+1}$", "∑ᵢ₌₁ⁿ i ≥ ∛(x+1)"),
        (r"$f(x)=\begin{cases}1&x>0\\0&x\le0\end{cases}$ is bounded.", "f(x) = … is bounded"),
        (r"$\triangle DEF$ has an angle of $84^\circ$.", "△ DEF has an angle of 84°"),
        (r"$4^n>(2n)^{1+\sqrt{2n}}$.", "4ⁿ > (2n)^(1+√(2n))"),
        ("", ""),
    ],
)
def test_the_title_is_the_conclusion(statement: str, title: str) -> None:
    assert title_of(statement) == title


@pytest.mark.parametrize("statement", ["word " * 40, "x" * 200, r"$\frac{1}{$ and \begin{broken", r"\left( \mathbb{"])
def test_a_long_or_broken_statement_has_a_title_of_limited_length(statement: str) -> None:
    assert 0 < len(title_of(statement)) <= LONGEST


@pytest.mark.django_db
def test_a_model_s_own_title_is_kept_and_a_missing_one_is_computed() -> None:
    run = make_run()
    plain = LemmaProposed(
        lemma="s0.2", number=2, rollout=0, round=1, statement="Let $n$ be odd. Then $n^2$ is odd.", steps=("Expand.",)
    )
    Fold(run).apply([(1, plain.model_copy(update={"lemma": "s0.1", "title": "Squares of odd numbers"})), (2, plain)])
    titles = Lemma.objects.filter(run=run).values_list("title", flat=True)
    assert list(titles) == ["Squares of odd numbers", "n² is odd"]
