"""Words that the parser knows, the readings of ambiguous notation, and the error for unread formulas."""

from dataclasses import dataclass

_GREEK_WRITTEN = r"""
    \alpha \beta \gamma \delta \epsilon \varepsilon \zeta \eta \theta \vartheta \kappa \lambda \mu \nu \xi \rho \sigma
    \tau \phi \chi \psi \omega \ell \Delta \Lambda \Omega \Phi \Psi \Theta
"""
GREEK = frozenset(_GREEK_WRITTEN.split())
_UNARY_WRITTEN = r"""
    \sin \cos \tan \cot \sec \csc \arcsin \arccos \arctan \sinh \cosh \tanh \artanh \arcosh \arsinh \ln \log \lg \exp
"""
UNARY = frozenset(_UNARY_WRITTEN.split())
MANY = frozenset([r"\gcd", r"\lcm", r"\max", r"\min"])
FUNCTION_LETTERS = frozenset("fghFGHPQRSTW") | {r"\phi", r"\psi", r"\sigma", r"\tau"}
AMBIGUOUS_LETTERS = frozenset("pqrstuvwdABCDEKLMNUVXYZ")
ENGLISH = (
    "and",
    "odd",
    "even",
    "for",
    "all",
    "then",
    "mod",
    "gcd",
    "lcm",
    "max",
    "min",
    "sin",
    "cos",
    "log",
    "tan",
    "prime",
    "not",
)
CLOSERS = {"(": ")", "{": "}", "[": "]", r"\lfloor": r"\rfloor", r"\lceil": r"\rceil", "|": "|", r"\{": r"\}"}


class NotUnderstood(Exception):
    """A formula cannot be read. The message is the reason, for people."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A reading of ambiguous notation: `tight` reads 1/2n as 1/(2n), `mixed` reads 2\\frac13 as 2 + 1/3."""

    tight: bool = False
    mixed: bool = False


READINGS = (Reading(), Reading(tight=True), Reading(mixed=True), Reading(tight=True, mixed=True))
