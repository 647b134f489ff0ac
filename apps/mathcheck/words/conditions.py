"""Adds the definitions and conditions of a sentence to the scope, and marks names under unread conditions."""

import re

from apps.mathcheck.claims import Link, is_bare_link, letters, links
from apps.mathcheck.scope import UNMODULATED, Condition, Domain, Scope
from apps.mathcheck.tex.ellipsis import expanded
from apps.mathcheck.tex.notation import NotUnderstood
from apps.mathcheck.tex.parsing import parsed
from apps.mathcheck.tex.relations import Statement
from apps.mathcheck.tex.tree import free_names, is_bare
from apps.mathcheck.words.reading import Line
from apps.mathcheck.words.stance import is_condition, is_drawn, is_only_named

_DEFINES = re.compile(
    r"\b(?:let|set|put|define|denote|where|write|consider|setting|putting|with|function|polynomial|take|given|by)\b[^.]*$", re.I
)
#: "…, with equality for $x=2$" restricts nothing.
_EQUALITY_AT = re.compile(r"(?<!\bif\s)(?<!suppose\s)(?<!assume\s)\bequality\b[^⟦]*(?:⟦⟧\s*=?\s*)*$", re.IGNORECASE)
_PIECEWISE = re.compile(
    r"\b(?:suppos\w+|assum\w+|induct\w+|hypothes\w+|if|when|whenever|otherwise|unless|odd|even|else|case|recursively|mod|modulo)\b",
    re.I,
)

#: A bare bound such as `x > 0` concerns reals for these letters; for n or k it may concern integers.
_REAL_LETTERS = frozenset("xyzuvwt")
_BOUNDS = frozenset(["<", ">", r"\le", r"\ge"])


def condition_places(line: Line, scope: Scope, given: bool) -> set[int]:
    """The places of a line's statements that are conditions: by the words before them, or by their form.

    What `concludes` finds is a claim and no condition.
    """
    found: set[int] = set()
    for place, statement in enumerate(line.statements):
        if not statement.relations:
            continue
        if not given and concludes(line, place, scope):
            continue
        if (
            given
            or is_condition(line.before(place))
            or _is_defining(statement)
            or (len(statement.relations) == 1 and is_bare_link(links(statement)[0], scope))
        ):
            found.add(place)
    return found


def concludes(line: Line, place: int, scope: Scope) -> bool:
    """Whether a statement is a conclusion, or is named as what it is: "the polynomial $x^4+1=…$".

    The form of "hence $x=5$" makes no condition, unless a relation before it in the sentence is what it solves. Words that make
    a condition are overruled for settled names only.
    """
    before = line.before(place)
    drawn = is_drawn(before)
    first = all(not one.relations for one in line.statements[:place])
    if drawn and first and not is_condition(before):
        return True
    if not drawn and not is_only_named(before):
        return False
    try:
        names = frozenset[str]().union(*(free_names(parsed(part)) for part in line.statements[place].parts))
    except NotUnderstood:
        return False
    return bool(names) and names <= scope.settled


def _is_defining(statement: Statement) -> bool:
    return any(relation.text == ":=" for relation in statement.relations)


def add_conditions(scope: Scope, line: Line, places: set[int]) -> None:
    """Read the statements at `places` into the scope."""
    for place in sorted(places):
        statement, before = line.statements[place], line.before(place)
        if _EQUALITY_AT.search(before):
            continue
        if statement.foreign:
            scope.unread |= letters(statement.tokens)
            continue
        for number, link in enumerate(links(statement)):
            defining = _DEFINES.search(before) is not None or _is_defining(statement)
            if number == 0 and link.relation == "=" and defining and _define(scope, link, line):
                continue
            add_condition(scope, link)


def _define(scope: Scope, link: Link, line: Line) -> bool:
    """Add a definition such as `let s = a+b` or `let f(x) = x^2`; False if it is an ordinary equation."""
    try:
        left, right = parsed(link.left, frozenset(scope.functions)), expanded(parsed(link.right, frozenset(scope.functions)))
    except NotUnderstood:
        return False
    if left.op == "name" and free_names(right) and not is_bare(right) and not scope.is_declared(str(left.value)):
        scope.define(str(left.value), right)
        return True
    if left.op != "apply" or any(part.op != "name" for part in left.args) or "'" in str(left.value):
        return False
    parameters = tuple(str(part.value) for part in left.args)
    if _PIECEWISE.search(line.words) or not free_names(right) & set(parameters) or len(set(parameters)) < len(parameters):
        scope.redefined.add(str(left.value))
    else:
        scope.define_function(str(left.value), parameters, right)
    return True


def add_condition(scope: Scope, link: Link) -> None:
    """Add one relation. If it cannot be read, mark its letters as restricted by an unread condition."""
    functions = frozenset(scope.functions)
    try:
        left, right = parsed(link.left, functions), parsed(link.right, functions)
        modulus = None if link.modulus is None else parsed(link.modulus, functions)
        relation = UNMODULATED.get(link.relation, link.relation)
        condition = Condition(relation, expanded(left), expanded(right), modulus)
    except NotUnderstood:
        scope.unread |= letters([*link.left, *link.right])
        return
    if left.op == "name" and str(left.value) in _REAL_LETTERS and not free_names(right) and condition.relation in _BOUNDS:
        scope.declare(str(left.value), Domain())
    if condition.names and condition not in scope.conditions:
        scope.conditions.append(condition)
        if any(part.endswith(")") for part in condition.names):
            scope.unread |= {part for part in condition.names if not part.endswith(")")}
