"""Search terms: what counts as the same word and the same formula, and what does not."""

import pytest

from apps.reasoning.graph.terms import (
    TERMS_AT_MOST,
    form_of,
    formula_of,
    pieces_of,
    renamed_hash,
    terms_of,
    word_terms,
)


@pytest.mark.parametrize(
    "other",
    [
        r"$\dfrac{1}{2}\leq \left( x \right)$", r"\(\tfrac{1}{2} \leqslant (x)\)",
        r"$$\frac12\le(x)$$", r"$\frac{1}{2} ≤ (x).$",
    ],
)  # fmt: skip
def test_spellings_of_one_formula_have_the_same_terms(other: str) -> None:
    assert formula_of(other) == formula_of(r"\frac{1}{2} \le (x)")


@pytest.mark.parametrize("other", [r"\frac{2}{1} \le (x)", r"\frac{1}{2} < (x)", r"\frac{1}{2} \le (X)", r"\frac{1}{2} \le x"])
def test_other_formulas_have_other_terms(other: str) -> None:
    assert formula_of(other) != formula_of(r"\frac{1}{2} \le (x)")


@pytest.mark.parametrize("other", [r"\dbinom{n}{2}", r"\tbinom n2", r"\dbinom{n}2"])
def test_binomials_of_any_size_are_one_formula(other: str) -> None:
    assert formula_of(other) == formula_of(r"\binom{n}{2}")
    assert form_of(r"$\dbinom{n}{2}$ is even.") == form_of(r"$\binom{n}{2}$ is even.")
    assert formula_of(r"\dbinom12") == formula_of(r"\binom{1}{2}")


def test_braces_stay_around_several_tokens() -> None:
    assert formula_of("x^{2}") == formula_of("x^2")
    assert formula_of("x^{n+1}") != formula_of("x^n+1")


def test_number_sets_are_the_same_in_tex_and_unicode() -> None:
    assert formula_of(r"n\in\mathbb{N}") == formula_of("n∈ℕ") == formula_of(r"n \in \N")


def test_a_hash_ignores_consistent_names_of_variables_only() -> None:
    one = renamed_hash(formula_of(r"a^2 - b \mid a"))
    assert renamed_hash(formula_of("x^2 - y | x")) == one
    assert renamed_hash(formula_of("x^2 - y | y")) != one


def test_words_are_stems_without_accents() -> None:
    assert word_terms("divides") == word_terms("dividing") == word_terms("divided")
    assert word_terms("naïve") == word_terms("naive")
    assert word_terms("prime") != word_terms("primitive")
    assert word_terms("素数") == ["xs7d20", "xs6570"]


def test_terms_are_ascii_words_also_of_strange_statements() -> None:
    odd = "A \0 'quote\" ) OR $\\\\ % \\{ é ∑_{i} \U0001d54f$ -- ; $$ $unclosed"
    assert all(term.isascii() and term.isalnum() for term in terms_of(odd))
    assert len(terms_of("word " * 9_000)) == TERMS_AT_MOST


def test_the_form_ignores_spelling_but_not_names() -> None:
    assert form_of(r"Let $n \geq 1$.") == form_of(r"let $n\ge 1$")
    assert form_of("$n$ is odd.") != form_of("$p$ is odd.")


def test_pieces_know_their_places() -> None:
    text = "Odd $a^2$ is"
    assert [text[piece.start : piece.end] for piece in pieces_of(text)] == ["Odd", "$a^2$", "is"]
