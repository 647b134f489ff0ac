"""A formula as KaTeX reads it, rewritten as LaTeX that compiles: no unknown commands, no environment where it may not be."""

import re

from apps.ui.latex.symbols import character, character_in_formula, commands
from apps.ui.typeset.formulas import formula_tree

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[{}$%#&]|[^\x00-\x7f]", re.DOTALL)
_ENVIRONMENT = re.compile(r"\\(begin|end)\{([A-Za-z]+)(\*?)\}")
_WHOLE = re.compile(r"\s*\\begin\{(align|gather|multline|flalign)\*?\}(.*)\\end\{\1\*?\}\s*", re.DOTALL)
_INNER = {
    "align": "aligned", "gather": "gathered", "multline": "gathered", "flalign": "aligned", "split": "aligned",
    "equation": "gathered", "eqnarray": "aligned", "alignat": "alignedat", "dcases": "cases",
}  # fmt: skip
_KNOWN = {
    "aligned", "gathered", "alignedat", "cases", "array", "matrix", "pmatrix", "bmatrix", "vmatrix", "Vmatrix", "Bmatrix",
    "smallmatrix",
}  # fmt: skip
_TEXT = re.compile(r"\\(?:text(?:bf|it|rm|sf|tt|normal)?|mbox)\s*\{([^{}]*)\}")
_ENSURED = re.compile(r"\\ensuremath\{([^{}]*)\}")
_LABEL = re.compile(r"\\label\s*\{[^{}]*\}")
_DELIMITER = re.compile(r"\\(left|right)(?![A-Za-z])")
_SPACING = set(",;:! >%&#_{}|\\$-/")


def formula_latex(tex: str, *, display: bool) -> str | None:
    """The formula with its delimiters; None if it may not compile and its source must be printed."""
    plain = re.sub(r"\n\s*\n", "\n", _LABEL.sub("", tex)).strip()
    if not plain or "^^" in plain or formula_tree(tex) is None:  # TeX reads ^^5c as a backslash.
        return None
    whole = _WHOLE.fullmatch(plain) if display else None
    inner = _inner(whole[2] if whole else plain)
    if inner is None or not _compiles(inner, may_tag=display, aligned=whole is not None):
        return None
    shown = _characters(inner)
    if whole:
        return f"\\begin{{{whole[1]}*}}{shown}\\end{{{whole[1]}*}}"
    return f"\\[{shown}\\]" if display else f"${shown}$"


def _characters(tex: str) -> str:
    """With characters outside ASCII as commands, those inside `\\text` as small formulas."""
    written, place = [], 0
    for words in _TEXT.finditer(tex):
        written.append("".join(character_in_formula(char) if char > "~" else char for char in tex[place : words.start()]))
        inside = "".join(character(char) if char > "~" else char for char in words[0])
        written.append(_ENSURED.sub(r"$\1$", inside))
        place = words.end()
    return "".join([*written, *(character_in_formula(char) if char > "~" else char for char in tex[place:])])


def _inner(tex: str) -> str | None:
    """With environments that may be inside a formula; None if one is unknown or not closed."""
    open_: list[str] = []
    for kind, name, _ in _ENVIRONMENT.findall(tex):
        if kind == "begin":
            open_.append(name)
        elif not open_ or open_.pop() != name:
            return None
        if _INNER.get(name, name) not in _KNOWN:
            return None
    if open_:
        return None
    return _ENVIRONMENT.sub(lambda found: f"\\{found[1]}{{{_INNER.get(found[2], found[2])}}}", tex)


def _compiles(tex: str, *, may_tag: bool, aligned: bool) -> bool:
    """Whether braces and delimiters match, and every command and sign is allowed at its place."""
    depth = inside = 0
    for piece in _TOKEN.findall(tex):
        depth += {"{": 1, "}": -1}.get(piece, 0)
        inside += {r"\begin": 1, r"\end": -1}.get(piece, 0)
        if depth < 0 or piece in "$%#" or (piece == "&" and not (inside or aligned)):
            return False
        if piece == r"\tag" and (not may_tag or inside):
            return False
        if piece[0] == "\\" and not (piece[1:] in commands() or piece[1:] in _SPACING):
            return False
    if any(set(words) & set("_^&~") for words in _TEXT.findall(tex)):
        return False
    sides = _DELIMITER.findall(tex)
    return depth == 0 and sides.count("left") == sides.count("right")
