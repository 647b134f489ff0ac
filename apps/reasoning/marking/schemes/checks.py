"""Checks of a scheme before its use. Errors prevent its use; warnings are shown.

In addition to computability (`structure`): some chain reaches the scale exactly and none exceeds it without a limit; every item
can change a result; points are multiples of the scheme's step.
"""

from collections.abc import Iterator
from decimal import Decimal

from apps.reasoning.marking.schemes.evaluation import evaluate
from apps.reasoning.marking.schemes.scheme import EARNING, Chain, Kind, Scheme, SchemeItem, points_text
from apps.reasoning.marking.schemes.selection import Conflicts, conflicts_of
from apps.reasoning.marking.schemes.structure import SchemeIssue, Severity, error, structure_issues, warning

_WITHOUT_POINTS = frozenset({Kind.ZERO_CREDIT, Kind.FEEDBACK})


def check(scheme: Scheme) -> tuple[SchemeIssue, ...]:
    """All issues, errors first. A scheme that cannot be computed skips the checks that compute."""
    broken = structure_issues(scheme)
    issues = [*broken, *_points(scheme), *_words(scheme), *_chains(scheme), *_mixing(scheme), *_groups(scheme)]
    if not broken:
        issues += [*_totals(scheme), *_without_effect(scheme)]
    return tuple(sorted(issues, key=lambda issue: issue.severity is Severity.WARNING))


def is_usable(scheme: Scheme) -> bool:
    """Whether `check` finds no error."""
    return all(issue.severity is not Severity.ERROR for issue in check(scheme))


def _points(scheme: Scheme) -> Iterator[SchemeIssue]:
    if scheme.scale % scheme.step:
        message = f"The scale {points_text(scheme.scale)} is not a multiple of the step {points_text(scheme.step)}."
        yield error("step", "", message)
    for item in scheme.items:
        if item.kind in _WITHOUT_POINTS and item.points:
            yield error("points", item.code, f"{item.code} is a {item.kind} and worth nothing; take its points away.")
        elif item.kind in {Kind.CHECKPOINT, Kind.DEDUCTION} and not item.points:
            yield error("points", item.code, f"{item.code} has no points. What is worth nothing is a {Kind.ZERO_CREDIT}.")
        elif item.points % scheme.step:
            message = f"{item.code} has {points_text(item.points)}, not a multiple of {points_text(scheme.step)}."
            yield error("step", item.code, message)


def _words(scheme: Scheme) -> Iterator[SchemeIssue]:
    if not scheme.of_kind(Kind.CHECKPOINT):
        yield error("empty", "", "There is no checkpoint, so no script can earn a point.")
    for item in scheme.items:
        if not item.text:
            yield error("text", item.code, f"{item.code} does not say what it is for.")


def _chains(scheme: Scheme) -> Iterator[SchemeIssue]:
    earning = scheme.of_kind(Kind.CHECKPOINT)
    own = {chain.name: {item.code for item in earning if chain.name in item.chains} for chain in scheme.chains}
    for chain in scheme.chains:
        if not own[chain.name]:
            yield error("chain-empty", chain.name, f"Chain {chain.name} has no checkpoint of its own.")
            continue
        wider = [other for other in scheme.chains if own[chain.name] < own[other.name] and other.limit is None]
        if wider:
            yield warning(
                "chain-never-best", chain.name, f"Chain {chain.name} is never better: {wider[0].name} has all its items."
            )


def _mixing(scheme: Scheme) -> Iterator[SchemeIssue]:
    if not scheme.mixing:
        return
    if len(scheme.chains) < 2:
        yield error("mixing", "", "Points of chains may be added, but there are not two chains.")
    for chain in scheme.chains:
        if chain.limit is not None:
            yield error("mixing", chain.name, f"Chain {chain.name} has a limit, which has no meaning where chains are added.")
    for item in scheme.of_kind(Kind.CAP):
        if item.chains:
            yield error("mixing", item.code, f"{item.code} caps a chain, which has no meaning where chains are added.")


def _groups(scheme: Scheme) -> Iterator[SchemeIssue]:
    groups = [item.group for item in scheme.items if item.group]
    for group in dict.fromkeys(groups):
        if groups.count(group) == 1:
            yield warning("group-single", group, f"Group {group} has one item only; there is nothing to pick.")


def _totals(scheme: Scheme) -> Iterator[SchemeIssue]:
    """The most that each chain can reach, against the scale."""
    earning = scheme.of_kind(Kind.CHECKPOINT)
    if not earning:
        return
    best = evaluate(scheme, (item.code for item in scheme.items if item.kind in EARNING))
    scale = points_text(scheme.scale)
    for route in best.routes:
        name = f"Chain {route.chain}" if route.chain else "The scheme"
        if route.worth > scheme.scale:
            message = f"{name} reaches {points_text(route.worth)}, more than {scale}. Lower its points or limit the chain."
            yield error("over-scale", route.chain, message)
    worths = [route.worth for route in best.routes]
    if scheme.scale not in worths and max(worths) < scheme.scale:
        yield error("never-full", "", f"No chain reaches {scale}: the best is {points_text(max(worths))}.")


def _without_effect(scheme: Scheme) -> Iterator[SchemeIssue]:
    """Items that never change the points."""
    most = {chain.name: chain.limit if chain.limit is not None else scheme.scale for chain in scheme.chains}
    for item in scheme.of_kind(Kind.CAP):
        bounds = [most[name] for name in item.chains] or [scheme.scale]
        if item.points >= max(bounds):
            yield warning("cap-idle", item.code, f"{item.code} limits to {points_text(item.points)}, which is no limit.")
    for item in scheme.of_kind(Kind.DEDUCTION):
        if item.points > scheme.scale:
            yield warning(
                "deduction-large", item.code, f"{item.code} takes more than the scale of {points_text(scheme.scale)}."
            )
    conflicts = conflicts_of(scheme.items)
    for item in scheme.of_kind(Kind.CHECKPOINT):
        if rival := _always_beaten(item, scheme, conflicts):
            message = f"{item.code} never counts: it needs {rival.code}, which excludes it and is worth as much or more."
            yield error("unreachable", item.code, message)
        elif (chain := _worthless_chain(item, scheme)) is not None:
            yield error("unreachable", item.code, f"{item.code} never counts: chain {chain.name} is limited to 0.")


def _always_beaten(item: SchemeItem, scheme: Scheme, conflicts: Conflicts) -> SchemeItem | None:
    """An item that `item` needs, directly or not, that counts in its place wherever both do."""
    items = {one.code: one for one in scheme.items}
    needed, edge = set[str](), [item.code]
    while edge:
        fresh = set(items[edge.pop()].requires) - needed
        needed |= fresh
        edge.extend(fresh)
    for code in items:
        other = items[code]
        inside = not other.chains or (bool(item.chains) and set(item.chains) <= set(other.chains))
        if code in needed & conflicts[item.code] and other.points >= item.points and inside:
            return other
    return None


def _worthless_chain(item: SchemeItem, scheme: Scheme) -> Chain | None:
    mine = [chain for chain in scheme.chains if chain.name in item.chains]
    return mine[0] if mine and all(chain.limit == Decimal(0) for chain in mine) else None
