"""Quotients that SymPy finds, as hints for tactics. Nothing rests on them: the proof assistant checks what it is given."""

import re
from fractions import Fraction
from typing import Any

from sympy import Integer, Rational, Symbol, expand, fraction, prod, together
from sympy.polys.polyerrors import PolynomialError
from sympy.polys.polytools import div

from apps.mathcheck.kernel.terms import Term, Theorem, parts

MOST_PARTS, HIGHEST_POWER = 80, 12


def difference(theorem: Theorem) -> tuple[str, str] | None:
    """Numerator and denominator of left - right, both expanded; None without a denominator or for other than polynomials."""
    end, names = theorem.conclusion, dict[str, str]()
    try:
        top, bottom = fraction(together(_value(end.left, names) - _value(end.right, names)))
    except _NoPolynomial:
        return None
    top, bottom = expand(top), expand(bottom)
    if not bottom.free_symbols:
        return None
    return _text(top, names), _text(bottom, names)


def multiple(theorem: Theorem) -> str:
    """The quotient of a divisibility as a polynomial with whole coefficients; empty if there is none."""
    end, names = theorem.conclusion, dict[str, str]()
    try:
        divisor, value = _value(end.left, names), _value(end.right, names)
        symbols = sorted(divisor.free_symbols | value.free_symbols, key=str)
        if not symbols or divisor == 0:
            return ""
        quotient, rest = div(expand(value), expand(divisor), *symbols)
    except (_NoPolynomial, PolynomialError):
        return ""
    if rest != 0 or any(not coefficient.is_integer for coefficient in quotient.as_poly(*symbols).coeffs()):
        return ""
    return _text(expand(quotient), names)


class _NoPolynomial(Exception):
    """The term is no quotient of polynomials."""


def _value(term: Term, names: dict[str, str]) -> Any:
    if sum(1 for _ in parts(term)) > MOST_PARTS:
        raise _NoPolynomial
    return _of(term, names)


def _of(term: Term, names: dict[str, str]) -> Any:
    if term.op == "num":
        value = Fraction(term.value)
        return Rational(value.numerator, value.denominator)
    if term.op == "name" or (term.op == "cast" and term.args[0].op == "name"):
        text = str(term.value) if term.op == "name" else f"IZR {term.args[0].value}"
        return Symbol(names.setdefault(text, f"v{len(names)}_"))
    if term.op == "pow":
        exponent = term.value if len(term.args) == 1 else term.args[1].value if term.args[1].op == "num" else None
        if exponent is None or not 0 <= Fraction(exponent) <= HIGHEST_POWER:
            raise _NoPolynomial
        return _of(term.args[0], names) ** Integer(int(Fraction(exponent)))
    values = [_of(one, names) for one in term.args] if term.op in ("add", "mul", "neg", "div") else []
    if term.op == "add":
        return sum(values, Integer(0))
    if term.op == "mul":
        return prod(values)
    if term.op == "neg":
        return -values[0]
    if term.op == "div" and values[1] != 0:
        return values[0] / values[1]
    raise _NoPolynomial


def _text(value: Any, names: dict[str, str]) -> str:
    spelled = {symbol: text for text, symbol in names.items()}
    text = str(value).replace("**", "^")
    return re.sub(r"v\d+_", lambda found: f"({spelled[found[0]]})", text)
