"""`evaluate`: what a set of ticks is worth, with the derivation.

    a checkpoint is valid   it is ticked, and so is everything it needs
    earned in a chain       the best admissible sum of the valid checkpoints of that chain and of all chains
    worth of a chain        min(earned, the chain's limit, ticked caps of that chain)
    total                   min(the best chain, ticked caps), less deductions, between 0 and the scale

In a mixed case, which the scheme must allow, the checkpoints of all chains are added instead of taking the best chain.
Nothing is rounded: where the total is not a multiple of the contest's step, `choices` holds its neighbours, a person decides.
"""

from collections.abc import Collection, Iterable
from decimal import Decimal
from functools import lru_cache

from apps.reasoning.domain.values import Value
from apps.reasoning.marking.schemes.scheme import EARNING, Kind, Scheme, SchemeItem
from apps.reasoning.marking.schemes.selection import best_set, conflicts_of
from apps.reasoning.marking.schemes.structure import SchemeBroken, structure_issues

ZERO = Decimal(0)


class TickUnknown(ValueError):
    """A tick that names no item of the scheme."""


class MixingNotAllowed(ValueError):
    """A mixed case was declared on a scheme that does not allow one."""


class Term(Value):
    """An item and the points it counts for."""

    code: str
    points: Decimal


class NotCounted(Value):
    """An item that is ticked and changes nothing, with the reason."""

    code: str
    points: Decimal
    reason: str


class CapState(Value):
    """A cap: `is_ticked` whether its condition holds, `binds` whether it made the total smaller."""

    code: str
    limit: Decimal
    is_ticked: bool
    binds: bool


class Route(Value):
    """What one chain is worth: `terms` sum to `earned`; `worth` is what its limit and its caps leave.

    `chain` is empty where the scheme has no chains, and in a mixed case.
    """

    chain: str
    terms: tuple[Term, ...]
    earned: Decimal
    limit: Decimal | None
    caps: tuple[CapState, ...]
    worth: Decimal


class Evaluation(Value):
    """Points with everything that led to them. `route` is the one that counted, `routes` are all.

    points = clamp(min(route.worth, binding caps) − deductions, 0, scale). `recognised`: ticked items worth nothing by design.
    `choices`: the neighbours on the contest's step where `points` lies between them, else empty.
    """

    points: Decimal
    scale: Decimal
    step: Decimal
    is_mixed: bool
    route: Route
    routes: tuple[Route, ...]
    caps: tuple[CapState, ...]
    capped: Decimal
    deductions: tuple[Term, ...]
    not_counted: tuple[NotCounted, ...]
    recognised: tuple[str, ...]
    choices: tuple[Decimal, ...]


def evaluate(scheme: Scheme, ticks: Iterable[str], *, step: Decimal | None = None, is_mixed: bool = False) -> Evaluation:
    """What `ticks`, a set of item codes, are worth. `step` is the contest's, where it differs from the scheme's.

    Raises `SchemeBroken` for a scheme that cannot be computed, `TickUnknown`, `MixingNotAllowed`.
    """
    return _engine(scheme).evaluate(frozenset(ticks), step or scheme.step, is_mixed)


@lru_cache(maxsize=64)
def _engine(scheme: Scheme) -> "_Engine":
    return _Engine(scheme)


class _Engine:
    """A scheme made ready: its items by code and its exclusions, so that thousands of marks cost little."""

    def __init__(self, scheme: Scheme) -> None:
        if issues := structure_issues(scheme):
            raise SchemeBroken(issues)
        self.scheme = scheme
        self.items = {item.code: item for item in scheme.items}
        self.conflicts = conflicts_of(scheme.items)

    def evaluate(self, ticks: frozenset[str], step: Decimal, is_mixed: bool) -> Evaluation:
        if unknown := sorted(ticks - set(self.items)):
            raise TickUnknown(f"the scheme has no item {', '.join(unknown)}")
        if is_mixed and not self.scheme.mixing:
            raise MixingNotAllowed("this scheme does not add the points of several chains")
        valid = self._valid(ticks)
        names = [""] if is_mixed or not self.scheme.chains else [chain.name for chain in self.scheme.chains]
        routes = tuple(self._route(name, valid, ticks) for name in names)
        route = max(routes, key=lambda one: one.worth)
        caps, capped = self._caps(self.scheme.of_kind(Kind.CAP), "", route.worth, ticks)
        deductions = self._terms([self.items[code] for code in valid if self.items[code].kind is Kind.DEDUCTION])
        points = min(max(capped - total_of(deductions), ZERO), self.scheme.scale)
        return Evaluation(
            points=points,
            scale=self.scheme.scale,
            step=step,
            is_mixed=is_mixed,
            route=route,
            routes=routes,
            caps=caps,
            capped=capped,
            deductions=deductions,
            not_counted=self._not_counted(ticks, valid, {term.code for term in (*route.terms, *deductions)}),
            recognised=tuple(code for code in valid if self.items[code].kind in {Kind.ZERO_CREDIT, Kind.FEEDBACK}),
            choices=step_choices(points, step, self.scheme.scale),
        )

    def _ordered(self, codes: Collection[str]) -> list[str]:
        return [code for code in self.items if code in codes]

    def _valid(self, ticks: frozenset[str]) -> list[str]:
        """The ticked items whose needs, and theirs, are ticked; in the scheme's order."""
        known: dict[str, bool] = {}

        def is_valid(code: str) -> bool:
            if code not in known:
                known[code] = code in ticks and all(is_valid(needed) for needed in self.items[code].requires)
            return known[code]

        return [code for code in self.items if is_valid(code)]

    def _terms(self, items: list[SchemeItem]) -> tuple[Term, ...]:
        counted = best_set({item.code: item.points for item in items if item.points > 0}, self.conflicts)
        return tuple(Term(code=item.code, points=item.points) for item in items if item.code in counted)

    def _route(self, name: str, valid: list[str], ticks: frozenset[str]) -> Route:
        inside = [self.items[code] for code in valid if self.items[code].kind is Kind.CHECKPOINT]
        if name:
            inside = [item for item in inside if not item.chains or name in item.chains]
        terms = self._terms(inside)
        earned = total_of(terms)
        limit = next((chain.limit for chain in self.scheme.chains if chain.name == name), None)
        worth = earned if limit is None else min(earned, limit)
        caps, worth = self._caps(self.scheme.of_kind(Kind.CAP), name, worth, ticks) if name else ((), worth)
        return Route(chain=name, terms=terms, earned=earned, limit=limit, caps=caps, worth=worth)

    def _caps(
        self, items: Iterable[SchemeItem], chain: str, worth: Decimal, ticks: frozenset[str]
    ) -> tuple[tuple[CapState, ...], Decimal]:
        """The caps of a chain, or with an empty name those of the total, and what they leave of `worth`."""
        mine = [item for item in items if (chain in item.chains if chain else not item.chains)]
        left = min([worth, *(item.points for item in mine if item.code in ticks)])
        states = tuple(
            CapState(
                code=item.code,
                limit=item.points,
                is_ticked=item.code in ticks,
                binds=item.code in ticks and item.points == left < worth,
            )
            for item in mine
        )
        return states, left

    def _not_counted(self, ticks: frozenset[str], valid: list[str], counted: set[str]) -> tuple[NotCounted, ...]:
        return tuple(
            NotCounted(code=code, points=self.items[code].points, reason=self._reason(self.items[code], valid, counted))
            for code in self._ordered(ticks - counted)
            if self.items[code].kind in {Kind.CHECKPOINT, Kind.DEDUCTION}
            or (self.items[code].kind in EARNING and code not in valid)
        )

    def _reason(self, item: SchemeItem, valid: list[str], counted: set[str]) -> str:
        if item.code not in valid:
            return f"needs {' and '.join(code for code in item.requires if code not in valid)}"
        if rivals := [code for code in self._ordered(self.conflicts[item.code]) if code in counted]:
            return f"{' and '.join(rivals)} counts instead"
        return f"belongs to chain {' and '.join(item.chains)}" if item.chains else "worth nothing"


def total_of(terms: Iterable[Term]) -> Decimal:
    """The sum of the points of terms."""
    return sum((term.points for term in terms), ZERO)


def step_choices(points: Decimal, step: Decimal, scale: Decimal) -> tuple[Decimal, ...]:
    """The multiples of `step` next to `points`, from 0 to `scale`; none where `points` is one itself."""
    if points % step == 0:
        return ()
    below = points - points % step
    return tuple(choice for choice in (below, below + step) if choice <= scale)
