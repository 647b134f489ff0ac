"""Tests claims under some of their conditions, for conditions that no test point meets together.

A claim that holds under some of the conditions holds under all of them. So these tests can only make a claim survive; a failing
point under some conditions proves nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from apps.mathcheck.claims import Claim, restated
from apps.mathcheck.scope import Condition, Scope
from apps.mathcheck.testing.fields import passes_in_fields
from apps.mathcheck.testing.sampling import Ranges, described, points, widen
from apps.mathcheck.testing.work import METER, PER_SELECTION, PER_TRIAL, allowance
from apps.mathcheck.tex.tree import has

#: Numbers of latest conditions to try, one selection for each.
NEWEST = (1, 2, 3, 5)
MOST, MOST_READ = 14, 40
LEAST, ENOUGH = 8, 25
UNDER_PART = "under part of the conditions"
#: Relations that nearly every point satisfies, so that passing proves nothing.
GENERIC = (r"\ne", r"\nmid")


def passes_under_part(claim: Claim, variant: Condition, scope: Scope) -> tuple[int, str]:
    """The number of different points that a reading of the claim passes under some conditions, and their description.

    The number is 0 if the claim fails. Equally written values of unknown functions and sequences are the same number here.
    """
    nothing = (0, "")
    if variant.relation in GENERIC:
        return nothing
    said = replace(scope, conditions=restated(claim, scope.conditions[-MOST_READ:], scope))
    usable = [one for one in said.relevant(variant.names) if not _is_same_relation(one, variant)]
    own = [one for one in usable if one.names <= variant.names]
    with allowance(PER_TRIAL):
        found = passes_in_fields(variant, own) or passes_in_fields(variant, usable)
    if found:
        return found, "points of finite fields, under the stated equations"
    if found is None and not has(variant.left, "fn") and not has(variant.right, "fn"):
        return nothing  # Fewer equations allow more points, including the one where it fails.
    for conditions in _selections(usable, own, variant):
        if METER.is_over:
            break
        with allowance(PER_SELECTION):
            passed, ranges = _passed(variant, replace(said, conditions=conditions))
        if passed:
            return passed, ", ".join(filter(None, [described(ranges), UNDER_PART]))
    return nothing


def _passed(variant: Condition, scope: Scope) -> tuple[int, Ranges]:
    """The number of points it passes, and their ranges; 0 if it fails at one or there are too few."""
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
    """Selections of the conditions, without duplicates."""
    touching = [one for one in usable if one.names & claim.names]
    chosen: list[list[Condition]] = []
    for selection in (list(usable), own, *(touching[-count:] for count in NEWEST)):
        if selection and len(selection) <= MOST and selection not in chosen:
            chosen.append(selection)
            yield selection


def _is_same_relation(one: Condition, claim: Condition) -> bool:
    """Whether both are the same relation, possibly read from the other side."""
    if one.modulus != claim.modulus:
        return False
    if (one.relation, one.left, one.right) == (claim.relation, claim.left, claim.right):
        return True
    turned = {"<": ">", ">": "<", r"\le": r"\ge", r"\ge": r"\le", "=": "=", r"\ne": r"\ne"}.get(one.relation)
    return (turned, one.right, one.left) == (claim.relation, claim.left, claim.right)
