"""What a marker types. An unknown word is an error, never a guess."""

import pytest

from apps.reasoning.marking.schemes.text_form import text_read
from apps.reasoning.marking.sheets.claims import Claim, ClaimWrong, claim_line, claim_read
from tests.marking.made import EXAMPLE


def test_the_claim_line_of_the_design_is_read() -> None:
    assert claim_read(EXAMPLE, "A c1  e1,!cap5 -d1") == Claim(ticks=frozenset({"A", "c1", "e1", "cap5", "d1"}))
    assert claim_read(EXAMPLE, "−d1") == claim_read(EXAMPLE, "d1")
    assert claim_read(EXAMPLE, "") == Claim(ticks=frozenset())


def test_items_are_written_in_the_order_of_the_scheme() -> None:
    assert claim_line(EXAMPLE, {"d1", "cap5", "e1", "A"}) == "A e1 !cap5 -d1"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("A c9", "c9 is no item of this scheme."),
        ("a", "Did you mean A?"),
        ("!c1", "only a cap takes !"),
        ("-cap5", "only a deduction takes -"),
        ("A c1 A", "A appears twice."),
        ("mix A", "does not add"),
        ("!", "is no item"),
    ],
)
def test_a_word_that_is_wrong_is_named(line: str, words: str) -> None:
    with pytest.raises(ClaimWrong) as wrong:
        claim_read(EXAMPLE, line)
    assert words in wrong.value.faults[0]


def test_all_wrong_words_are_named_at_once() -> None:
    with pytest.raises(ClaimWrong) as wrong:
        claim_read(EXAMPLE, "x y A")
    assert len(wrong.value.faults) == 2


def test_a_mixed_case_is_declared_where_the_scheme_allows_it() -> None:
    scheme = text_read(
        "mixing: why\nchain A: a\nchain B: b\ncheckpoint a, 7 points, chain A: x\ncheckpoint b, 7 points, chain B: y"
    )
    assert claim_read(scheme, "a b mix").is_mixed
    assert claim_line(scheme, ["b", "a"], is_mixed=True) == "a b mix"
