"""Reads declarations of names: "positive integers $a$, $b$", "$n$ is odd", "sides of a triangle"."""

import re
from collections.abc import Sequence

from apps.mathcheck.scope import Condition, Domain, Scope
from apps.mathcheck.tex.notation import NotUnderstood
from apps.mathcheck.tex.parsing import parsed
from apps.mathcheck.tex.relations import Statement
from apps.mathcheck.tex.tree import Node, name, number

_ADJECTIVE = (
    r"(?:positive|negative|non-?negative|non-?positive|non-?zero|strictly|real|rational|natural|whole|odd|even|prime|arbitrary|fixed|distinct"
    r"|given|any|all|every|each|two|three|four|pairwise|coprime|relatively|different|real-valued)"
)
_NOUN = r"(?:integers?|reals?|numbers?|rationals?|primes?|naturals?|variables?)"
KIND = rf"(?P<kind>(?:{_ADJECTIVE}[\s,]+(?:and\s+)?)*{_NOUN})"
GROUP = r"(?P<group>⟦\d+⟧(?:\s*(?:,\s*and|,|and|or)\s*⟦\d+⟧)*)"
_BEFORE = re.compile(rf"{KIND}\s+{GROUP}", re.IGNORECASE)
AFTER = re.compile(
    rf"{GROUP}\s+(?:(?:is|are|be|being|denotes?)\s+)(?:an?\s+|any\s+|the\s+)?(?P<kind>(?:{_ADJECTIVE}[\s,]+(?:and\s+)?)*(?:{_NOUN}|{_ADJECTIVE}))",
    re.IGNORECASE,
)
_ADJECTIVE_AFTER = re.compile(
    rf"{GROUP}\s+(?P<kind>odd|even|prime|positive|negative|non-?negative|real|coprime)\b", re.IGNORECASE
)
_ADJECTIVE_BEFORE = re.compile(rf"\b(?P<kind>(?:{_ADJECTIVE}\s+)+){GROUP}", re.IGNORECASE)
#: "… and $n$ a positive integer".
_APPOSED = re.compile(rf"{GROUP}\s+(?:an?|any|some)\s+{KIND}", re.IGNORECASE)
#: Patterns of declarations; each has a `group` of names and their `kind`.
DECLARING = (_BEFORE, AFTER, _APPOSED, _ADJECTIVE_AFTER, _ADJECTIVE_BEFORE)
_TRIANGLE = re.compile(rf"{GROUP}[^⟦]*\b(?:sides?|side[- ]lengths?)\s+of\s+(?:a|the|some)\s+triangle", re.IGNORECASE)
_TRIANGLE_FIRST = re.compile(rf"\b(?:sides?|side[- ]lengths?)\s+{GROUP}\s+of\s+(?:a|the|some)\s+triangle", re.IGNORECASE)
_TRIANGLE_WITH = re.compile(rf"\btriangle\s+with\s+(?:sides?|side[- ]lengths?)\s+{GROUP}", re.IGNORECASE)
_SETS = {"R": "real", "Z": "integer", "N": "integer", "Q": "rational"}


def read_declarations(scope: Scope, flat: str, statements: Sequence[Statement]) -> tuple[set[str], str]:
    """Declare the names of a flattened sentence (⟦i⟧ is statement i). Returns the declared names and the unused words."""
    rest = list(flat)
    declared: set[str] = set()
    for pattern in DECLARING:
        for match in pattern.finditer(flat):
            names = _names(match["group"], statements)
            _declare(scope, names, match["kind"].lower())
            declared |= set(names)
            rest[match.start() : match.end()] = " " * (match.end() - match.start())
    for pattern in (_TRIANGLE, _TRIANGLE_FIRST, _TRIANGLE_WITH):
        for match in pattern.finditer(flat):
            declared |= set(_triangle(scope, _names(match["group"], statements)))
            rest[match.start() : match.end()] = " " * (match.end() - match.start())
    for place, statement in enumerate(statements):
        if statement.foreign == r"\in":
            declared |= _membership(scope, _listed(place, statements), statements)
        elif declared_here := _list_with_bound(place, statements):
            for listed in declared_here[:-1]:
                _bound(scope, listed, statement)
    return declared, "".join(rest)


def plain_name(statement: Statement) -> str | None:
    """The name of a statement that is only a name; for a relation, the name on its left."""
    try:
        node = parsed(statement.parts[0])
    except NotUnderstood:
        return None
    return str(node.value) if node.op == "name" else None


def _names(group: str, statements: Sequence[Statement]) -> list[str]:
    return [item for place in re.findall(r"\d+", group) for item in _plain_names(statements[int(place)])]


def _plain_names(statement: Statement) -> list[str]:
    r"""The names that stand alone in a statement: both of `1\le k\le n`."""
    found = []
    for part in statement.parts:
        try:
            node = parsed(part)
        except NotUnderstood:
            continue
        if node.op == "name":
            found.append(str(node.value))
    return found


def _listed(place: int, statements: Sequence[Statement]) -> list[int]:
    """The statements of the list that ends at `place`: both of `$x,y\\in R$`."""
    start = place
    while (
        start
        and statements[start].separator == "comma"
        and not statements[start - 1].relations
        and not statements[start - 1].foreign
    ):
        start -= 1
    return list(range(start, place + 1))


def _list_with_bound(place: int, statements: Sequence[Statement]) -> list[str]:
    statement = statements[place]
    if len(statement.relations) != 1 or statement.relations[0].text not in (">", r"\ge", "<", r"\le", r"\ne"):
        return []
    names = [plain_name(statements[item]) for item in _listed(place, statements)]
    return [item for item in names if item] if all(names) and len(names) > 1 else []


def _bound(scope: Scope, listed: str, statement: Statement) -> None:
    try:
        right = parsed(statement.parts[1])
    except NotUnderstood:
        scope.unread.add(listed)
        return
    scope.conditions.append(Condition(statement.relations[0].text, name(listed), right))


def _declare(scope: Scope, names: Sequence[str], words: str) -> None:
    for item in names:
        scope.declare(item, _domain(words, scope.with_zero))
    if re.search(r"\b(?:distinct|different)\b", words):
        for place, one in enumerate(names):
            for two in names[place + 1 :]:
                scope.conditions.append(Condition(r"\ne", name(one), name(two)))
    if re.search(r"coprime|relatively", words):
        for place, one in enumerate(names):
            for two in names[place + 1 :]:
                scope.conditions.append(Condition("=", Node("fn", (name(one), name(two)), "gcd"), number(1)))


def _domain(words: str, with_zero: bool) -> Domain:
    flat = words.replace("-", "")
    integral = re.search(r"integer|natural|whole|\bodd\b|\beven\b|\bprimes?\b", flat) and "relatively prime" not in flat
    sign = next((sign for sign in ("nonnegative", "nonpositive", "nonzero", "negative", "positive") if sign in flat), "")
    if "natural" in flat and (sign != "positive" or not with_zero):
        sign = "nonnegative" if with_zero else "positive"
    parity = 1 if re.search(r"\bodd\b", flat) else 0 if re.search(r"\beven\b", flat) else None
    prime = bool(re.search(r"\bprimes?\b", flat)) and "relatively" not in flat
    kind = "integer" if integral else "rational" if "rational" in flat else "real"
    return Domain(kind=kind, sign=sign or ("positive" if prime else ""), parity=parity, prime=prime)


def _triangle(scope: Scope, names: Sequence[str]) -> Sequence[str]:
    if len(names) != 3:
        scope.unread.update(names)
        return names
    for item in names:
        scope.declare(item, Domain(sign="positive"))
    for place in range(3):
        one, two, three = (name(names[(place + step) % 3]) for step in range(3))
        scope.conditions.append(Condition(">", Node("add", (one, two)), three))
    return names


def _membership(scope: Scope, places: Sequence[int], statements: Sequence[Statement]) -> set[str]:
    """Declare names by `x, y \\in \\mathbb{R}^+` or `t \\in (0,1)`. Any other set marks the names as unread."""
    tokens = statements[places[-1]].parts[0]
    at = next((place for place, token in enumerate(tokens) if token.text == r"\in"), None)
    names = [plain for place in places[:-1] if (plain := plain_name(statements[place]))]
    if at == 1 and tokens[0].kind == "letter":
        names.append(tokens[0].text)
    spelled = "".join(token.text for token in tokens[at + 1 :]) if at is not None else ""
    match = re.fullmatch(r"\\mathbb\{?([RZNQ])\}?(?:\^\{?([+*])\}?|_\{?(\+|>0|\\ge0|\+\+)\}?)?", spelled)
    interval = re.fullmatch(r"([(\[])(-?\d+),(-?\d+|\\infty)([)\]])", spelled)
    for item in names:
        if match:
            sign = (
                "nonnegative" if match[3] == r"\ge0" else "positive" if match[2] == "+" or match[3] or match[1] == "N" else ""
            )
            if match[1] == "N" and scope.with_zero and not match[2] and not match[3]:
                sign = "nonnegative"
            scope.declare(item, Domain(kind=_SETS[match[1]], sign="nonzero" if match[2] == "*" else sign))
        elif interval:
            _interval(scope, item, interval)
        else:
            scope.unread.add(item)
    return set(names)


def _interval(scope: Scope, item: str, found: re.Match[str]) -> None:
    scope.declare(item, Domain())
    scope.conditions.append(Condition(">" if found[1] == "(" else r"\ge", name(item), number(int(found[2]))))
    if found[3] != r"\infty":
        scope.conditions.append(Condition("<" if found[4] == ")" else r"\le", name(item), number(int(found[3]))))
