"""Claims in words about numbers: prime, divisible, a perfect square, and finite counts by brute force."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import comb, factorial, gcd, isqrt

from apps.mathcheck.findings import REFUTED, SURVIVED, Counterexample
from apps.mathcheck.scope import Scope, is_prime
from apps.mathcheck.testing.deciding import EXACTLY, Verdict
from apps.mathcheck.testing.evaluating import value_at
from apps.mathcheck.testing.values import Undefined, integer
from apps.mathcheck.tex.notation import NotUnderstood
from apps.mathcheck.tex.parsing import parsed
from apps.mathcheck.tex.tree import free_names
from apps.mathcheck.words.reading import Line

_N = r"(?P<{}>⟦\d+⟧|\b\d+\b)"
LARGEST_COUNT = 200_000
IN_FULL = "counted in full"


@dataclass(frozen=True, slots=True)
class WordClaim:
    """A claim in words: its place `flat[start:end]` in the line, and its test."""

    kind: str
    start: int
    end: int
    test: Callable[[], Verdict]


def counted_claims(line: Line, scope: Scope) -> Iterator[WordClaim]:
    """Claims about numbers: "the number of divisors of 360 is 24", "91 is prime"."""
    for pattern, count in _COUNTS:
        for match in _clauses(pattern, line):
            yield WordClaim("counting", match.start(), match.end(), _counting(match, count, line, scope))
    for match in _clauses(_PROPERTY, line):
        kind = "divisibility" if match["m"] else "arithmetic"
        yield WordClaim(kind, match.start(), match.end(), _property(match, line, scope))


_OPENS_CLAUSE = re.compile(
    r"(?:^|[.,;:]|\b(?:since|because|that|hence|so|thus|indeed|here|therefore|as|number|integer|but|now|then|clearly|have|get))"
    r"\s*,?\s*(?:the\s*)?$",
    re.IGNORECASE,
)
_CLOSES_CLAUSE = re.compile(r"\s*(?:$|[.,;:)]|(?:so|hence|and|since|because|thus|therefore|but)\b)", re.IGNORECASE)


def _clauses(pattern: re.Pattern[str], line: Line) -> Iterator[re.Match[str]]:
    """Matches that are a complete clause: not the end of "twice the number of …", not the start of "… that are odd"."""
    for match in pattern.finditer(line.flat):
        before = line.flat[: match.start()].strip()
        if _OPENS_CLAUSE.search(before) and " of " not in before[-40:] and _CLOSES_CLAUSE.match(line.flat, match.end()):
            yield match


def _number(written: str, line: Line, scope: Scope) -> int:
    """The whole number of a hole or of digits; raises NotUnderstood."""
    if written.isdigit():
        return int(written)
    statement = line.statements[int(written[1:-1])]
    if statement.foreign or statement.modulus is not None or any(relation.text != "=" for relation in statement.relations):
        raise NotUnderstood("a relation where one number is expected")
    values = []
    for part in statement.parts:
        node = parsed(part, frozenset(scope.functions))
        if free_names(node):
            continue
        try:
            values.append(integer(value_at(node, {})))
        except (Undefined, ArithmeticError) as error:
            raise NotUnderstood("not a whole number") from error
    if (
        not values
        or len(set(values)) > 1
        or (len(statement.parts) > 1 and len(values) == 1 and free_names(parsed(statement.parts[-1])))
    ):
        raise NotUnderstood("several numbers where one is expected" if values else "a name where a number is expected")
    return values[0]


def _counting(match: re.Match[str], count: Callable[..., int], line: Line, scope: Scope) -> Callable[[], Verdict]:
    def test() -> Verdict:
        written = {key: value for key, value in match.groupdict().items() if value is not None}
        positive = written.pop("positive", None) is not None
        arguments = {key: _number(value, line, scope) for key, value in written.items()}
        if "positive" in match.groupdict():
            if not positive and "low" not in arguments:
                raise NotUnderstood("the first number of the range is not given")
            arguments["low"] = max(arguments.get("low", 1), 1) if positive else arguments["low"]
        claimed = arguments.pop("claimed")
        if any(abs(value) > LARGEST_COUNT for value in arguments.values()):
            raise NotUnderstood("too many to count")
        found = count(**arguments)
        if found == claimed:
            return Verdict(SURVIVED, tests=1, tried=IN_FULL)
        return Verdict(REFUTED, tests=1, counterexample=Counterexample({}, str(found), str(claimed)), tried=IN_FULL)

    return test


def _property(match: re.Match[str], line: Line, scope: Scope) -> Callable[[], Verdict]:
    def test() -> Verdict:
        value, word = _number(match["n"], line, scope), match["property"].lower()
        divisor = _number(match["m"], line, scope) if match["m"] else 0
        if abs(value) > 10**12 or (match["m"] and divisor == 0):
            raise NotUnderstood("too large")
        tests: dict[str, Callable[[], bool]] = {
            "prime": lambda: is_prime(value),
            "composite": lambda: value > 1 and not is_prime(value),
            "square": lambda: value >= 0 and isqrt(value) ** 2 == value,
            "cube": lambda: round(abs(value) ** (1 / 3)) ** 3 == abs(value),
            "even": lambda: value % 2 == 0,
            "odd": lambda: value % 2 == 1,
            "by": lambda: value % divisor == 0,
            "of": lambda: value % divisor == 0,
        }
        if tests[word.split()[-1]]():
            return Verdict(SURVIVED, tests=1, tried=EXACTLY)
        shown = Counterexample({}, str(value), word if not match["m"] else f"{word} {divisor}")
        return Verdict(REFUTED, tests=1, counterexample=shown, tried=EXACTLY)

    return test


_PROPERTY = re.compile(
    r"(?P<n>⟦\d+⟧)" + r"\s+is\s+(?:also\s+|clearly\s+|indeed\s+)?(?:an?\s+)?"
    r"(?P<property>prime|composite|perfect\s+square|perfect\s+cube|even|odd"
    r"|divisible\s+by(?=\s*(?:⟦|\d))|multiple\s+of(?=\s*(?:⟦|\d)))(?:\s+number)?(?:(?<=by|of)\s*"
    + _N.format("m")
    + r")?(?!\s*[-⟦\d])"
    r"(?!\s+(?:if|when|modulo|only|for|power|to|relative))",
    re.IGNORECASE,
)


def _between(low: int, high: int, claim: Callable[[int], bool]) -> int:
    return sum(1 for value in range(low, high + 1) if claim(value))


def _divisors(n: int) -> list[int]:
    if n < 1:
        raise NotUnderstood("divisors of a number below 1")
    return [value for value in range(1, n + 1) if n % value == 0]


_IS = (
    r"\s+(?:is|equals|is\s+equal\s+to|is\s+exactly)\s+"
    + _N.format("claimed")
    + r"(?!\s*(?:,?\s*(?:times|modulo|mod|more|less|percent)))"
)
_COUNTS: Sequence[tuple[re.Pattern[str], Callable[..., int]]] = [
    (
        re.compile(rf"\bnumber\s+of\s+(?:positive\s+)?divisors\s+of\s+{_N.format('n')}{_IS}", re.I),
        lambda n: len(_divisors(n)),
    ),
    (
        re.compile(
            rf"{_N.format('n')}\s+has\s+(?:exactly\s+)?{_N.format('claimed')}\s+positive\s+divisors\b(?!\s+(?:\w+ing|that|which|less|of))",
            re.I,
        ),
        lambda n: len(_divisors(n)),
    ),
    (
        re.compile(rf"\bsum\s+of\s+(?:all\s+|the\s+)*(?:positive\s+)?divisors\s+of\s+{_N.format('n')}{_IS}", re.I),
        lambda n: sum(_divisors(n)),
    ),
    (
        re.compile(
            rf"\bthere\s+are\s+(?:exactly\s+)?{_N.format('claimed')}\s+primes?(?:\s+numbers)?\s+(?:below|less\s+than|smaller\s+than)\s+{_N.format('n')}",
            re.I,
        ),
        lambda n: _between(2, n - 1, is_prime),
    ),
    (
        re.compile(
            rf"\bthere\s+are\s+(?:exactly\s+)?{_N.format('claimed')}\s+primes?(?:\s+numbers)?\s+(?:up\s+to|not\s+exceeding)\s+{_N.format('n')}",
            re.I,
        ),
        lambda n: _between(2, n, is_prime),
    ),
    (
        re.compile(
            rf"\bnumber\s+of\s+(?:(?P<positive>positive)\s+)?integers\s+(?:from\s+{_N.format('low')}\s+to|up\s+to|not\s+exceeding)\s+{_N.format('n')}"
            rf"\s+(?:that\s+are\s+|which\s+are\s+)?(?:divisible\s+by|multiples\s+of)\s+{_N.format('m')}{_IS}",
            re.I,
        ),
        lambda n, m, low: _between(low, n, lambda value: value % m == 0),
    ),
    (
        re.compile(
            rf"\bnumber\s+of\s+(?:(?P<positive>positive)\s+)?integers\s+(?:from\s+{_N.format('low')}\s+to|up\s+to|not\s+exceeding)\s+{_N.format('n')}"
            rf"\s+(?:that\s+are\s+|which\s+are\s+)?(?:coprime|relatively\s+prime)\s+to\s+{_N.format('m')}{_IS}",
            re.I,
        ),
        lambda n, m, low: _between(low, n, lambda value: gcd(value, m) == 1),
    ),
    (
        re.compile(
            rf"\bnumber\s+of\s+ways\s+to\s+choose\s+{_N.format('k')}\s+(?:\w+\s+)?(?:of|from|among|out\s+of)\s+(?:the\s+|a\s+set\s+of\s+)?{_N.format('n')}"
            rf"(?:\s+(?!is\b)\w+)?{_IS}",
            re.I,
        ),
        lambda n, k: comb(n, k),
    ),
    (
        re.compile(
            rf"\bnumber\s+of\s+(?:all\s+)?subsets\s+of\s+a\s+set\s+(?:with|of)\s+{_N.format('n')}\s+elements{_IS}", re.I
        ),
        lambda n: 2**n if n < 400 else 0,
    ),
    (
        re.compile(
            rf"\bnumber\s+of\s+permutations\s+of\s+{_N.format('n')}\s+(?:distinct\s+)?(?:objects|elements|letters){_IS}", re.I
        ),
        lambda n: factorial(n) if n < 400 else 0,
    ),
    (
        re.compile(rf"\bsum\s+of\s+(?:the\s+)?(?:decimal\s+)?digits\s+of\s+{_N.format('n')}{_IS}", re.I),
        lambda n: sum(int(digit) for digit in str(abs(n))),
    ),
    (
        re.compile(
            rf"\bnumber\s+of\s+diagonals\s+of\s+a\s+convex\s+(?:polygon\s+with\s+)?{_N.format('n')}(?:-gon|\s+(?:vertices|sides)){_IS}",
            re.I,
        ),
        lambda n: n * (n - 3) // 2,
    ),
]
