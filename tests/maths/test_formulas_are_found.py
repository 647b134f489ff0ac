"""Which pieces of a text are formulas; the server and the browser agree."""

import pytest

from apps.ui.formulas import formulas, hide_breaks, show_breaks
from tests.maths.corpus import WRITTEN, random_texts
from tests.node import run_script


def found(text: str) -> list[str]:
    return [formula.tex for formula in formulas(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$x$ and \\(y\\)", ["x", "y"]),
        ("\\[a\n+b\\] $$c$$", ["a\n+b", "c"]),
        ("\\begin{align*}a&=b\\end{align*}", ["\\begin{align*}a&=b\\end{align*}"]),
        ("$ f(x)=1$, so", [" f(x)=1"]),
        ("$\\text{if $n$ is odd}$", ["\\text{if $n$ is odd}"]),
        ("$a \\$ b$", ["a \\$ b"]),
        ("triangle $ ABC $ and $ x $", [" ABC ", " x "]),
    ],
)
def test_formulas_are_found_between_their_delimiters(text: str, expected: list[str]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "costs $5 and $6",
        "\\$x\\$",
        "`$x$`",
        "```\n$x$\n```",
        "\\\\(x\\\\)",
        "$a\n\nb$",
        "$ $",
        "a $ so $ c",
        "\\begin{theorem}x\\end{theorem}",
    ],
)
def test_prices_escapes_and_code_are_no_formulas(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize("text", [*WRITTEN, *random_texts(200, seed=3)])
def test_hiding_the_breaks_keeps_the_length(text: str) -> None:
    hidden = hide_breaks(text)

    assert len(hidden) == len(text)
    if ">" not in text:
        assert show_breaks(hidden) == text


def test_the_browser_finds_the_same_formulas() -> None:
    texts = [text for text in [*WRITTEN, *random_texts(600, seed=5)] if ">" not in text]

    answer = run_script("check_formulas.mjs", texts)

    for text, browser in zip(texts, answer, strict=True):
        assert [[formula.tex, formula.display] for formula in formulas(text)] == browser, text
