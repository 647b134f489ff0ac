"""Claims about terms of a sequence that is given by a recurrence: tests at computed terms, and induction.

The induction is strong: the terms from `a_m` to `a_{m+d-1}` are new names, where d is the order. If the claim holds at m, …,
m+d-1, and the recurrence gives it at m+d, the first d cases complete it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from apps.mathcheck.claims import Claim
from apps.mathcheck.proving.certificate import Certificate
from apps.mathcheck.proving.exactly import holds_exactly
from apps.mathcheck.proving.facts import Facts
from apps.mathcheck.proving.normal.forms import NoNormalForm
from apps.mathcheck.proving.periods import by_period
from apps.mathcheck.proving.relations import equation, inequality
from apps.mathcheck.proving.sequences import INDEX, Recurrence, is_term, mentions, shift_of, with_items
from apps.mathcheck.scope import Condition, Domain, Scope
from apps.mathcheck.testing.deciding import shown_value
from apps.mathcheck.testing.evaluating import value_at
from apps.mathcheck.testing.values import Undefined
from apps.mathcheck.tex.tree import Node, name, number, rebuilt, substituted, walk
from apps.mathcheck.tex.written import related

MOST_TERMS, MOST_TESTS, LEAST_TESTS = 130, 40, 5
METHOD = "induction on a recurrence"
_ORDERED = ("<", ">", r"\le", r"\ge")


@dataclass(frozen=True, slots=True)
class TermTest:
    """How a claim about terms fared: the number of tests, the range in words, and the places where it fails."""

    tests: int
    tried: str
    failed: tuple[tuple[str, str, str], ...]


def about_terms(claim: Claim, known: Mapping[str, Recurrence]) -> Condition | None:
    """The claim with its terms, if it is about one known sequence and at most one index name."""
    if len(claim.variants) != 1:
        return None
    (variant,) = claim.variants
    restored = variant.replaced({name_: node for node, name_ in claim.named})
    letters = {str(part.value) for side in (restored.left, restored.right) for part in walk(side) if is_term(part)}
    numbered = {key.split("_")[0] for key in restored.names if "_" in key and key.split("_")[1].isdigit()}
    used = letters | (numbered & known.keys())
    if len(used) != 1 or not used <= known.keys():
        return None
    (letter,) = used
    terms = Condition(
        restored.relation, with_items(restored.left, letter), with_items(restored.right, letter), restored.modulus
    )
    return terms if len(_index_names(terms)) <= 1 and terms.names <= {f"{letter}()", *_index_names(terms)} else None


def tested(claim: Condition, known: Mapping[str, Recurrence], scope: Scope, conditions: Sequence[Condition]) -> TermTest | None:
    """The claim at computed terms where the conditions on its index hold; None if it cannot be tested."""
    (sequence,) = [one for letter, one in known.items() if mentions(claim, letter)]
    names, terms = sorted(_index_names(claim)), sequence.terms(MOST_TERMS)
    failed, tests, last, first = [], 0, 0, None
    limits = [one for one in conditions if names and one.names == set(names)]
    for step in range(MOST_TERMS if names else 1):
        point = {key: Fraction(step) for key in names}
        if names and not scope.domain(names[0]).contains(Fraction(step)):
            continue
        if any(one.at(dict(point)) is False for one in limits):
            continue
        values = _values_at(claim, terms, sequence.first, point)
        if values is None:
            if first is not None:
                break
            continue
        held = holds_exactly(values, point)
        first, last, tests = (step if first is None else first), step, tests + 1
        if not held and values.at(dict(point)) is False:
            failed.append((str(step) if names else "", *_sides(values, point)))
        if tests >= MOST_TESTS:
            break
    if tests < (LEAST_TESTS if names else 1):
        return None
    tried = f"{names[0]} from {first} to {last}, by the recurrence" if names else "by the recurrence"
    return TermTest(tests, tried, tuple(failed))


def by_recurrence(claim: Condition, known: Mapping[str, Recurrence], scope: Scope) -> Certificate | None:
    """A certificate: the computed term, or strong induction."""
    ((letter, sequence),) = [(letter, one) for letter, one in known.items() if mentions(claim, letter)]
    names = sorted(_index_names(claim))
    if not names:
        values = _values_at(claim, sequence.terms(MOST_TERMS), sequence.first, {})
        if values is None or not holds_exactly(values, {}):
            return None
        return Certificate("computed terms", ("the terms were computed by the recurrence", *sequence.shown))
    if claim.modulus is not None or claim.relation not in ("=", *_ORDERED):
        return by_period(claim, sequence, names[0])
    try:
        found = _induction(claim, letter, sequence, names[0], scope)
    except NoNormalForm:
        found = None
    return found or by_period(claim, sequence, names[0])


def _induction(claim: Condition, letter: str, sequence: Recurrence, key: str, scope: Scope) -> Certificate | None:
    shifts = [shift_of(part.args[0], key) for side in (claim.left, claim.right) for part in walk(side) if is_term(part)]
    if any(shift is None for shift in shifts):
        return None
    least = min(shift for shift in shifts if shift is not None)
    # With m = n + least, the claim is about a_m, a_{m+1}, …
    moved = claim.replaced({key: Node("add", (name(INDEX), number(-least)))})
    lowest = scope.domain(key)
    if lowest.kind == "integer" and lowest.sign in ("negative", "nonpositive"):
        return None
    now = [_in_window(_at(moved, step), letter, sequence) for step in range(sequence.order + 1)]
    if any(one is None for one in now):
        return None
    terms = sequence.terms(MOST_TERMS)
    for step in range(sequence.order):
        base = _values_at(moved, terms, sequence.first, {INDEX: Fraction(sequence.first + step)})
        if base is None or not holds_exactly(base, {INDEX: Fraction(sequence.first + step)}):
            return None
    *earlier, later = (one for one in now if one is not None)
    domains = {f"W{place}": Domain() for place in range(sequence.order)} | {INDEX: Domain(kind="integer", declared=True)}
    conditions = (Condition(r"\ge", name(INDEX), number(sequence.first)), *earlier)
    facts = Facts(later, domains, conditions)
    step_ = equation(facts) if later.relation == "=" else inequality(facts)
    if step_ is None or step_.where:
        return None
    window = ", ".join(f"W{place} = {letter}(m{f'+{place}' if place else ''})" for place in range(sequence.order))
    lines = (
        f"with m = {key}{f'{least:+d}' if least else ''}: computed for the first {sequence.order}",
        f"{window}; the claim at m + {sequence.order}: {related(later.left, later.relation, later.right)}",
        *step_.steps,
    )
    return Certificate(METHOD, lines, (*sequence.shown, f"m whole, at least {sequence.first}"))


def _in_window(claim: Condition, letter: str, sequence: Recurrence) -> Condition | None:
    """The claim in the names of the window, later terms replaced by the rule."""
    window = {place: name(f"W{place}") for place in range(sequence.order)}
    for place in range(sequence.order, 3 * sequence.order + 2):
        inner = {f"W{step}": window[place - sequence.order + step] for step in range(sequence.order)}
        inner[INDEX] = Node("add", (name(INDEX), number(place - sequence.order)))
        window[place] = substituted(sequence.rule, inner)
    failed = False

    def change(part: Node) -> Node | None:
        nonlocal failed
        if not is_term(part):
            return None
        place = shift_of(part.args[0], INDEX)
        if place is None or place not in window:
            failed = True
            return part
        return window[place]

    found = Condition(claim.relation, rebuilt(claim.left, change), rebuilt(claim.right, change))
    return None if failed or sum(1 for side in (found.left, found.right) for _ in walk(side)) > 400 else found


def _at(claim: Condition, step: int) -> Condition:
    return claim.replaced({INDEX: Node("add", (name(INDEX), number(step)))}) if step else claim


def _values_at(claim: Condition, terms: Sequence[Fraction], first: int, point: Mapping[str, Fraction]) -> Condition | None:
    """The claim with the values of its terms at a point; None if a term is unknown."""
    failed = False

    def change(part: Node) -> Node | None:
        nonlocal failed
        if not is_term(part):
            return None
        try:
            at = value_at(part.args[0], point)
        except (Undefined, ArithmeticError):
            at = None
        if not isinstance(at, Fraction) or at.denominator != 1 or not 0 <= at - first < len(terms):
            failed = True
            return part
        return number(terms[int(at) - first])

    found = Condition(claim.relation, rebuilt(claim.left, change), rebuilt(claim.right, change), claim.modulus)
    return None if failed else found


def _sides(claim: Condition, point: Mapping[str, Fraction]) -> tuple[str, str]:
    return shown_value(lambda: value_at(claim.left, point)), shown_value(lambda: value_at(claim.right, point))


def _index_names(claim: Condition) -> set[str]:
    return {key for key in claim.names if not key.endswith("()")}
