"""What a proof may assume at each place of a text: declarations and conditions that certainly hold there.

For refutations it is safe to keep every condition, because conditions only restrict. For proofs it is the other way round: a
condition counts only if it was read in full and is still in force. Conditions of a sentence with *if* end with the sentence.
Those of a case or supposition end with the next case or with its contradiction. A new declaration of a name replaces the
old one.
"""

import re
from dataclasses import dataclass, field

from apps.mathcheck.claims import letters
from apps.mathcheck.proving.sequences import ends_before
from apps.mathcheck.scope import Condition, Domain, Scope
from apps.mathcheck.tex.tree import free_names
from apps.mathcheck.words.conditions import add_conditions, condition_places
from apps.mathcheck.words.declarations import AFTER, read_declarations
from apps.mathcheck.words.quantifiers import bound_names
from apps.mathcheck.words.reading import Line
from apps.mathcheck.words.stance import is_condition

#: Sentences whose conditions may be alternatives, denied or only aimed at.
_NOT_SAID = re.compile(
    r"""\b(?:or|either|not|no|never|neither|nor|cannot|can't|doesn't|don't|isn't|fails?|without|unless|except\w*|otherwise|else
    |want|wish|show|prove[sd]?|proving|suffices?|enough|needs?|claims?|goal|hope|tr(?:y|ies|ying)|whether|guess\w*|conjectur\w*|must
    |(?<!for\s)some|one\s+of|exists?|impossible|contradict\w*|absurd\w*|false|wrong|find|determine|remains?|only|if\s+and\s+only|iff|would
    |could|might|instead|possib\w*|equivalent\w*|say|example|e\.g|check\w*|test|approximat\w*|modulo|about)\b|\?""",
    re.IGNORECASE | re.VERBOSE,
)
_PASSING = re.compile(r"\b(?:if|when|whenever|provided|as\s+long\s+as|for(?!\s+some\b))\b", re.IGNORECASE)
_OPENS = re.compile(
    r"\b(?:suppose|assume|assuming|supposing|sub-?case|case|wlog|generality|contrary|contradiction)\b", re.IGNORECASE
)
_CLOSES = re.compile(
    r"""\b(?:(?:sub-?)?cases?|otherwise|conversely|contradict\w*|impossible|absurd\w*|finally|in\s+(?:any|all|either|both|each|the\s+other)
    |it\s+remains|next|now\s+(?:suppose|assume|let|consider)|lemma|claim|theorem|step|part|hence\s+the|therefore\s+the|summary
    |conclu\w+|alternatively|instead|in\s+general|on\s+the\s+other\s+hand|problem)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_CONDITIONAL = re.compile(r"\b(?:if|when|whenever|unless|provided|otherwise|odd|even|prime|case|depending)\b", re.IGNORECASE)
#: Words after which earlier conditions may no longer hold.
_WIDENS = re.compile(
    r"""\b(?:drop\w*|replac\w*|exchang\w*|swap\w*|possibilit\w*|arbitrary|in\s+general|generally|general\s+case|later|treated
    |both\s+(?:cases|ways)|(?:second|third|other|next|last)\s+(?:case|possibility|part)|end\s*-?points?|conversely)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_ALL = re.compile(r"\bfor\s+(?:all|every|any|each)\b", re.IGNORECASE)
_TERM = re.compile(r"[A-Za-z]+_\d+")
_EQUALITY = re.compile(r"\bequalit(?:y|ies)\b", re.IGNORECASE)
_INTRODUCES = re.compile(
    r"\b(?:let|take|fix|consider|choose|pick|set|put|define\w*|denot\w+|write|given|for|every|any|each|now|suppose|assume|where)\b",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Assumed:
    """The assumptions in force, read sentence by sentence."""

    scope: Scope = field(default_factory=lambda: Scope(with_zero=True))
    #: The assumptions before a case or supposition that is still open.
    _before: Scope | None = None

    @property
    def is_supposing(self) -> bool:
        """Whether a case or supposition is open."""
        return self._before is not None

    def enter(self, line: Line, given: bool) -> Scope:
        """Read the next sentence. Returns what a proof of its claims may assume."""
        if self._before is not None and _CLOSES.search(line.words):
            self.scope, self._before = self._before, None
        opens = _OPENS.search(line.words) is not None
        if opens and self._before is None and not given:
            self._before = self.scope.copied()
        bound = bound_names(line)
        inside = self._with(line, given, bound)
        passing = bool(bound) or (_PASSING.search(line.words) is not None and not given and not opens)
        if not passing:
            self.scope = inside.copied()
        else:
            if declared := _declared(line) - bound:
                self._forget(self.scope, declared)
            if not _CONDITIONAL.search(line.words):
                known = self.scope.conditions
                known += [one for one in inside.conditions if _is_recurrence(one) and one not in known]
        return inside

    def _with(self, line: Line, given: bool, bound: frozenset[str]) -> Scope:
        scope = self.scope.copied()
        declared = _declared(line) | bound
        if bound or _INTRODUCES.search(line.words):
            self._forget(scope, declared)
        if not given:
            _loosen(scope, line, bound)
        earlier = list(scope.conditions)
        if given or not _asserts_a_kind(line):
            for name in declared:
                scope.domains.pop(name, None)
            read_declarations(scope, line.flat, line.statements)
        if _NOT_SAID.search(line.words):
            scope.conditions = earlier
            return scope
        add_conditions(scope, line, _conditions(line, scope, given))
        own = [one for one in scope.conditions if one not in earlier]
        unread = {letter for statement in line.statements if statement.foreign for letter in letters(statement.tokens)}
        rules = [one for one in own if _is_recurrence(one)]
        cut = [one for one in rules if one.names & unread or ends_before(one, own, scope.conditions)]
        scope.conditions = [one for one in scope.conditions if one not in cut]
        return scope

    @staticmethod
    def _forget(scope: Scope, names: set[str] | frozenset[str]) -> None:
        """Drop all that was said about names that now mean something else."""
        scope.conditions = [one for one in scope.conditions if _is_recurrence(one) or not one.names & names]
        for name in names:
            scope.domains.pop(name, None)
            scope.definitions.pop(name, None)
            scope.functions.pop(name, None)
        scope.definitions = {key: value for key, value in scope.definitions.items() if not free_names(value) & names}
        scope.functions = {key: value for key, value in scope.functions.items() if not free_names(value[1]) & names}


def _loosen(scope: Scope, line: Line, bound: frozenset[str]) -> None:
    """Drop what earlier sentences said about names that this one restricts, too, or about all names if it speaks of all.

    "Let $n=2k$. … If $n=2k+1$, …" and "So it holds for all integers" are not about the earlier values. Kinds stay.
    """
    places = condition_places(line, scope, False)
    restricted = {
        letter for place in places for part in line.statements[place].parts if len(part) == 1 for letter in letters(part)
    }
    if _WIDENS.search(line.words) or (_ALL.search(line.words) and not bound):
        restricted |= set(scope.domains) | scope.conditioned | set(scope.definitions)
    scope.conditions = [one for one in scope.conditions if _is_recurrence(one) or not one.names & restricted]
    for name in restricted:
        scope.definitions.pop(name, None)
        if scope.is_declared(name):
            scope.domains[name] = Domain(kind=scope.domain(name).kind, declared=True)


def _is_recurrence(condition: Condition) -> bool:
    """Whether it gives terms of a sequence or values of a function: "for n ≥ 1" in its sentence does not end it."""
    names = condition.names
    terms = any(key.endswith("()") for key in names) or (bool(names) and all(_TERM.fullmatch(key) for key in names))
    return condition.relation == "=" and terms


def _asserts_a_kind(line: Line) -> bool:
    """Whether the sentence concludes that a name is of a kind: "so $p$ is odd"."""
    return any(not is_condition(line.flat[: found.start("group")]) for found in AFTER.finditer(line.flat))


def _conditions(line: Line, scope: Scope, given: bool) -> set[int]:
    """The places of conditions by the words before them. After a claim of the sentence, equations are not conditions of it."""
    found, claimed = set(), False
    places = condition_places(line, scope, given)
    for place, statement in enumerate(line.statements):
        if not statement.relations:
            continue
        defines = any(one.text == ":=" for one in statement.relations)
        if given or defines or (place in places and is_condition(line.before(place))):
            equates = any(one.text == "=" for one in statement.relations)
            if not claimed or not (equates or _EQUALITY.search(line.before(place))):
                found.add(place)
        else:
            claimed = True
    return found


def _declared(line: Line) -> set[str]:
    return read_declarations(Scope(), line.flat, line.statements)[0]
