"""Which names may be restricted by words that were not read.

A point refutes a claim fairly if the text introduced all its names, and if every clause that may restrict one was read.
Other words need not be read: "all its factors are at least two" describes $n!$ and restricts no $n$.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from apps.mathcheck.claims import letters
from apps.mathcheck.scope import Condition, Scope
from apps.mathcheck.tex.relations import Statement
from apps.mathcheck.tex.tree import walk
from apps.mathcheck.words import restraints
from apps.mathcheck.words.conditions import add_conditions, condition_places
from apps.mathcheck.words.declarations import plain_name, read_declarations
from apps.mathcheck.words.reading import Line
from apps.mathcheck.words.restrictions import has_hidden_condition
from apps.mathcheck.words.vocabulary import is_read, is_restricted

_NOTHING = Statement()


@dataclass(slots=True)
class Restrained:
    """What the sentences so far introduce, and what unread words may restrict."""

    introduced: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    #: Indices in rules of sequences: `a_{n+1} = 2a_n` restricts `n` in no claim about terms.
    ruled: set[str] = field(default_factory=set)
    #: Whether unread words may restrict any name.
    everything: bool = False

    def enter(self, line: Line, given: bool) -> None:
        """Read the next sentence."""
        scope = Scope()
        declared, rest = read_declarations(scope, line.flat, line.statements)
        add_conditions(scope, line, condition_places(line, scope, given))
        ruled = {name for one in scope.conditions if _is_rule(one) for name in one.names}
        self.names |= scope.unread - ruled
        self.ruled |= scope.unread & ruled
        if given and restraints.SEARCHES.search(line.words) and not is_read(line.words):
            self._restrict(line, rest)
        if restraints.DESCRIBES.search(line.flat):
            self.everything = True
        for start, end in _clauses(line.flat):
            self._clause(_only(line, start, end), line.flat[start:end], rest[start:end], declared)
        for attached in restraints.ATTACHED.finditer(line.flat):
            if plain_name(line.statements[int(attached[1])]) and not is_read(_words(attached[0])):
                self.names |= letters(line.statements[int(attached[1])].tokens)

    def _clause(self, inside: Line, flat: str, rest: str, declared: set[str]) -> None:
        """Read a clause. `flat` are its words with holes, `rest` those outside declarations."""
        described = is_restricted(rest) or restraints.KINDS.search(rest) or restraints.EQUALITY.match(flat)
        if described or not is_read(_words(flat)) or has_hidden_condition(inside):
            self._restrict(inside, rest)
        elif restraints.LOOKS_BACK.search(inside.words):
            self.names |= _letters(inside)
        elif restraints.INTRODUCES.match(flat):
            self.introduced |= _letters(inside)
        elif restraints.SATISFIES.match(flat):
            self.introduced |= declared

    def _restrict(self, inside: Line, rest: str) -> None:
        found = _letters(inside)
        self.names |= found
        self.everything |= not found or restraints.OTHERS.search(rest) is not None

    @property
    def settled(self) -> frozenset[str]:
        """The introduced names that no unread words may restrict."""
        return self.indices - self.ruled

    @property
    def indices(self) -> frozenset[str]:
        """The settled names, and those that only rules of sequences restrict."""
        return frozenset() if self.everything else frozenset(self.introduced - self.names)

    def is_complete(self, names: frozenset[str], reached: frozenset[str]) -> bool:
        """Whether the names are settled, and no unread words may restrict names that conditions tie to them (`reached`)."""
        return names <= self.settled and not reached & (self.names | self.ruled)


def _clauses(flat: str) -> Iterator[tuple[int, int]]:
    """The places of clauses that may restrict names, without overlaps."""
    reached = 0
    for opening in restraints.OPENS.finditer(flat):
        if opening.start() < reached:
            continue
        listed = restraints.LISTED.match(flat, opening.start())
        ending = restraints.ENDS.search(flat, opening.end())
        reached = listed.end() if listed else ending.start() if ending else len(flat)
        yield opening.start(), reached


def _only(line: Line, start: int, end: int) -> Line:
    """The sentence with nothing outside the places from `start` to `end`."""
    kept = tuple(one if start <= at < end else _NOTHING for one, at in zip(line.statements, line.places, strict=True))
    return replace(line, flat=" " * start + line.flat[start:end], statements=kept)


def _is_rule(condition: Condition) -> bool:
    """Whether it is an equation between terms of a sequence."""
    parts = {part for side in (condition.left, condition.right) for part in walk(side)}
    terms = {part for part in parts if part.op == "item"}
    return condition.relation == "=" and len(terms) > 1 and not any(part.op == "apply" for part in parts)


def _letters(line: Line) -> set[str]:
    return {letter for statement in line.statements for letter in letters(statement.tokens)}


def _words(flat: str) -> str:
    return restraints.HARMLESS.sub(" ", re.sub(r"⟦\d+⟧", " ", flat))
