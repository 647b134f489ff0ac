"""The best admissible set: of items that exclude each other, those whose points make the largest sum.

Exact, by branching inside each connected component. A component is at most `COMPONENT_AT_MOST` items large (`checks` refuses
more), which keeps the search small whatever a coach writes.
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from apps.reasoning.marking.schemes.scheme import SchemeItem

COMPONENT_AT_MOST = 24

Conflicts = Mapping[str, frozenset[str]]


def conflicts_of(items: Sequence[SchemeItem]) -> dict[str, frozenset[str]]:
    """Per code, the codes that do not count together with it: its group, and exclusions in both directions."""
    found: dict[str, set[str]] = {item.code: set() for item in items}
    for item in items:
        mates = {other.code for other in items if item.group and other.group == item.group and other.kind is item.kind}
        for code in (mates | set(item.excludes)) - {item.code}:
            if code in found:
                found[item.code].add(code)
                found[code].add(item.code)
    return {code: frozenset(others) for code, others in found.items()}


def components_of(codes: Iterable[str], conflicts: Conflicts) -> list[list[str]]:
    """The codes in connected pieces, each in the order given. A code without a conflict is a piece of its own."""
    order = list(codes)
    left, pieces = set(order), []
    for code in order:
        if code not in left:
            continue
        piece, edge = {code}, [code]
        while edge:
            fresh = (conflicts.get(edge.pop(), frozenset()) & left) - piece
            piece |= fresh
            edge.extend(fresh)
        left -= piece
        pieces.append([other for other in order if other in piece])
    return pieces


def best_set(weights: Mapping[str, Decimal], conflicts: Conflicts) -> frozenset[str]:
    """The codes of `weights` (all positive) that together weigh most while no two conflict; of equals, the earlier ones."""
    return frozenset(_best_of_pieces(list(weights), weights, conflicts))


def _best_of_pieces(codes: list[str], weights: Mapping[str, Decimal], conflicts: Conflicts) -> set[str]:
    chosen: set[str] = set()
    for piece in components_of(codes, conflicts):
        chosen |= _heaviest(piece, weights, conflicts) if len(piece) > 1 else set(piece)
    return chosen


def _heaviest(piece: list[str], weights: Mapping[str, Decimal], conflicts: Conflicts) -> set[str]:
    """Branch on the code with most conflicts: with it, and without."""
    inside = set(piece)
    if all(len(conflicts[code] & inside) == len(piece) - 1 for code in piece):
        return {max(piece, key=lambda code: weights[code])}  # A pick-one group, however large.
    pivot = max(piece, key=lambda code: len(conflicts[code] & inside))
    rest = [code for code in piece if code != pivot]
    taken = {pivot} | _best_of_pieces([code for code in rest if code not in conflicts[pivot]], weights, conflicts)
    left = _best_of_pieces(rest, weights, conflicts)

    def rank(chosen: set[str]) -> tuple[Decimal, list[int]]:
        return sum((weights[code] for code in chosen), Decimal(0)), sorted(-piece.index(code) for code in chosen)[::-1]

    return max(taken, left, key=rank)
