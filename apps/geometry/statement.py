"""Reads statements in JGEX: clauses, `?`, goals. Errors name the place and what to write instead.

    a b c = triangle a b c; h = orthocenter h a b c ? perp a h b c

Both spellings are read: `=` of newclid 2 and AlphaGeometry, `:` of newclid 3, a first line with a name, `|` before auxiliary
points. The new points may be left out of the arguments: `h = orthocenter a b c`. Lines that begin with `#` are comments.
"""

import difflib
import re
from dataclasses import dataclass
from fractions import Fraction

from apps.geometry.constructions import CONSTRUCTIONS, GROUPS, Construction
from apps.geometry.predicates import OF_PAIRS, OLDER, PREDICATES, Predicate
from apps.geometry.shapes import SHAPES

MOST_CHARACTERS, MOST_POINTS, MOST_GOALS = 4_000, 40, 20
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_']{0,11}\Z")
_WORD = re.compile(r"[^\s;,]+")
_VALUE = re.compile(r"(?:(?P<degrees>-?\d{1,6})o|(?P<top>-?\d{0,6})pi/(?P<low>\d{1,6})|(?P<plain>-?\d{1,6}(?:/\d{1,6})?))\Z")


class StatementError(Exception):
    """A statement that cannot be read. `start` is the place in its text, in code points."""

    def __init__(self, text: str, start: int, reason: str) -> None:
        self.start, self.reason = start, reason
        line = text.count("\n", 0, start) + 1
        column = start - (text.rfind("\n", 0, start) + 1) + 1
        super().__init__(f"Line {line}, character {column}: {reason}")


@dataclass(frozen=True)
class Value:
    """A number: a length, a ratio, or an angle as a share of π."""

    written: str
    amount: Fraction
    is_angle: bool = False


@dataclass(frozen=True)
class Step:
    """One construction with its arguments; `points` are those before the new ones are known."""

    construction: Construction
    arguments: tuple[str | Value, ...]

    def __str__(self) -> str:
        return " ".join([self.construction.name, *(_written(one) for one in self.arguments)])

    @property
    def given(self) -> tuple[str | Value, ...]:
        """The arguments that are not new."""
        names = self.construction.arguments
        return tuple(one for name, one in zip(names, self.arguments, strict=True) if name not in self.construction.new)


@dataclass(frozen=True)
class Clause:
    """New points with their constructions."""

    points: tuple[str, ...]
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        return f"{' '.join(self.points)} = {', '.join(map(str, self.steps))}"


@dataclass(frozen=True)
class Goal:
    """An assertion about the points."""

    predicate: Predicate
    points: tuple[str, ...]
    values: tuple[Value, ...] = ()

    def __str__(self) -> str:
        return " ".join([self.predicate.name, *self.points, *(value.written for value in self.values)])


@dataclass(frozen=True)
class Statement:
    """A statement. Its text is canonical: equal statements have equal texts."""

    clauses: tuple[Clause, ...]
    goals: tuple[Goal, ...]

    @property
    def points(self) -> tuple[str, ...]:
        return tuple(point for clause in self.clauses for point in clause.points)

    def __str__(self) -> str:
        setup = "; ".join(map(str, self.clauses))
        return f"{setup} ? {'; '.join(map(str, self.goals))}" if self.goals else setup


def _written(argument: str | Value) -> str:
    return argument.written if isinstance(argument, Value) else argument


def read(text: str) -> Statement:
    """The statement in a text. Raises `StatementError`."""
    if len(text) > MOST_CHARACTERS:
        raise StatementError(text, MOST_CHARACTERS, f"the statement is longer than {MOST_CHARACTERS:,} characters.")
    return _Reader(text).statement()


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.known: list[str] = []

    def fail(self, start: int, reason: str) -> StatementError:
        return StatementError(self.text, start, reason)

    def statement(self) -> Statement:
        body = re.sub(r"(?m)^[ \t]*#.*$", lambda found: " " * len(found[0]), self.text)
        first = re.match(r"\s*[^\n]*\n", body)
        if first and not re.search(r"[=:;?|]", first[0]) and body[first.end() :].strip():
            body = " " * first.end() + body[first.end() :]
        setup, mark, goals = body.partition("?")
        clauses = tuple(self.clause(start, part) for start, part in _parts(setup.replace("|", ";"), 0, ";"))
        if not clauses:
            raise self.fail(0, "no construction. Begin with points, such as “a b c = triangle a b c”.")
        if "?" in goals:
            raise self.fail(len(setup) + 1 + goals.index("?"), "a second “?”. Separate goals with “;”.")
        found = tuple(self.goal(start, part) for start, part in _parts(goals, len(setup) + len(mark), ";"))
        if mark and not found:
            raise self.fail(len(setup), "no goal after “?”. Write one, such as “perp a h b c”, or leave “?” out.")
        if len(found) > MOST_GOALS:
            raise self.fail(len(setup), f"more than {MOST_GOALS} goals.")
        return Statement(clauses, found)

    def clause(self, start: int, part: str) -> Clause:
        mark = re.search(r"[=:]", part)
        if mark is None:
            raise self.fail(start, "no “=”. Write new points, “=” and a construction: “h = orthocenter h a b c”.")
        points = [(start + word.start(), word[0]) for word in _WORD.finditer(part[: mark.start()])]
        if not points:
            raise self.fail(start, "no point before “=”.")
        for place, point in points:
            self.new_point(place, point)
        names = tuple(point for _, point in points)
        at = start + mark.end()
        steps = [self.step(place, one, names) for place, one in _parts(part[mark.end() :], at, ",")]
        if not steps:
            raise self.fail(at, "no construction after “=”.")
        alone = [step for step in steps if step.construction.name in SHAPES or step.construction.name in GROUPS]
        if alone and len(steps) > 1:
            raise self.fail(
                at, f"“{alone[0].construction.name}” places its points alone; put other conditions on later points."
            )
        return Clause(names, tuple(steps))

    def new_point(self, place: int, point: str) -> None:
        if not _NAME.match(point):
            raise self.fail(place, f"“{point[:20]}” is no name of a point. Use a letter, then letters or digits: a, b1.")
        if point in self.known:
            raise self.fail(place, f"the point “{point}” exists already. Choose another name.")
        if len(self.known) == MOST_POINTS:
            raise self.fail(place, f"more than {MOST_POINTS} points.")
        self.known.append(point)

    def step(self, start: int, part: str, names: tuple[str, ...]) -> Step:
        words = [(start + word.start(), word[0]) for word in _WORD.finditer(part)]
        place, name = words[0]
        construction = CONSTRUCTIONS.get(name)
        if construction is None:
            raise self.fail(place, f"unknown construction “{name[:30]}”.{_closest(name, CONSTRUCTIONS)}")
        if len(names) != len(construction.new):
            said = f"“{name}” makes {_count(len(construction.new), 'point')}, not {len(names)}. Write: {construction.usage}."
            raise self.fail(place, said)
        given = words[1:]
        if len(given) == len(construction.arguments) - len(names) and not any(word in names for _, word in given):
            rest = iter(given)
            fresh = iter(names)
            given = [(place, next(fresh)) if one in construction.new else next(rest) for one in construction.arguments]
        if len(given) != len(construction.arguments):
            wanted = _count(len(construction.arguments), "argument")
            raise self.fail(place, f"“{name}” has {wanted}, not {len(given)}. Write: {construction.usage}.")
        found = zip(construction.arguments, given, strict=True)
        step = Step(construction, tuple(self.argument(construction, one, at, word, names) for one, (at, word) in found))
        fresh_points = tuple(
            one for role, one in zip(construction.arguments, step.arguments, strict=True) if role in construction.new
        )
        if fresh_points != names:
            raise self.fail(place, f"the new points before “=” and in “{name}” differ. Write: {construction.usage}.")
        self.pairs_differ(place, step)
        return step

    def argument(self, construction: Construction, role: str, place: int, word: str, names: tuple[str, ...]) -> str | Value:
        if role in construction.values:
            value = self.value(place, word)
            self.kind_fits(place, value, is_angle=role == "y")
            return value
        self.old_point(place, word)
        if role not in construction.new and word in names:
            raise self.fail(place, f"the point “{word}” is not constructed yet here.")
        return word

    def pairs_differ(self, place: int, step: Step) -> None:
        points = [one for one in step.given if isinstance(one, str)]
        if len(points) > 1 and len(set(points)) == 1:
            raise self.fail(place, f"“{step}” uses the point “{points[0]}” only. Write: {step.construction.usage}.")

    def old_point(self, place: int, word: str) -> None:
        if word not in self.known:
            raise self.fail(place, f"the point “{word[:20]}” is not constructed before.{_closest(word, self.known)}")

    def value(self, place: int, word: str) -> Value:
        found = _VALUE.match(word)
        if found is None:
            raise self.fail(place, f"“{word[:20]}” is no number. Write 3, 1/2, 60o or 1pi/3.")
        if found["degrees"]:
            return Value(word, Fraction(int(found["degrees"]), 180), is_angle=True)
        low = int(found["low"] or word.partition("/")[2] or 1)
        if low == 0:
            raise self.fail(place, f"“{word}” divides by 0.")
        if found["low"]:
            top = found["top"]
            return Value(word, Fraction(int(f"{top}1" if top in ("", "-") else top), low), is_angle=True)
        return Value(word, Fraction(int(word.partition("/")[0]), low))

    def kind_fits(self, place: int, value: Value, *, is_angle: bool) -> None:
        if is_angle and not value.is_angle:
            raise self.fail(place, f"“{value.written}” is no angle. Write 60o or 1pi/3.")
        if not is_angle and (value.is_angle or value.amount <= 0):
            raise self.fail(place, f"“{value.written}” is no length or ratio. Write a positive number, such as 3 or 1/2.")

    def goal(self, start: int, part: str) -> Goal:
        words = [(start + word.start(), word[0]) for word in _WORD.finditer(part)]
        place, written = words[0]
        predicate = PREDICATES.get(OLDER.get(written, written))
        if predicate is None:
            raise self.fail(place, f"unknown predicate “{written[:30]}”.{_closest(written, PREDICATES)}")
        given = words[1:]
        points, numbers = given[: len(given) - predicate.values], given[len(given) - predicate.values :]
        if len(given) <= predicate.values or not predicate.sizes(len(points)):
            raise self.fail(place, f"“{written}” does not fit {_count(len(given), 'argument')}. Write: {predicate.usage}.")
        for at, point in points:
            self.old_point(at, point)
        names = tuple(point for _, point in points)
        if predicate.name in OF_PAIRS:
            for i in range(0, len(names), 2):
                if names[i] == names[i + 1]:
                    raise self.fail(points[i][0], f"“{names[i]} {names[i]}” is no line. Use two points.")
        elif len(set(names)) < len(names) and not self.are_triangles(predicate, names):
            raise self.fail(place, f"“{written}” names a point twice.")
        values = [(at, self.value(at, word)) for at, word in numbers]
        for at, value in values:
            self.kind_fits(at, value, is_angle=predicate.name == "aconst")
        return Goal(predicate, names, tuple(value for _, value in values))

    @staticmethod
    def are_triangles(predicate: Predicate, names: tuple[str, ...]) -> bool:
        return predicate.name in ("simtri", "simtrir", "contri", "contrir") and len(set(names[:3])) == len(set(names[3:])) == 3


def _parts(text: str, start: int, separator: str) -> list[tuple[int, str]]:
    """The parts that are not empty, each with its place."""
    found = []
    for part in text.split(separator):
        if part.strip(" \t\r\n,"):
            found.append((start, part))
        start += len(part) + 1
    return found


def _closest(word: str, known: object) -> str:
    names = [str(name) for name in known] if isinstance(known, (list, dict)) else []
    near = difflib.get_close_matches(word[:30], names, 1)
    return f" Do you mean “{near[0]}”?" if near else f" Known: {', '.join(sorted(names))}." if len(names) < 12 else ""


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
