"""Tests a claim at points and decides: refuted, survived, or not understood.

A failing point is only half of a refutation. The other half is evidence that the author meant the claim for all such points and
that no condition was missed. Without it the verdict is "not understood".
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction

from apps.mathcheck.claims import Claim
from apps.mathcheck.findings import NOT_UNDERSTOOD, PROVED, REFUTED, SURVIVED, Counterexample
from apps.mathcheck.proving.certificate import Certificate
from apps.mathcheck.scope import Condition, Domain, Scope
from apps.mathcheck.testing.entailed import UNDER_PART, passes_under_part
from apps.mathcheck.testing.evaluating import value_at, value_or_none
from apps.mathcheck.testing.rounding import is_pulled_out_of_floors
from apps.mathcheck.testing.sampling import Point, Ranges, described, points, widen
from apps.mathcheck.testing.shapes import confirms, likeness
from apps.mathcheck.testing.symmetry import fails_in_any_order, scales
from apps.mathcheck.testing.values import Value
from apps.mathcheck.testing.work import METER, PER_TRIAL, allowance
from apps.mathcheck.tex.tree import Node, free_names, is_bare_number, number

LEAST_TESTS = 5
LEAST_UNCONDITIONAL, ENOUGH_UNCONDITIONAL = 25, 60
MOST_TESTS, MOST_MODULO, MOST_SOLVED = 250, 24, 60
EXACTLY = "computed exactly"
TOO_MUCH = "testing it needs more computation than one formula may use"
TOO_FEW = "too few points meet the conditions, or the two sides have no value at them"
OPAQUE = "it contains functions or sequences that are not given by a formula"
WITHOUT = "without the conditions"
MODULO = "the equality may be meant modulo something"
#: Shares of cancelling terms from which an equation counts as a written-out expansion.
ALIKE, ALIKE_UNREAD = 0.66, 0.75


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence that a claim concerns all values of its names."""

    #: Called if the claim fails: why it is never refuted ("" if it may be), and moduli that an equality may be meant under.
    excuse: Callable[[], tuple[str, frozenset[int]]] = lambda: ("", frozenset())
    #: Called if the claim fails: whether nearby words may justify an equation that is only similar.
    has_reason: Callable[[], bool] = lambda: False
    quantified: bool = False
    declared: bool = False
    inequality_by_name: str = ""
    asserted_sum: bool = False
    decimals: int | None = None
    #: Whether every condition on its names, or on names tied to them, was read.
    fully_conditioned: bool = False
    #: Whether the text introduced the names, and no unread words may restrict them.
    complete: bool = False


@dataclass(slots=True)
class Verdict:
    """The outcome of a claim, without its place in the text."""

    outcome: str
    reason: str = ""
    tests: int = 0
    counterexample: Counterexample | None = None
    #: The tests in words.
    tried: str = ""
    certificate: Certificate | None = None

    @property
    def is_decided(self) -> bool:
        """Whether it is proved or refuted, or survived tests under all conditions."""
        partly = self.tried.endswith((WITHOUT, UNDER_PART))
        return self.outcome in (PROVED, REFUTED) or (self.outcome == SURVIVED and not partly)


@dataclass(slots=True)
class _Trial:
    passed: int = 0
    failed: list[Point] = field(default_factory=list)
    ranges: Ranges = field(default_factory=dict)
    #: Whether it reached its limit on work.
    is_cut: bool = False

    @property
    def tests(self) -> int:
        return self.passed + len(self.failed)


def decide(claim: Claim, scope: Scope, evidence: Evidence) -> Verdict:
    """The verdict. A refutation needs every reading to fail; one reading that holds is enough to survive."""
    verdict = _decided(claim, scope, evidence)
    if verdict.outcome == NOT_UNDERSTOOD and verdict.reason in (TOO_FEW, TOO_MUCH, OPAQUE):
        for variant in claim.variants:
            held, tried = passes_under_part(claim, variant, scope)
            if held:
                return Verdict(SURVIVED, tests=held, tried=tried)
    return verdict


def _decided(claim: Claim, scope: Scope, evidence: Evidence) -> Verdict:
    anyway = max((_unconditional_trial(variant, scope) for variant in claim.variants), key=lambda trial: trial.passed)
    trials = [_run_trial(claim, variant, scope, evidence) for variant in claim.variants]
    for trial in trials:
        if not trial.failed and trial.tests >= (LEAST_TESTS if claim.names else 1):
            return Verdict(SURVIVED, tests=trial.tests, tried=_description(trial))
    if not all(trial.failed for trial in trials):
        if anyway.passed:
            return Verdict(SURVIVED, tests=anyway.passed, tried=f"{_description(anyway)}, {WITHOUT}")
        return Verdict(NOT_UNDERSTOOD, TOO_MUCH if any(trial.is_cut for trial in trials) else TOO_FEW)
    blocked, moduli = evidence.excuse()
    if blocked:
        return Verdict(NOT_UNDERSTOOD, blocked)
    for variant, trial in zip(claim.variants, trials, strict=True):
        reason = _doubt(claim, variant, trial, scope, evidence, moduli)
        if reason:
            return Verdict(NOT_UNDERSTOOD, reason)
    variant, point = claim.variants[0], trials[0].failed[0]
    shown = _counterexample(variant, point)
    return Verdict(REFUTED, tests=trials[0].tests, counterexample=shown, tried=_description(trials[0]))


def _run_trial(claim: Claim, variant: Condition, scope: Scope, evidence: Evidence) -> _Trial:
    trial = _Trial()
    if not variant.names:
        with allowance(PER_TRIAL):
            _test(variant, {}, trial)
            trial.is_cut = METER.is_over
        return trial
    for domains in _domains(claim, variant, scope, evidence):
        with allowance(PER_TRIAL):
            for point in points(scope, sorted(variant.names), domains):
                if all(value_or_none(node, point) is not None for node in claim.differentiated):
                    _test(variant, point, trial)
                if trial.tests >= MOST_TESTS:
                    break
            trial.is_cut = METER.is_over
        if trial.tests >= LEAST_TESTS:
            break
    return trial


def _description(trial: _Trial) -> str:
    return described(trial.ranges) or EXACTLY


def _unconditional_trial(variant: Condition, scope: Scope) -> _Trial:
    """The points that the claim passes if its conditions are ignored; none if it fails at one or there are too few.

    A claim that holds this way holds under any conditions. Undeclared names are real numbers here, the widest reading.
    """
    trial = _Trial()
    if not scope.relevant(variant.names):
        return trial
    with allowance(PER_TRIAL):
        for point in points(replace(scope, conditions=[]), sorted(variant.names), {}):
            _test(variant, point, trial)
            if trial.failed or trial.passed >= ENOUGH_UNCONDITIONAL:
                break
    return trial if not trial.failed and trial.passed >= LEAST_UNCONDITIONAL else _Trial()


def _test(variant: Condition, point: Point, trial: _Trial) -> None:
    result = variant.at(point)
    if result is None:
        return
    widen(trial.ranges, point)
    if result:
        trial.passed += 1
    else:
        trial.failed.append(point)


def _domains(claim: Claim, variant: Condition, scope: Scope, evidence: Evidence) -> list[dict[str, Domain]]:
    """The domains to try for undeclared names: positive integers first, then positive numbers."""
    conditions = scope.relevant(variant.names)
    silent = sorted(name for name in variant.names if not scope.is_declared(name))
    tied = {name for one in conditions for name in one.names - variant.names if not scope.is_declared(name)}
    auxiliary = dict.fromkeys(sorted(tied), Domain(kind="integer"))
    if not silent:
        integers = all(scope.domain(name).kind == "integer" for name in variant.names)
        return [auxiliary, {}] if auxiliary and integers else [{}]
    positive = dict.fromkeys(silent, Domain(sign="positive"))
    if evidence.inequality_by_name:
        return [positive]
    whole = dict.fromkeys(silent, Domain(kind="integer", sign="positive"))
    if claim.relation in (r"\equiv", r"\nequiv", r"\mid", r"\nmid"):
        return [whole]
    anything = dict.fromkeys(silent, Domain(kind="integer"))
    whole |= auxiliary
    return [whole, positive, anything] if any(one.relation == "=" for one in conditions) else [whole, positive]


def _doubt(claim: Claim, variant: Condition, trial: _Trial, scope: Scope, evidence: Evidence, moduli: frozenset[int]) -> str:
    """Why the failing points do not refute the claim; empty if they do."""
    if claim.opaque:
        return OPAQUE
    if any(_holds_modulo(variant, trial.failed, modulus) for modulus in moduli):
        return MODULO
    if not variant.names:
        return _doubt_about_numbers(variant, evidence)
    if any(name in scope.redefined for name in variant.names):
        return "a name has more than one meaning"
    if claim.relation in ("=", "<", ">", r"\le", r"\ge") and not confirms(
        claim.relation, variant.left, variant.right, trial.failed[0]
    ):
        return "a second computation does not confirm the counterexample"
    unread = bool(variant.names & scope.unread) or not scope.readable
    if claim.by_derivative and 3 * len(trial.failed) >= 2 * trial.tests:
        return ""
    if claim.relation == "=" and 3 * len(trial.failed) >= 2 * trial.tests and not evidence.has_reason():
        alike = likeness(variant.left, variant.right)
        if alike >= (ALIKE_UNREAD if unread else ALIKE):
            return ""
        if evidence.asserted_sum and not variant.names & scope.unread and not _may_be_solved(variant):
            return ""
    if evidence.fully_conditioned and _is_whole(trial.failed[0], scope) and is_pulled_out_of_floors(variant):
        return ""
    if evidence.complete and (claim.relation != "=" or (_relates_the_same(variant, trial) and not evidence.has_reason())):
        return ""
    if evidence.quantified or (evidence.declared and not unread and not _may_hold_for_some(claim, trial)):
        return ""
    if evidence.inequality_by_name and scales(variant) and fails_in_any_order(variant, trial.failed[0]):
        return ""
    return "it fails for some values, but it may be meant under conditions that were not read"


def _holds_modulo(variant: Condition, failed: list[Point], modulus: int) -> bool:
    """Whether an equality holds modulo a number at most points where it fails. True if no point is decided."""
    found = [replace(variant, modulus=number(modulus)).at(point) for point in failed[:MOST_MODULO]]
    known = [one for one in found if one is not None]
    return 3 * sum(known) >= 2 * len(known)


def _doubt_about_numbers(variant: Condition, evidence: Evidence) -> str:
    if is_bare_number(variant.left) and is_bare_number(variant.right):
        return "a comparison of two plain numbers, as at the end of a contradiction"
    if variant.relation == "=" and evidence.decimals is not None:
        gap = Condition("<", _distance(variant), number(Fraction(1, 10**evidence.decimals)))
        if gap.at({}) is not False:
            return "a rounded decimal"
    if variant.modulus is None and variant.relation in ("=", "<", ">", r"\le", r"\ge"):
        return "" if confirms(variant.relation, variant.left, variant.right, {}) else "a second computation does not confirm it"
    return ""


def _is_whole(point: Point, scope: Scope) -> bool:
    """Whether the undeclared names are whole numbers at the point, as quotients and remainders are."""
    return all(value.denominator == 1 for name, value in point.items() if not scope.is_declared(name))


def _may_hold_for_some(claim: Claim, trial: _Trial) -> bool:
    """Whether an equation holds at some points. Without "for all" it may concern particular values: "adding, $a+b=10$"."""
    return claim.relation == "=" and trial.passed > 0


def _relates_the_same(variant: Condition, trial: _Trial) -> bool:
    """Whether an equation asks for no value: both sides have the same names, and it fails often."""
    same = free_names(variant.left) == free_names(variant.right)
    return same and 3 * len(trial.failed) >= trial.passed


def _may_be_solved(variant: Condition) -> bool:
    """Whether a sum may be an equation for one unknown: one side is a number, or some number from 3 on makes both equal."""
    if not free_names(variant.left) or not free_names(variant.right):
        return True
    (only,) = variant.names
    return any(variant.at({only: Fraction(value)}) is True for value in range(3, MOST_SOLVED))


def _distance(variant: Condition) -> Node:
    return Node("fn", (Node("add", (variant.left, Node("neg", (variant.right,)))),), "abs")


def _counterexample(variant: Condition, point: Point) -> Counterexample:
    shown = {name: str(value) for name, value in sorted(point.items()) if name in variant.names or not name.startswith("@")}
    return Counterexample(
        shown, shown_value(lambda: value_at(variant.left, point)), shown_value(lambda: value_at(variant.right, point))
    )


#: Longest numbers that are written; Python writes none of over 4,300 digits.
MOST_SHOWN_BITS = 12_000


def shown_value(compute: Callable[[], Value]) -> str:
    """An exact number, or the first digits of an inexact one."""
    value = compute()
    if isinstance(value, Fraction):
        bits = max(value.numerator.bit_length(), value.denominator.bit_length())
        if bits > MOST_SHOWN_BITS:
            return f"a number of about {round(bits * 0.30103):,} digits"
        text = str(value)
        return text if len(text) <= 60 else f"{text[:24]}… ({len(text)} characters)"
    return f"≈ {float(value.mid):.12g}"
