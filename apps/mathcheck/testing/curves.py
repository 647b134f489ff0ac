"""Claims in words about a function of one variable on an interval: convex, concave, increasing, decreasing.

Refuting one needs no derivative: two or three exact points of the interval are a counterexample.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import ceil, floor

from apps.mathcheck.claims import resolved
from apps.mathcheck.findings import NOT_UNDERSTOOD, REFUTED, SURVIVED, Counterexample
from apps.mathcheck.scope import Scope
from apps.mathcheck.testing.counting import WordClaim
from apps.mathcheck.testing.deciding import Verdict, shown_value
from apps.mathcheck.testing.evaluating import value_at
from apps.mathcheck.testing.values import Undefined, Value, divided, holds, plus
from apps.mathcheck.tex.lexing import Token
from apps.mathcheck.tex.notation import UNARY, NotUnderstood
from apps.mathcheck.tex.parsing import parsed
from apps.mathcheck.tex.relations import Statement
from apps.mathcheck.tex.tree import Node, free_names, name
from apps.mathcheck.words.reading import Line

_SHAPE = r"(?P<strict>strictly\s+)?(?:monoton(?:e|ically)\s+)?(?P<shape>convex|concave|increasing|decreasing)(?:\s+function)?"
_WHERE = r"(?:the|whole|open|closed|interval|all|every|real|positive|numbers)"
_ON = rf"(?:\s+(?:on|for|over|in|when|whenever)\s+(?:{_WHERE}\s+)*(?P<on>⟦\d+⟧))?"
_SUBJECT = r"(?P<subject>⟦\d+⟧|\b(?:arctanh|artanh|tanh|sinh|cosh|arctan|ln)\b)"
_SEQUENCE = re.compile(
    r"\b(?:sequences?|integers?|naturals?|natural\s+numbers?|terms?|whole|indices|index|primes?|discrete)\b", re.I
)
#: Letters for whole numbers, unless the text says otherwise.
_WHOLE = frozenset("ijklmnNMK")
_MOST = 40
_CLAIM = re.compile(
    rf"{_SUBJECT}(?:\s*,?\s*(?:which\s+)?(?:is|are))\s+(?:also\s+|clearly\s+|therefore\s+|indeed\s+|an?\s+)*{_SHAPE}\b{_ON}",
    re.I,
)
_OF = re.compile(rf"\b(?P<shape>convexity|concavity)\s+of\s+(?:the\s+function\s+)?{_SUBJECT}{_ON}", re.I)


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval of reals; None is unbounded. Its ends are not used as test points unless they are closed."""

    low: Fraction | None
    high: Fraction | None
    closed_low: bool = False
    closed_high: bool = False

    def grid(self) -> list[Fraction]:
        """Rational points, dense near finite ends."""
        steps = [
            Fraction(*pair)
            for pair in ((1, 100), (1, 20), (1, 8), (1, 4), (3, 8), (1, 2), (5, 8), (3, 4), (7, 8), (19, 20), (99, 100))
        ]
        if self.low is not None and self.high is not None:
            inner = [self.low + (self.high - self.low) * step for step in steps]
        elif self.low is not None:
            inner = [self.low + value for value in (*steps, *map(Fraction, (1, 2, 3, 5, 8, 13, 50)))]
        elif self.high is not None:
            inner = [self.high - value for value in (*steps, *map(Fraction, (1, 2, 3, 5, 8, 13, 50)))]
        else:
            inner = [Fraction(value, 4) for value in (-40, -20, -12, -8, -6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 6, 8, 12, 20, 40)]
        ends = [
            end for end, closed in ((self.low, self.closed_low), (self.high, self.closed_high)) if closed and end is not None
        ]
        return sorted({*inner, *ends})

    def whole_numbers(self) -> list[Fraction]:
        """The first whole numbers, from the finite end."""
        low, high = self.low, self.high
        if low is None:
            low = Fraction(-_MOST if high is None else ceil(high) - _MOST)
        high = low + _MOST if high is None else high
        inside = (Fraction(value) for value in range(ceil(low), min(floor(high), ceil(low) + _MOST) + 1))
        return [
            value for value in inside if (value != self.low or self.closed_low) and (value != self.high or self.closed_high)
        ]


def curve_claims(line: Line, scope: Scope, unread: frozenset[str] = frozenset()) -> Iterator[WordClaim]:
    """Claims about the shape of functions in one line. `unread`: names under earlier conditions that were not read."""
    for match in (*_CLAIM.finditer(line.flat), *_OF.finditer(line.flat)):
        shape = {"convexity": "convex", "concavity": "concave"}.get(match["shape"].lower(), match["shape"].lower())
        strict = match.re is _CLAIM and bool(match["strict"])
        kind = "convexity" if shape in ("convex", "concave") else "monotonicity"
        yield WordClaim(kind, match.start(), match.end(), _test(match, shape, strict, line, scope, unread))


def _test(
    match: re.Match[str], shape: str, strict: bool, line: Line, scope: Scope, unread: frozenset[str]
) -> Callable[[], Verdict]:
    def test() -> Verdict:
        body, variable = _function(match["subject"], line, scope)
        if match["on"] is None:
            raise NotUnderstood("no interval is given")
        where = _interval(line.statements[int(match["on"][1:-1])], variable)
        if variable in unread:
            raise NotUnderstood("its variable may be meant under conditions that were not read")
        return course(body, variable, _test_points(where, variable, line, scope), shape, strict)

    return test


def _test_points(where: Interval, variable: str, line: Line, scope: Scope) -> list[Fraction]:
    """The test points: whole numbers for a sequence, and only points that the conditions on the variable allow."""
    domain = scope.domain(variable)
    spoken = scope.is_declared(variable) and domain.kind != "integer"
    whole = domain.kind == "integer" or _SEQUENCE.search(line.words) is not None or (variable in _WHOLE and not spoken)
    said = [condition for condition in scope.conditions if condition.names == {variable}]
    points = where.whole_numbers() if whole else where.grid()
    return [
        point
        for point in points
        if domain.contains(point) and all(condition.at({variable: point}) is not False for condition in said)
    ]


def _function(subject: str, line: Line, scope: Scope) -> tuple[Node, str]:
    """The function's term and its variable; raises NotUnderstood."""
    if not subject.startswith("⟦"):
        word = {"arctanh": "artanh"}.get(subject.lower(), subject.lower())
        return Node("fn", (name("x"),), word), "x"
    statement = line.statements[int(subject[1:-1])]
    tokens = statement.parts[-1]
    arrow = next((place for place, token in enumerate(tokens) if token.text == r"\mapsto"), None)
    if statement.foreign and arrow is None:
        raise NotUnderstood("a function that was not read")
    if arrow is not None:
        tokens = tokens[arrow + 1 :]
    if len(tokens) == 1 and tokens[0].text in UNARY:
        return Node("fn", (name("x"),), tokens[0].text[1:]), "x"
    if any(relation.text != "=" for relation in statement.relations):
        raise NotUnderstood("not a function")
    node = parsed(tokens, frozenset(scope.functions))
    if node.op == "name" and str(node.value) in scope.functions and str(node.value) not in scope.redefined:
        parameters, body = scope.functions[str(node.value)]
        node = Node("apply", tuple(name(parameter) for parameter in parameters), str(node.value))
    body = resolved(node, scope)
    names = free_names(body)
    if len(names) != 1 or any(item.startswith("@") for item in names):
        raise NotUnderstood("not a function of one variable")
    return body, next(iter(names))


def _interval(statement: Statement, variable: str) -> Interval:
    """Read `(a,b)`, `[0,\\infty)`, `\\mathbb R`, `x > 0`, `0 < x < 1`, `x \\in (0,1)`; raises NotUnderstood."""
    if statement.relations and not statement.foreign:
        return _by_relations(statement, variable)
    tokens = statement.parts[0]
    place = next((place for place, token in enumerate(tokens) if token.text == r"\in"), -1)
    spelled = "".join(token.text for token in tokens[place + 1 :])
    if match := re.fullmatch(r"([(\[])(-?[\w\\/{}]+),([+-]?[\w\\/{}]+)([)\]])", spelled):
        low, high = _end(tokens, match[2], place), _end(tokens, match[3], place)
        return Interval(low, high, match[1] == "[" and low is not None, match[4] == "]" and high is not None)
    if re.fullmatch(r"\\mathbb\{?R\}?", spelled):
        return Interval(None, None)
    if re.fullmatch(r"\\mathbb\{?R\}?(?:\^\{?\+\}?|_\{?(?:\+|>0)\}?)", spelled):
        return Interval(Fraction(0), None)
    raise NotUnderstood("an interval that was not read")


def _end(tokens: list[Token], spelled: str, place: int) -> Fraction | None:
    if spelled.lstrip("+-") == r"\infty":
        return None
    comma = next(at for at, token in enumerate(tokens) if token.text == "," and at > place)
    inner = (
        tokens[place + 2 : comma] if spelled == "".join(t.text for t in tokens[place + 2 : comma]) else tokens[comma + 1 : -1]
    )
    return _exact(parsed(inner))


def _exact(node: Node) -> Fraction:
    try:
        value = value_at(node, {})
    except (Undefined, ArithmeticError) as error:
        raise NotUnderstood("an end that is not a number") from error
    if not isinstance(value, Fraction):
        raise NotUnderstood("an end that is not rational")
    return value


def _by_relations(statement: Statement, variable: str) -> Interval:
    low: Fraction | None = None
    high: Fraction | None = None
    closed = {"low": False, "high": False}
    for place, relation in enumerate(statement.relations):
        left, right = parsed(statement.parts[place]), parsed(statement.parts[place + 1])
        sign = relation.text
        if right == name(variable):
            left, right, sign = right, left, {"<": ">", r"\le": r"\ge", ">": "<", r"\ge": r"\le"}.get(sign, "")
        if left != name(variable) or sign not in ("<", ">", r"\le", r"\ge"):
            raise NotUnderstood("an interval that was not read")
        if sign in (">", r"\ge"):
            low, closed["low"] = _exact(right), sign == r"\ge"
        else:
            high, closed["high"] = _exact(right), sign == r"\le"
    return Interval(low, high, closed["low"], closed["high"])


def course(body: Node, variable: str, grid: list[Fraction], shape: str, strict: bool) -> Verdict:
    """Test a shape at the points of a grid. The function must have a value at each, and at the midpoints tried."""
    values: dict[Fraction, Value] = {}

    def at(point: Fraction) -> Value:
        if point not in values:
            values[point] = value_at(body, {variable: point})
        return values[point]

    tests = 0
    tried = f"pairs of values of {variable} from {grid[0]} to {grid[-1]}" if grid else ""
    try:
        whole = all(point.denominator == 1 for point in grid)
        for one, two in combinations(grid, 2):
            if whole and shape in ("convex", "concave") and (one + two) % 2:
                continue
            result, counterexample = _pair(at, variable, one, two, shape, strict)
            tests += result is not None
            if result is False:
                return Verdict(REFUTED, tests=tests, counterexample=counterexample, tried=tried)
    except (Undefined, ArithmeticError):
        return Verdict(NOT_UNDERSTOOD, "the function has no value at some point of the interval")
    return Verdict(SURVIVED, tests=tests, tried=tried) if tests >= 5 else Verdict(NOT_UNDERSTOOD, "too few points were decided")


def _pair(
    at: Callable[[Fraction], Value], variable: str, one: Fraction, two: Fraction, shape: str, strict: bool
) -> tuple[bool | None, Counterexample]:
    if shape in ("increasing", "decreasing"):
        relation = {("increasing", True): "<", ("increasing", False): r"\le", ("decreasing", True): ">"}.get(
            (shape, strict), r"\ge"
        )
        left, right, shown = at(one), at(two), {f"{variable}_1": str(one), f"{variable}_2": str(two)}
    else:
        middle = (one + two) / 2
        relation = {("convex", True): "<", ("convex", False): r"\le", ("concave", True): ">"}.get((shape, strict), r"\ge")
        left, right = at(middle), divided(plus(at(one), at(two)), Fraction(2))
        shown = {f"{variable}_1": str(one), f"{variable}_2": str(two), "middle": str(middle)}
    return holds(relation, left, right), Counterexample(shown, shown_value(lambda: left), shown_value(lambda: right))
