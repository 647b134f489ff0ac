"""What a text has said so far: sentence by sentence, its conditions and declarations go into the scopes."""

import re
from collections.abc import Iterable

from workers.mathcheck.claims import Link, letters
from workers.mathcheck.conditions import add_condition, add_conditions, condition_places
from workers.mathcheck.declarations import read_declarations
from workers.mathcheck.divisibility import Divided, divided_in_words
from workers.mathcheck.quantifiers import bound_names, supposes
from workers.mathcheck.reading import Line, read_line
from workers.mathcheck.restrictions import goes_on_about_names, hides_condition, redefined_operations
from workers.mathcheck.scope import Scope
from workers.mathcheck.suppositions import SINCE, meanings_in, supposes_vaguely
from workers.mathcheck.texts import sentences
from workers.mathcheck.vocabulary import is_read, is_restricted

_MATHS = re.compile(
    r"(?<![A-Za-z\\])(?:[b-zB-Z](?![A-Za-z])|a(?=\s*[,+\-*/^=<>]|$))(?:[^A-Za-z.;]|(?<![A-Za-z])[a-zA-Z](?![A-Za-z])|\\[a-z]+)*"
)


class Background:
    """The scopes of one text under its assumptions."""

    def __init__(self, text: str, assumptions: Iterable[str]) -> None:
        self.text = text
        self.scope = Scope()
        #: What was said outside sentences that say "for all", and what this sentence says alone where it binds `bound` anew.
        self.standing, self.own = Scope(), Scope()
        self.bound: frozenset[str] = frozenset()
        #: Whether the text is that of the problem, whose conditions hold for good.
        self.outside = False
        self.read = True
        #: Operations with a meaning of their own: "define $a*b=…$".
        self.operations: set[tuple[str, object]] = set()
        #: Phrases of which the text says what they mean.
        self.meanings: set[str] = set()
        for assumption in assumptions:
            spelled = assumption if re.search(r"\$|\\\(|\\\[", assumption) else _dollars(assumption)
            for sentence in sentences(spelled):
                line = read_line(spelled, sentence)
                self.prepare(line, given=True)

    def prepare(self, line: Line, given: bool = False) -> tuple[set[int], set[str], list[Divided]]:
        """Read what the next sentence supposes: its conditions, the names it declares, what it calls divisible."""
        divided = [] if given else list(divided_in_words(line))
        self.bound = frozenset() if given else bound_names(line)
        self.operations |= redefined_operations(line)
        if self.bound:
            self.own = self.scope.beside()
            self.enter(self.own, line, given, divided)
        if given or self.outside or not self.bound:
            self.enter(self.standing, line, given, divided)
        conditions, declared = self.enter(self.scope, line, given, divided)
        return conditions, declared, divided

    def enter(self, scope: Scope, line: Line, given: bool, divided: list[Divided]) -> tuple[set[int], set[str]]:
        """Read what a sentence supposes into a scope."""
        known = dict(scope.domains)
        declared, rest = read_declarations(scope, line.flat, line.statements)
        for claim in divided:
            rest = rest[: claim.start] + " " * (claim.end - claim.start) + rest[claim.end :]
        conditions = condition_places(line, scope, given)
        add_conditions(scope, line, conditions)
        self.read = is_read(line.words) and not is_restricted(rest) and not hides_condition(line)
        self.meanings |= set(meanings_in(line, self.text)) if self.read and not given else set()
        if not given and supposes_vaguely(line, self.text, conditions, self.read, self.meanings):
            scope.vague = True
        if not self.read:
            named = {letter for statement in line.statements for letter in letters(statement.tokens)} | declared
            repeated = {name for name in declared if name in known and known[name] == scope.domains[name]}
            if conditions or declared - self.bound - (repeated if SINCE.search(line.words) else set()):
                scope.unread |= named
            else:
                scope.unread |= declared & self.bound
            if given or supposes(line.words, bool(conditions or declared)):
                scope.supposed |= named
        if (line.statements and not self.read) or goes_on_about_names(line):
            scope.readable = False
        return conditions, declared

    def add(self, link: Link) -> None:
        """Take a relation as a condition of what follows."""
        scopes = [self.scope, self.own] if self.bound else [self.scope, self.standing]
        for scope in scopes:
            add_condition(scope, link)


def _dollars(words: str) -> str:
    """Bare assumptions, "positive integers a, b", with dollars around what looks like mathematics."""

    def wrapped(found: re.Match[str]) -> str:
        core = found[0].rstrip(" ,")
        return f"${core}${found[0][len(core) :]}"

    return _MATHS.sub(wrapped, words)
