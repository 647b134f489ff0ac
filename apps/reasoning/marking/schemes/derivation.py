"""An evaluation in one line of words:

Chain B: A 1 + c1 2 + e1 1 = 4; cap 5 inactive
A1 3 + A2 4 = 7; cap 5 → 5; −1 (d1 1) → 4
"""

from collections import Counter

from apps.reasoning.marking.schemes.evaluation import CapState, Evaluation, Route, Term, total_of
from apps.reasoning.marking.schemes.scheme import points_text

MINUS = "−"


def derivation_line(result: Evaluation) -> str:
    """The derivation from the items that count to the points; the last arrow, where there is one, leads to the points."""
    route = result.route
    caps = (*route.caps, *result.caps)
    parts = [route_words(route, is_mixed=result.is_mixed), *_caps(caps)]
    if result.deductions:
        parts.append(deductions_words(result.deductions))
    rest = result.capped - total_of(result.deductions)
    if rest < 0:
        parts.append("not below 0")
    elif rest > result.scale:
        parts.append(f"at most {points_text(result.scale)}")
    line = "; ".join(parts)
    is_said = not result.deductions and any(cap.binds and cap.limit == result.points for cap in caps)
    if result.points != route.earned and not is_said:
        line += f" → {points_text(result.points)}"
    return f"{line}; {choices_words(result)}" if result.choices else line


def route_words(route: Route, *, is_mixed: bool = False) -> str:
    """The items of a chain and their sum: "Chain A: a1 1 + a2 2 = 3", with the chain's limit where it is felt."""
    head = f"Chain {route.chain}: " if route.chain else "Chains added: " if is_mixed else ""
    terms = " + ".join(f"{term.code} {points_text(term.points)}" for term in route.terms) or "nothing"
    felt = route.limit is not None and route.earned > route.limit
    limit = f"; chain at most {points_text(route.limit)}" if felt and route.limit is not None else ""
    return f"{head}{terms} = {points_text(route.earned)}{limit}"


def deductions_words(deductions: tuple[Term, ...]) -> str:
    """One or more deductions: "−2 (d1 1 + d2 1)"."""
    terms = " + ".join(f"{term.code} {points_text(term.points)}" for term in deductions)
    return f"{MINUS}{points_text(total_of(deductions))} ({terms})"


def choices_words(result: Evaluation) -> str:
    """The decision left to a person if the points are not a multiple of the contest's step."""
    choices = " or ".join(points_text(choice) for choice in result.choices)
    return f"{points_text(result.points)} is not on the step of {points_text(result.step)}: {choices} is to be decided"


def _caps(caps: tuple[CapState, ...]) -> list[str]:
    """Each cap with its state; the code is shown if two caps have the same limit."""
    limits = Counter(cap.limit for cap in caps)
    words = []
    for cap in caps:
        name = f"cap {points_text(cap.limit)}" + (f" ({cap.code})" if limits[cap.limit] > 1 else "")
        state = f"→ {points_text(cap.limit)}" if cap.binds else "active" if cap.is_ticked else "inactive"
        words.append(f"{name} {state}")
    return words
