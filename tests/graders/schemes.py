"""Two schemes for the problem of these tests: one with chains and a deduction, one that is a plain list."""

from apps.reasoning.marking.schemes.text_form import text_read

CHAINS = text_read(
    """scale 7
chain A: Neighbours
chain B: Cases
checkpoint A1, 2 points, chain A: Factors as $n(n+1)$.
checkpoint A2, 5 points, chain A, needs A1: One of two neighbours is even.
checkpoint B1, 7 points, chain B: Both cases.
zero-credit Z1: Checks some values.
deduction D1, 1 point: Claims something false at the end.
cap K1, at most 3: It is shown for some values only.
feedback F1: Write down what is even.
"""
)
PLAIN = text_read(
    """scale 7
step 0.5
checkpoint P1, 1 point: Factors as $n(n+1)$.
checkpoint P2, 2 points: Says what must be shown.
checkpoint P3, 4 points: One of two neighbours is even.
"""
)


def decided(*met: str, **reasons: str) -> list[str]:
    """A decision on every item of `CHAINS` but the remark."""
    return [
        f'<item code="{code}" met="{"yes" if code in met else "no"}">{reasons.get(code, "Seen.")}</item>'
        for code in ("A1", "A2", "B1", "Z1", "D1", "K1")
    ]


def given(*points: float) -> list[str]:
    """Points for the items of `PLAIN`."""
    return [f'<item code="P{number}" points="{one}">Because.</item>' for number, one in enumerate(points, 1)]
