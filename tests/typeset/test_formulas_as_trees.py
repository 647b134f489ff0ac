"""TeX formulas as trees for PDFs; a doubtful formula has no tree, and its source is printed."""

import re

import pytest

from apps.problems.samples import FOLDER
from apps.reasoning.texts.formulas import formulas
from apps.ui.typeset.formulas import formula_tree
from apps.ui.typeset.prose import prose_nodes


@pytest.mark.parametrize(
    ("tex", "tree"),
    [
        ("x", ["sym", "x"]),
        ("12", ["num", "12"]),
        (r"\frac{a}{2}", ["frac", ["sym", "a"], ["num", "2"]]),
        ("x^2", ["att", ["sym", "x"], ["num", "2"], None]),
        ("x_1", ["att", ["sym", "x"], None, ["num", "1"]]),
        (r"\sqrt[3]{x}", ["root", ["num", "3"], ["sym", "x"]]),
        (r"\mathbb Z", ["bb", ["sym", "Z"]]),
        (r"\gcd", ["op", "gcd", True]),
        (r"\overline{AB}", ["overline", ["row", [["sym", "A"], ["sym", "B"]]]]),
        (r"\binom{n}{2}", ["binom", ["sym", "n"], ["num", "2"]]),
        (r"\overset{?}{=}", ["lim", ["sym", "="], ["sym", "?"], None]),
    ],
)
def test_a_formula_becomes_a_tree(tex: str, tree: list[object]) -> None:
    assert formula_tree(tex) == tree


def test_lines_keep_their_columns_and_brackets_their_content() -> None:
    lines = formula_tree("\\begin{aligned} a &= b \\\\ &> c \\end{aligned}")
    assert lines is not None
    assert (lines[0], [len(row) for row in lines[1]]) == ("lines", [2, 2])
    cases = formula_tree("\\begin{cases} 1 & x>0 \\\\ 0 & \\text{else} \\end{cases}")
    assert cases is not None
    assert (cases[0], cases[1][0], cases[1][1][0]) == ("lr", ["sym", "{"], "mat")
    matrix = formula_tree("\\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}")
    assert matrix is not None
    assert [part[0] for part in matrix[1]] == ["sym", "mat", "sym"]
    held = formula_tree(r"\left(\frac12\right]")
    assert held is not None
    assert held[0] == "lr"


@pytest.mark.parametrize(
    "tex", [r"\notacommand{x}", r"\frac{a", "x" * 7_000, "{" * 3_000, r"\begin{aligned} a", r"\begin{cases} 1", "a & b", r"x^"]
)
def test_a_doubtful_formula_has_no_tree(tex: str) -> None:
    assert formula_tree(tex) is None


def test_every_formula_of_the_sample_library_is_set() -> None:
    texts = [path.read_text() for path in sorted(FOLDER.glob("*.md"))]
    found = [one.tex for text in texts for one in formulas(text)]
    assert len(found) > 1_000
    assert [tex for tex in found if formula_tree(tex) is None] == []


def test_prose_equals_the_html_of_pages() -> None:
    nodes = prose_nodes("**Claim.** Let $a<b$.\n\n- one\n- <script>alert(1)</script>\n\n$$\nx\n$$")
    text = str(nodes)
    assert [node["t"] for node in nodes if isinstance(node, dict)] == ["p", "ul", "math"]
    assert "'tex': 'a<b', 'display': False" in text
    assert "<script>alert(1)</script>" in text, "as text"
    assert re.search(r"'t': 'script'", text) is None
