"""An unreadable formula or a long run of one sign neither removes nor delays the other findings of the file."""

from collections.abc import Iterator

import pytest

from apps.mathcheck import checking
from apps.mathcheck.checking import check_text
from apps.mathcheck.findings import NOT_UNDERSTOOD, REFUTED, Finding
from apps.mathcheck.parts import check_parts
from apps.mathcheck.testing.deciding import decide
from apps.mathcheck.tex.tree import TOO_DEEP
from apps.mathcheck.words.reading import read_line
from apps.mathcheck.words.texts import sentences

AFTER = " And $2+2=5$."


def nested(opening: str, closing: str, times: int) -> str:
    return opening * times + "1" + closing * times


DEEP = {
    "fractions": nested(r"\frac{1}{1+", "}", 150),
    "brackets": nested("(", ")", 200),
    "roots": nested(r"\sqrt{", "}", 300),
    "functions": r"\sin " * 500 + "x",
    "divisions": "/".join("a" * 900),
    "powers": "^".join("a" * 900),
    "sums": "+".join("1" * 5_000),
}


@pytest.mark.parametrize("formula", DEEP.values(), ids=DEEP.keys())
@pytest.mark.parametrize(
    "around", ["We have ${}=2$.", "Let $x={}$.", "If $y>{}$, it holds."], ids=["claim", "definition", "condition"]
)
def test_a_formula_that_is_nested_too_deeply_or_too_long_is_its_own_outcome(formula: str, around: str) -> None:
    found = check_text(around.format(formula) + AFTER)
    assert found[-1].outcome == REFUTED
    assert {one.outcome for one in found[:-1]} <= {NOT_UNDERSTOOD}


def test_the_outcome_has_a_reason() -> None:
    assert check_text(f"We have ${DEEP['fractions']}=2$.")[0].reason == TOO_DEEP


RUNS = (" ", "\n", "\t", "*", "odd, ", "and ", "$x$, ", "the ", "{", "(", "⟦0⟧ is ", "\\(", "\\begin{align}")


@pytest.mark.parametrize("run", RUNS)
def test_runs_of_one_sign_are_read_in_linear_time(run: str) -> None:
    """Were one pattern quadratic, 50,000 signs would take minutes, and the run of tests would show it."""
    text = "Let $n$ be an integer" + run * (50_000 // len(run)) + "." + AFTER
    assert check_text(text)[-1].outcome == REFUTED


def test_a_run_of_spaces_is_one_space_and_anchors_stay_correct() -> None:
    text = "Let" + " " * 50_000 + "$n$ be odd. Then" + " " * 50_000 + r"$n^2\equiv 3\pmod 8$."
    line = read_line(text, sentences(text)[0])
    assert line.flat == "Let ⟦0⟧ be odd."
    assert text[slice(*line.span(4, 15))].endswith("$n$ be odd.")
    (finding,) = check_text(text)
    assert text[finding.anchor.start : finding.anchor.end] == finding.anchor.quote == r"n^2\equiv 3\pmod 8"


def test_a_check_that_raises_affects_only_its_own_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*given: object) -> object:
        if "4" in str(given[0]):
            raise KeyError("surprise")
        return decide(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(checking, "decide", failing)
    first, second = check_text("$1+4=5$, $2+2=5$.")
    assert (first.outcome, first.reason) == (NOT_UNDERSTOOD, "its check broke off (KeyError)")
    assert second.outcome == REFUTED


def test_an_error_in_one_sentence_does_not_affect_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(line: object, *given: object) -> Iterator[Finding]:
        if "odd" in str(line):
            raise ValueError("surprise")
        return iter(())

    monkeypatch.setattr(checking, "counted_claims", failing)
    found = check_parts([("step 1", "It is odd that $1+1=2$ for $x$. And $2+2=5$."), ("step 2", "Also $2+2=6$.")])
    assert [(one.anchor.quote, one.outcome) for one in found] == [
        ("$1+1=2$", NOT_UNDERSTOOD),
        ("2+2=5", REFUTED),
        ("2+2=6", REFUTED),
    ]
