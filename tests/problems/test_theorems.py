"""Lemmas of reference solutions are found by models of other problems, and never by those of their own."""

import pytest

from apps.problems.models import Problem, Topic
from apps.problems.theorems import lemmas_in, theorem_search
from apps.reasoning.domain.tools import SearchJob

TEXT = r"""We begin with a general remark.

**Lemma 1** (Pigeonhole). If $n+1$ objects lie in $n$ boxes, one box holds two of them.

*Proof.* Otherwise there are at most $n$.

Claim: every prime $p\equiv 1\pmod 4$ is a sum of two squares.
Proof: by descent.

\begin{theorem}[Bounded chains]
A chain of divisors of $n$ has at most $\Omega(n)+1$ members.
\end{theorem}

This claim is then used. The lemma follows.
"""


def test_lemmas_are_taken_with_their_names_and_without_proofs() -> None:
    assert [(one.name, one.statement) for one in lemmas_in(TEXT)] == [
        ("Theorem (Bounded chains)", r"A chain of divisors of $n$ has at most $\Omega(n)+1$ members."),
        ("Lemma 1 (Pigeonhole)", "If $n+1$ objects lie in $n$ boxes, one box holds two of them."),
        ("Claim", r"every prime $p\equiv 1\pmod 4$ is a sum of two squares."),
    ]


@pytest.mark.parametrize("text", ["", "Lemma", "Lemma 3.", "The lemma is plain.", "Claim. Yes.", "Lemma 1. " + "x" * 9000])
def test_a_text_without_a_statement_has_no_lemma_and_a_long_one_is_cut(text: str) -> None:
    assert all(15 < len(one.statement) <= 1200 for one in lemmas_in(text))


@pytest.fixture
def library(db: None) -> Problem:
    """Two problems, each with a solution; the first is returned."""
    first, second = (
        Problem.objects.create(slug=name, title=name.title(), topic=Topic.NUMBER_THEORY) for name in ("own", "other")
    )
    first.reference_solutions.create(text="Lemma 1. Every prime divisor of a repunit is odd and not five.")
    second.reference_solutions.create(text=TEXT)
    return first


def test_a_question_finds_the_nearest_lemma_of_another_problem(library: Problem) -> None:
    hits = theorem_search(SearchJob(query="prime as a sum of squares", top=2), without=library)
    assert hits[0].name == "Claim of “Other”"
    assert hits[0].library == "theorems"


def test_the_problem_of_the_run_gives_nothing_away(library: Problem) -> None:
    hits = theorem_search(SearchJob(query="prime divisors of a repunit"), without=library)
    assert not [hit for hit in hits if "repunit" in hit.text]
    other = Problem.objects.get(slug="other")
    assert "repunit" in theorem_search(SearchJob(query="prime divisors of a repunit"), without=other)[0].text


@pytest.mark.parametrize("query", ["", "a", '" OR name:*', "NEAR("])
def test_no_question_breaks_the_search(library: Problem, query: str) -> None:
    assert isinstance(theorem_search(SearchJob(query=query), without=library), list)
