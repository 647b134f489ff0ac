"""What holds under some of the conditions holds under all of them: for claims whose conditions no test point meets together.

It can only make a claim survive. A failing point under some conditions says nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from workers.mathcheck.claims import Claim, in_the_words_of
from workers.mathcheck.fields import passes_in_fields
from workers.mathcheck.sampling import Ranges, points, widen, words_of
from workers.mathcheck.scope import Condition, Scope
from workers.mathcheck.tree import has
from workers.mathcheck.work import METER, PER_SELECTION, PER_TRIAL, allowance

#: So many of the conditions said last, one selection for each number.
NEWEST = (1, 2, 3, 5)
MOST, MOST_READ = 14, 40
LEAST, ENOUGH = 8, 25
#: Relations that nearly every point meets: passing says nothing.
GENERIC = (r"\ne", r"\nmid")


def passes_under_some(claim: Claim, variant: Condition, scope: Scope) -> tuple[int, str]:
    """How many different points one reading of the claim passes under some of what was said, and which; 0 where it fails.

    Values of unknown functions and sequences are numbers here, the same wherever they are written alike.
    """
    nothing = (0, "")
    if variant.relation in GENERIC:
        return nothing
    said = replace(scope, conditions=in_the_words_of(claim, scope.conditions[-MOST_READ:], scope))
    usable = [one for one in said.relevant(variant.names) if not _says_the_same(one, variant)]
    own = [one for one in usable if one.names <= variant.names]
    with allowance(PER_TRIAL):
        found = passes_in_fields(variant, own) or passes_in_fields(variant, usable)
    if found:
        return found, "points of finite fields, under equations that were said"
    if found is None and not has(variant.left, "fn") and not has(variant.right, "fn"):
        return nothing  # Fewer equations leave more points, among them the one where it fails.
    for conditions in _selections(usable, own, variant):
        if METER.is_over:
            break
        with allowance(PER_SELECTION):
            passed, ranges = _passed(variant, replace(said, conditions=conditions))
        if passed:
            return passed, ", ".join(filter(None, [words_of(ranges), "under part of the conditions"]))
    return nothing


def _passed(variant: Condition, scope: Scope) -> tuple[int, Ranges]:
    """How many points it passes, and their ranges; 0 where it fails at one or there are too few."""
    ranges: Ranges = {}
    names, seen, passed = sorted(variant.names), set[tuple[Fraction, ...]](), 0
    for point in points(scope, names, {}):
        place = tuple(point[name] for name in names)
        if place in seen:
            continue
        seen.add(place)
        result = variant.at(point)
        if result is False:
            return 0, ranges
        if result:
            passed += 1
            widen(ranges, point)
        if passed >= ENOUGH:
            break
    return (passed if passed >= LEAST else 0), ranges


def _selections(usable: Sequence[Condition], own: list[Condition], claim: Condition) -> Iterator[list[Condition]]:
    """Some of the conditions at a time, each choice once."""
    touching = [one for one in usable if one.names & claim.names]
    told: list[list[Condition]] = []
    for selection in (list(usable), own, *(touching[-count:] for count in NEWEST)):
        if selection and len(selection) <= MOST and selection not in told:
            told.append(selection)
            yield selection


def _says_the_same(one: Condition, claim: Condition) -> bool:
    """The same relation, from whichever side it is read."""
    if one.modulus != claim.modulus:
        return False
    if (one.relation, one.left, one.right) == (claim.relation, claim.left, claim.right):
        return True
    turned = {"<": ">", ">": "<", r"\le": r"\ge", r"\ge": r"\le", "=": "=", r"\ne": r"\ne"}.get(one.relation)
    return (turned, one.right, one.left) == (claim.relation, claim.left, claim.right)
