"""Texts and formulas as LaTeX: nothing is lost, and nothing that would not compile is written as a command."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from apps.ui.latex.formulas import formula_latex
from apps.ui.latex.prose import PREAMBLE, plain_latex, prose_latex
from apps.ui.latex.symbols import _table, character, commands

needs_latex = pytest.mark.skipif(not shutil.which("pdflatex"), reason="needs pdflatex (Debian: texlive-latex-base)")
HOSTILE = r"""
# A heading with 100% & more_

Costs \$5, *emphasis*, **bold**, `code_with #` and \input{/etc/passwd}; a < b > c, C:\temp ~ ^ {braces}, "quoted" -- dashes.
Zürich, Erdős, Łódź, naïve, π ≤ 4, x² → ∞, 日本, 🎉, a ́, □ ′ …

$$\begin{align*} a &= b \\ c &= d \tag{1} \end{align*}$$

$$\begin{cases} 1 & \text{if } x ≤ 3 \\ 2 & \text{else} \end{cases}$$

Wrong: $\input{secret}$, $\frac{1$, $a & b$, $x_1_2$, $\unknown{x}$, $50% of it$, $\text{a_b}$,
$\begin{tikzpicture}\end{tikzpicture}$.

1. one
2. two
   - three

| a | b |
|---|---|
| $x|y$ | 2 & 3 |

> quoted

```
\verb|x|   spaces

%
```
"""


def compiled(body: str, folder: Path) -> str:
    """The log of pdflatex, which stops at the first error."""
    text = f"\\documentclass{{article}}\n{PREAMBLE}\n\\begin{{document}}\n{body}\n\\end{{document}}\n"
    (folder / "a.tex").write_text(text, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "a.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=120)
    log = done.stdout.decode(errors="replace")
    assert done.returncode == 0, log[-2_000:]
    return log


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("100% & $5_", r"100\% \& \$5\_"),
        (r"C:\temp {x} ~ ^", r"C:\textbackslash{}temp \{x\} \textasciitilde{} \textasciicircum{}"),
        ("Erdős ≤ 日", r"Erd\H{o}s \ensuremath{\leq} \codepoint{65E5}"),
        ("a -- b", "a -{}-{} b"),
        ("e\u0301 \u200b!", r"e !"),
    ],
)
def test_signs_of_latex_and_characters_outside_ascii_are_escaped(text: str, latex: str) -> None:
    assert plain_latex(text) == latex


@pytest.mark.parametrize(
    ("tex", "display", "latex"),
    [
        (r"\frac{1}{2} ≤ x", False, r"$\frac{1}{2} \leq  x$"),
        (r"\begin{align*} a &= b \\ c &= d \end{align*}", True, r"\begin{align*} a &= b \\ c &= d \end{align*}"),
        (r"\begin{align} a &= b \end{align}", False, r"$\begin{aligned} a &= b \end{aligned}$"),
        (r"a = b \tag{1}", True, r"\[a = b \tag{1}\]"),
        (r"\text{if } n ∈ \N", False, r"$\text{if } n \in  \N$"),
        (r"\text{x ≤ 3}", False, r"$\text{x $\leq$ 3}$"),
    ],
)
def test_a_formula_of_a_page_becomes_a_formula_of_latex(tex: str, display: bool, latex: str) -> None:
    assert formula_latex(tex, display=display) == latex


@pytest.mark.parametrize(
    "tex",
    [
        r"\input{secret}", r"\write18{ls}", r"\frac{1", "a & b", "x_1_2", r"\unknown{x}", "50% of it", r"\text{a_b}",
        r"\left( x",
        r"\begin{tikzpicture}\end{tikzpicture}", r"\begin{cases} 1", "a $ b", "#1", r"\def\x{y}", r"\catcode`\%=12", "",
    ],
)  # fmt: skip
def test_a_formula_that_may_not_compile_is_refused_and_printed_as_its_source(tex: str) -> None:
    assert formula_latex(tex, display=False) is None
    if tex and "$" not in tex:
        printed = prose_latex(f"so ${tex}$ holds")
        assert printed.startswith("so \\texttt{")
        assert printed.endswith("holds")


def test_markdown_keeps_its_structure() -> None:
    text = prose_latex("# Head\n\nA *b* **c** `d`.\n\n3. x\n4. y\n\n> q")
    assert r"\noindent\textbf{Head}" in text
    assert r"A \emph{b} \textbf{c} \texttt{d}." in text
    assert "\\begin{enumerate}\n\\setcounter{enumi}{2}\n\\item{} x\n\\item{} y\n\\end{enumerate}" in text
    assert "\\begin{quote}\nq\n\\end{quote}" in text


@needs_latex
def test_a_hostile_text_compiles_and_reads_no_file(tmp_path: Path) -> None:
    log = compiled(prose_latex(HOSTILE), tmp_path)
    assert "passwd" not in re.findall(r"\(([^()\s]+)", log)


@needs_latex
def test_every_character_and_every_symbol_compiles(tmp_path: Path) -> None:
    rows = [f"{character(char)} $x {character(char)} y$" for char in _table()]
    assert len(rows) > 500
    symbols = sorted({command[1:] for command in _table().values() if command[1:].isalpha()} & commands())
    rows += [f"$x \\{name} y$" for name in symbols if name != "not"]
    compiled(" \n".join(rows), tmp_path)


@pytest.mark.parametrize("formula", ["a^^5cinput{/etc/passwd}", r"\operatorname{a^^5cinput{x}}", "x^^M"])
def test_a_character_by_its_code_is_not_written_as_a_formula(formula: str) -> None:
    assert formula_latex(formula, display=False) is None
    assert "^^" not in prose_latex(f"Let ${formula}$ be small.")
