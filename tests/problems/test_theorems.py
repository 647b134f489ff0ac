"""Theorem search finds lemmas of other problems, never those of its own problem."""

from dataclasses import replace
from typing import Any

import pytest

from apps.problems.drafts import draft_of
from apps.problems.models import Problem, Topic
from apps.problems.services import problem_revise
from apps.problems.theorem_index import Stated, TheoremIndex
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


def test_lemmas_are_extracted_with_names_and_without_proofs() -> None:
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


def test_lemmas_of_the_own_problem_are_excluded(library: Problem) -> None:
    hits = theorem_search(SearchJob(query="prime divisors of a repunit"), without=library)
    assert not [hit for hit in hits if "repunit" in hit.text]
    other = Problem.objects.get(slug="other")
    assert "repunit" in theorem_search(SearchJob(query="prime divisors of a repunit"), without=other)[0].text


@pytest.mark.parametrize("query", ["", "a", '" OR name:*', "NEAR("])
def test_special_queries_do_not_break_the_search(library: Problem, query: str) -> None:
    assert isinstance(theorem_search(SearchJob(query=query), without=library), list)


def test_each_text_is_parsed_once(library: Problem) -> None:
    read: list[str] = []

    def reading(text: str) -> list[Stated]:
        read.append(text)
        return list(lemmas_in(text))

    index = TheoremIndex(reading)
    asked: Any = {"without": [library.pk], "top": 3}
    assert index.search(["squares"], **asked) == index.search(["squares"], **asked)
    assert len(read) == 2
    third = Problem.objects.create(slug="third", title="Third", topic=Topic.ALGEBRA)
    third.reference_solutions.create(text="Lemma 7. A sum of squares of reals is not negative.")
    assert "not negative" in " ".join(statement for _, statement, _ in index.search(["squares"], **asked))
    assert len(read) == 3


def test_the_search_finds_changed_solutions(library: Problem) -> None:
    other = Problem.objects.get(slug="other")
    query = SearchJob(query="heptagon")
    assert theorem_search(query, without=library) == []
    other.versions.create(number=1, statement="Show it.")
    draft = draft_of(other)
    changed = replace(draft, solutions=(replace(draft.solutions[0], text="Lemma 3. A heptagon has seven sides in all."),))
    problem_revise(problem=other, draft=changed, by=None)
    assert [hit.name for hit in theorem_search(query, without=library)] == ["Lemma 3 of “Other”"]
    other.delete()
    assert theorem_search(query, without=library) == []
