"""Formal readings: names with domains, conditions and one claim, and the plain sentence that says them.

A reading counts only if all of it is read strictly, and if the verifier reads its sentence back to the same claim, domains and
conditions.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from apps.mathcheck.claims import Claim, Link, links, read_link
from apps.mathcheck.scope import UNMODULATED, Condition, Domain, Scope
from apps.mathcheck.testing.work import ONE_AT_A_TIME
from apps.mathcheck.tex.ellipsis import expanded
from apps.mathcheck.tex.notation import NotUnderstood
from apps.mathcheck.tex.parsing import parsed
from apps.mathcheck.tex.relations import statements
from apps.mathcheck.tex.tree import BINDERS, free_names, has
from apps.mathcheck.words.background import Background
from apps.mathcheck.words.conditions import concludes
from apps.mathcheck.words.reading import read_line
from apps.mathcheck.words.texts import sentences

#: The domains of names: what a sentence calls one number, and what the verifier takes it for.
DOMAINS: dict[str, tuple[str, Domain]] = {
    "integer": ("integer", Domain("integer")),
    "positive integer": ("positive integer", Domain("integer", "positive")),
    "nonnegative integer": ("nonnegative integer", Domain("integer", "nonnegative")),
    "odd integer": ("odd integer", Domain("integer", parity=1)),
    "even integer": ("even integer", Domain("integer", parity=0)),
    "prime": ("prime", Domain("integer", "positive", prime=True)),
    "rational": ("rational number", Domain("rational")),
    "real": ("real number", Domain("real")),
    "positive real": ("positive real number", Domain("real", "positive")),
    "nonnegative real": ("nonnegative real number", Domain("real", "nonnegative")),
    "nonzero real": ("nonzero real number", Domain("real", "nonzero")),
}
MOST_NAMES, MOST_CONDITIONS, LONGEST_TEX = 8, 8, 400
#: What a reader writes for a claim that has no such form.
NO_CLAIM = "none"


class NotFormal(ValueError):
    """A reading that does not count; the message says why."""


@dataclass(frozen=True, slots=True)
class Formal:
    """A reading: names with a key of `DOMAINS`, conditions, and the claim, as TeX without dollars, and its `sentence`."""

    names: tuple[tuple[str, str], ...]
    conditions: tuple[str, ...]
    claim: str
    sentence: str = ""

    @property
    def claim_start(self) -> int:
        """The place of the claim in the sentence."""
        return len(self.sentence) - len(self.claim) - 2


def _sentences(formal: Formal) -> tuple[str, ...]:
    """The sentences that say the reading. The second one leaves no doubt that a claim such as $x=y$ is no condition."""
    if not formal.names:
        return (f"It holds that ${formal.claim}$.",)
    groups: dict[str, list[str]] = {}
    for one, domain in formal.names:
        groups.setdefault(domain, []).append(one)
    given = [f"${one}$" for one in formal.conditions]
    under = f" with {_listed(given)}" if given else ""
    every = " and ".join(f"all {DOMAINS[domain][0]}s {_dollars(named)}" for domain, named in groups.items())
    let = ", ".join(f"let {_dollars(named)} be {_called(domain, len(named))}" for domain, named in groups.items())
    return f"For {every}{under}: ${formal.claim}$.", f"L{let[1:]}{under}. Then ${formal.claim}$."


def _called(domain: str, count: int) -> str:
    noun = DOMAINS[domain][0]
    return f"{noun}s" if count > 1 else f"a{'n' if noun[0] in 'aeiou' else ''} {noun}"


def _dollars(names: Sequence[str]) -> str:
    return ", ".join(f"${one}$" for one in names)


def _listed(items: Sequence[str]) -> str:
    return " and ".join([", ".join(items[:-1]), items[-1]]) if len(items) > 1 else items[0]


def formal_of(value: Mapping[str, Any], formula: str = "") -> Formal | None:
    """The reading in a JSON object; None if it says that the claim has no such form. Raises `NotFormal`.

    A claim that changes the `formula` that it reads, as far as that can be read alone, does not count either.
    """
    claim = _text(value.get("claim"), "the claim")
    if claim.lower() == NO_CLAIM:
        return None
    given, named = value.get("conditions"), value.get("names")
    if not isinstance(given, list) or not isinstance(named, list):
        raise NotFormal("it needs the lists `names` and `conditions`")
    if len(named) > MOST_NAMES or len(given) > MOST_CONDITIONS:
        raise NotFormal(f"it has more than {MOST_NAMES} names or {MOST_CONDITIONS} conditions")
    names = _names(named)
    conditions = tuple(dict.fromkeys(_text(one, "a condition") for one in given))
    scope = _scope(names.items())
    direct = [(_links(tex, "the condition"), tex) for tex in conditions]
    found, claims = [_condition(one, scope, tex) for one_links, tex in direct for one in one_links], _links(claim, "the claim")
    if len(claims) != 1:
        raise NotFormal(f"the claim `{claim}` is a chain; write one relation")
    read = _claim(claims[0], scope, claim)
    used = read.names.union(*(one.names for one in found))
    if unknown := used - names.keys():
        raise NotFormal(f"`{min(unknown)}` is used without a domain")
    if read.variants[0] in found:
        raise NotFormal(f"the claim `{claim}` is one of its own conditions")
    if _changes(read, formula, scope):
        raise NotFormal(f"the claim `{claim}` is not the marked formula")
    kept = tuple((one, domain) for one, domain in names.items() if one in used)
    formal = Formal(kept, conditions, claim)
    for sentence in _sentences(formal):
        formal = replace(formal, sentence=sentence)
        if _returns(formal, read, found):
            return formal
    raise NotFormal(f"the sentence “{sentence}” is not read back to the same reading")


def _text(said: object, what: str) -> str:
    if not isinstance(said, str) or not (tex := " ".join(said.replace("$", " ").split())):
        raise NotFormal(f"{what} is missing")
    if len(tex) > LONGEST_TEX:
        raise NotFormal(f"{what} is longer than {LONGEST_TEX} characters")
    return tex


def _names(named: Sequence[object]) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in named:
        said = one if isinstance(one, dict) else {}
        tex, domain = _text(said.get("name"), "a name"), str(said.get("domain", ""))
        if domain not in DOMAINS:
            raise NotFormal(f"`{domain}` is no domain")
        try:
            node = [parsed(part) for statement in statements(tex) for part in statement.parts]
        except NotUnderstood as error:
            raise NotFormal(f"the name `{tex}` cannot be read: {error}") from error
        if len(node) != 1 or node[0].op != "name":
            raise NotFormal(f"`{tex}` is no name")
        if found.setdefault(str(node[0].value), domain) != domain:
            raise NotFormal(f"the name `{tex}` has two domains")
    return found


def scope_of(formal: Formal) -> Scope:
    """The domains of a reading."""
    return _scope(formal.names)


def conditions_of(formal: Formal) -> list[Condition]:
    """The conditions of a reading, link by link."""
    scope = scope_of(formal)
    return [_condition(link, scope, tex) for tex in formal.conditions for link in _links(tex, "the condition")]


def _scope(names: Iterable[tuple[str, str]]) -> Scope:
    scope = Scope()
    for one, domain in names:
        scope.declare(one, DOMAINS[domain][1])
    return scope


def _links(tex: str, what: str) -> list[Link]:
    try:
        found = statements(tex)
    except NotUnderstood as error:
        raise NotFormal(f"{what} `{tex}` cannot be read: {error}") from error
    if len(found) != 1 or found[0].words or found[0].foreign or not found[0].relations:
        raise NotFormal(f"{what} `{tex}` is not one relation that can be tested")
    return links(found[0])


def _claim(link: Link, scope: Scope, tex: str) -> Claim:
    try:
        claim = read_link(link, scope)
    except NotUnderstood as error:
        raise NotFormal(f"the claim `{tex}` cannot be read: {error}") from error
    if len(claim.variants) > 1:
        raise NotFormal(f"the claim `{tex}` has more than one reading; write it with brackets")
    if claim.opaque or claim.differentiated:
        raise NotFormal(f"the claim `{tex}` has an unknown function or sequence")
    return claim


def _changes(read: Claim, formula: str, scope: Scope) -> bool:
    """Whether a claim has another relation than the formula, or other sides, though it has all names of the formula.

    Bound names of sums may differ, so sides with sums are not compared.
    """
    try:
        (statement,) = statements(formula)
        written = [read_link(one, scope) for one in links(statement)]
    except (NotUnderstood, ValueError, RecursionError):
        return False
    if not written or statement.words or statement.foreign:
        return False
    if read.relation not in {one.relation for one in written}:
        return True
    named = frozenset(scope.domains)
    sides = [side for one in written for variant in one.variants for side in (variant.left, variant.right)]
    closed = all(one.names <= named for one in written) and not any(has(side, *BINDERS) for side in sides)
    return closed and not any(read.variants[0] in one.variants for one in written)


def _condition(link: Link, scope: Scope, tex: str) -> Condition:
    try:
        claim = read_link(link, scope)
        sides = [expanded(parsed(side)) for side in (link.left, link.right)]
        modulus = None if link.modulus is None else parsed(link.modulus)
    except NotUnderstood as error:
        raise NotFormal(f"the condition `{tex}` cannot be read: {error}") from error
    if len(claim.variants) > 1 or claim.opaque or claim.differentiated:
        raise NotFormal(f"the condition `{tex}` has more than one reading, or an unknown function")
    if not free_names(sides[0]) | free_names(sides[1]):
        raise NotFormal(f"the condition `{tex}` is about no name")
    return Condition(UNMODULATED.get(link.relation, link.relation), sides[0], sides[1], modulus)


class _ReadBack(Background):
    """Reads the sentence of a reading as the verifier reads every text, without testing its claim."""

    def __init__(self, text: str) -> None:
        super().__init__(text, ())
        self.declared: set[str] = set()
        self.claims: list[Claim] = []
        self.is_clear = True
        for sentence in sentences(text):
            line = read_line(text, sentence)
            places, declared, divided = self.prepare(line)
            self.declared |= declared
            self.is_clear &= self.read and not divided
            stated = [
                one for place, one in enumerate(line.statements) if place not in places or concludes(line, place, self.scope)
            ]
            self.claims += [read_link(link, self.scope) for one in stated for link in links(one)]
        scope = self.scope
        unread = scope.unread or scope.supposed or scope.redefined or scope.vague or not scope.readable
        self.is_clear &= not (unread or scope.definitions or scope.functions)


def _returns(formal: Formal, claim: Claim, conditions: Sequence[Condition]) -> bool:
    """Whether the verifier reads the sentence back to the same claim, domains and conditions."""
    try:
        with ONE_AT_A_TIME:
            back = _ReadBack(formal.sentence)
    except (NotUnderstood, RecursionError):
        return False
    named = {one: DOMAINS[domain][1] for one, domain in formal.names}
    domains = {one: replace(of, declared=False) for one, of in back.scope.domains.items()}
    same = back.is_clear and back.declared == set(named) and domains == named
    return same and back.claims == [claim] and set(back.scope.conditions) == set(conditions)
