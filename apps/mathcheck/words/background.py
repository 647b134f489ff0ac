"""Collects the conditions and declarations of a text in scopes, sentence by sentence."""

import re
from collections.abc import Iterable
from dataclasses import replace

from apps.mathcheck.claims import Link, letters, links
from apps.mathcheck.scope import Scope
from apps.mathcheck.words.assumed import Assumed
from apps.mathcheck.words.conditions import add_condition, add_conditions, condition_places
from apps.mathcheck.words.declarations import read_declarations
from apps.mathcheck.words.divisibility import Divided, divided_in_words
from apps.mathcheck.words.quantifiers import bound_names, supposes
from apps.mathcheck.words.reading import Line, read_line
from apps.mathcheck.words.restrained import Restrained
from apps.mathcheck.words.restrictions import has_hidden_condition, may_restrict_names, redefined_operations
from apps.mathcheck.words.suppositions import SINCE, has_vague_supposition, meanings_in
from apps.mathcheck.words.texts import sentences
from apps.mathcheck.words.vocabulary import is_read, is_restricted

_MATHS = re.compile(
    r"(?<![A-Za-z\\])(?:[b-zB-Z](?![A-Za-z])|a(?=\s*[,+\-*/^=<>]|$))(?:[^A-Za-z.;]|(?<![A-Za-z])[a-zA-Z](?![A-Za-z])|\\[a-z]+)*"
)


class Background:
    """The scopes of one text under its assumptions."""

    def __init__(self, text: str, assumptions: Iterable[str]) -> None:
        self.text = text
        self.scope = Scope()
        #: Everything said outside sentences with "for all"; and, if this sentence binds the names `bound`, this sentence alone.
        self.unquantified, self.own = Scope(), Scope()
        self.bound: frozenset[str] = frozenset()
        #: What proofs may assume: everything in force, and what holds in this sentence.
        self.assumed, self.provable = Assumed(), Scope()
        self.restrained = Restrained()
        #: What equations say that a name is, and the names that two equations give differently.
        self.given: dict[str, str] = {}
        self.given_twice: set[str] = set()
        #: Whether the current text is the problem, whose conditions always hold.
        self.outside = False
        self.read = True
        #: Operations that the text redefines: "define $a*b=…$".
        self.operations: set[tuple[str, object]] = set()
        #: Phrases that the text defines.
        self.meanings: set[str] = set()
        for assumption in assumptions:
            spelled = assumption if re.search(r"\$|\\\(|\\\[", assumption) else _dollars(assumption)
            for sentence in sentences(spelled):
                line = read_line(spelled, sentence)
                self.prepare(line, given=True)

    def prepare(self, line: Line, given: bool = False) -> tuple[set[int], set[str], list[Divided]]:
        """Read the next sentence into the scopes. Returns its conditions, declared names and claims of divisibility."""
        divided = [] if given else list(divided_in_words(line))
        self._note_equations(line, condition_places(line, self.scope, given))
        self.scope.settled = self.assumed.scope.settled = self.restrained.settled
        self.provable = self.assumed.enter(line, given)
        self.restrained.enter(line, given or self.outside)
        self.bound = frozenset() if given else bound_names(line)
        self.operations |= redefined_operations(line)
        if self.bound:
            self.own = self.scope.for_bound_names()
            self.enter(self.own, line, given, divided)
        if given or self.outside or not self.bound:
            self.enter(self.unquantified, line, given, divided)
        conditions, declared = self.enter(self.scope, line, given, divided)
        return conditions, declared, divided

    def enter(self, scope: Scope, line: Line, given: bool, divided: list[Divided]) -> tuple[set[int], set[str]]:
        """Read the conditions and declarations of a sentence into a scope. Returns both."""
        known = dict(scope.domains)
        declared, rest = read_declarations(scope, line.flat, line.statements)
        for claim in divided:
            rest = rest[: claim.start] + " " * (claim.end - claim.start) + rest[claim.end :]
        conditions = condition_places(line, scope, given)
        add_conditions(scope, line, conditions)
        self.read = is_read(line.words) and not is_restricted(rest) and not has_hidden_condition(line)
        self.meanings |= set(meanings_in(line, self.text)) if self.read and not given else set()
        if not given and has_vague_supposition(line, self.text, conditions, self.read, self.meanings):
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
        if (line.statements and not self.read) or may_restrict_names(line):
            scope.readable = False
        return conditions, declared

    def now(self, line: Line) -> Scope:
        """The scope with the indices of terms that are settled, if the sentence says for which ones it holds."""
        said = re.search(r"\bfor\b", line.words, re.IGNORECASE) is not None
        return replace(self.scope, settled=self.restrained.indices if said else frozenset())

    def _note_equations(self, line: Line, places: set[int]) -> None:
        for place in places:
            for link in links(line.statements[place]) if line.statements[place].relations else ():
                if link.relation == "=" and len(link.left) == 1 and letters(link.left):
                    value = "".join(token.text for token in link.right)
                    if self.given.setdefault(link.left[0].text, value) != value:
                        self.given_twice.add(link.left[0].text)

    def add(self, link: Link) -> None:
        """Add a relation as a condition on later sentences."""
        scopes = [self.scope, self.own] if self.bound else [self.scope, self.unquantified]
        for scope in scopes:
            add_condition(scope, link)


def _dollars(words: str) -> str:
    """A bare assumption such as "positive integers a, b", with dollars around its mathematics."""

    def wrapped(found: re.Match[str]) -> str:
        core = found[0].rstrip(" ,")
        return f"${core}${found[0][len(core) :]}"

    return _MATHS.sub(wrapped, words)
