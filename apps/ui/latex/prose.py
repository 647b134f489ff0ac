"""A Markdown text as LaTeX, from the tree that PDFs are made of."""

import re
from collections.abc import Sequence

from apps.ui.latex.formulas import formula_latex
from apps.ui.latex.symbols import PROVIDED, character
from apps.ui.typeset.prose import Node, prose_nodes

#: Packages and commands that `prose_latex` needs.
PREAMBLE = "\n".join(
    (
        r"\usepackage[T1]{fontenc}",
        r"\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}",
        r"\usepackage{textcomp}",
        r"\usepackage{amsmath,amssymb,amsthm}",
        r"\usepackage{iftex}",
        r"% A character without a command: itself, or its code point where the engine has only eight bits.",
        r"\newcommand{\codepoint}[1]{\ifPDFTeX\texttt{[U+#1]}\else\symbol{\"#1}\fi}".replace(r"\"", '"'),
        *PROVIDED,
    )
)
_DEEPEST_LIST = 4
_COUNTERS = ("enumi", "enumii", "enumiii", "enumiv")
_MARKS = {"strong": r"\textbf", "th": r"\textbf", "em": r"\emph", "code": r"\texttt"}


def prose_latex(text: str) -> str:
    """LaTeX of a Markdown text; paragraphs are separated by blank lines."""
    written = "".join(_node(node, 0) for node in prose_nodes(text))
    return re.sub(r"\n{3,}", "\n\n", written).strip()


def plain_latex(text: str) -> str:
    """LaTeX of a text without any markup."""
    return "".join(map(character, text))


def _inside(nodes: Sequence[Node], depth: int) -> str:
    return "".join(_node(node, depth) for node in nodes)


def _node(node: Node, depth: int) -> str:
    if isinstance(node, str):
        return plain_latex(node)
    kind, inside = node["t"], node["c"]
    if kind == "math":
        return _formula(node["tex"], node["display"])
    if kind in _MARKS:
        return f"{_MARKS[kind]}{{{_inside(inside, depth).strip()}}}" if inside else ""
    if kind == "pre":
        return _code(inside)
    if kind == "br":
        return "\\newline\n"
    if kind == "hr":
        return "\n\n\\noindent\\hrulefill\n\n"
    if kind == "p":
        return f"{_inside(inside, depth)}\n\n"
    if kind in ("h3", "h4", "h5", "h6"):
        return f"\n\n\\medskip\\noindent\\textbf{{{_inside(inside, depth)}}}\n\n"
    if kind == "blockquote":
        return f"\n\\begin{{quote}}\n{_inside(inside, depth).strip()}\n\\end{{quote}}\n\n" if inside else ""
    if kind in ("ul", "ol"):
        return _list(kind, inside, node.get("start", 1), depth)
    return _table(inside, depth) if kind == "table" else _inside(inside, depth)


def _formula(tex: str, display: bool) -> str:
    if (written := formula_latex(tex, display=display)) is None:
        return f"\\texttt{{{plain_latex(' '.join(tex.split()))}}}"
    return f"\n{written}\n" if display else written


def _list(kind: str, items: Sequence[Node], start: int, depth: int) -> str:
    rows = [_inside(item["c"], depth + 1).strip() for item in items if not isinstance(item, str)]
    if not rows:
        return ""
    if depth >= _DEEPEST_LIST:
        return "\n\n".join(["", *rows, ""])
    name = "enumerate" if kind == "ol" else "itemize"
    first = f"\\setcounter{{{_COUNTERS[depth]}}}{{{start - 1}}}\n" if kind == "ol" and start != 1 else ""
    return f"\n\\begin{{{name}}}\n{first}" + "".join(f"\\item{{}} {row}\n" for row in rows) + f"\\end{{{name}}}\n\n"


def _after_break(line: str) -> str:
    """A line after a line break, which would take a bracket for its own argument."""
    return f"{{}}{line}" if line.startswith("[") else line


def _table(parts: Sequence[Node], depth: int) -> str:
    rows = [row for part in parts if not isinstance(part, str) for row in part["c"] if not isinstance(row, str)]
    cells = [[_node(cell, depth).strip() for cell in row["c"] if not isinstance(cell, str)] for row in rows]
    columns = "l" * max((len(row) for row in cells), default=1)
    lines = "".join(f"{_after_break(' & '.join(row))} \\\\\n" for row in cells)
    return f"\n\\begin{{center}}\n\\begin{{tabular}}{{{columns}}}\n{lines}\\end{{tabular}}\n\\end{{center}}\n\n"


def _code(nodes: Sequence[Node]) -> str:
    text = "".join(node if isinstance(node, str) else "".join(str(one) for one in node["c"]) for node in nodes)
    lines = [_after_break(plain_latex(line).replace(" ", "~")) or "\\mbox{}" for line in text.rstrip("\n").split("\n")]
    return "\n\\begin{flushleft}\\ttfamily\\small\n" + "\\\\\n".join(lines) + "\n\\end{flushleft}\n\n"
