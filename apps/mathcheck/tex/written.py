"""Expressions as plain text, for certificates: `2*n + 1`, `sqrt(x) <= y`."""

from fractions import Fraction

from apps.mathcheck.tex.tree import Node

_SIGNS = {r"\le": "≤", r"\ge": "≥", r"\ne": "≠", r"\mid": "divides", r"\nmid": "does not divide", r"\equiv": "≡"}
_ADD, _MUL, _POW, _ATOM = 1, 2, 3, 4


def written(node: Node) -> str:
    """The expression on one line, with brackets where they are needed."""
    return _written(node)[0]


def related(left: Node, relation: str, right: Node, modulus: Node | None = None) -> str:
    """A relation on one line."""
    if modulus is not None:
        return f"{written(left)} ≡ {written(right)} (mod {written(modulus)})"
    return f"{written(left)} {_SIGNS.get(relation, relation)} {written(right)}"


def _written(node: Node) -> tuple[str, int]:
    if node.op == "num":
        value = Fraction(node.value or 0)
        return str(value), _ATOM if value >= 0 and value.denominator == 1 else _ADD if value < 0 else _MUL
    if node.op in ("name", "const"):
        return str(node.value), _ATOM
    if node.op == "add":
        return _sum(node), _ADD
    if node.op == "neg":
        return f"-{_in(node.args[0], _MUL)}", _ADD
    if node.op == "mul":
        return "*".join(_in(part, _MUL) for part in node.args), _MUL
    if node.op == "div":
        return f"{_in(node.args[0], _MUL)}/{_in(node.args[1], _POW)}", _MUL
    if node.op == "pow":
        return f"{_in(node.args[0], _ATOM)}^{_in(node.args[1], _ATOM)}", _POW
    if node.op in ("sum", "prod"):
        low, high, body = (written(part) for part in node.args[:3])
        return f"{node.op}({body} for {node.value} from {low} to {high})", _ATOM
    return f"{node.value or node.op}({', '.join(written(part) for part in node.args)})", _ATOM


def _sum(node: Node) -> str:
    terms = []
    for part in node.args:
        text = _in(part.args[0], _MUL) if part.op == "neg" else _in(part, _MUL)
        terms.append((" - " if part.op == "neg" else " + ") + text)
    first, *rest = terms
    return (f"-{first[3:]}" if first.startswith(" -") else first[3:]) + "".join(rest)


def _in(node: Node, least: int) -> str:
    text, level = _written(node)
    return text if level >= least else f"({text})"
