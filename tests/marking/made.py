"""Schemes for the tests: the one of the design's example, and a strategy for sound ones of every form."""

from decimal import Decimal
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from apps.reasoning.marking.schemes.scheme import Chain, Kind, Scheme, SchemeItem
from apps.reasoning.marking.schemes.structure import structure_issues
from apps.reasoning.marking.schemes.text_form import text_read

#: Chain B with A, c1 and e1, and a cap of 5: the example of the derivation.
EXAMPLE = text_read(
    """
scale 7
step 1
chain A: Geometry
chain B: Algebra
checkpoint A, 1 point: Finds the right substitution.
checkpoint g1, 6 points, chain A: Finishes by geometry.
checkpoint c1, 2 points, chain B: Reduces the degree.
checkpoint e1, 1 point, chain B: Finds the equality case.
checkpoint h1, 3 points, chain B, needs c1: Finishes by algebra.
cap cap5, at most 5: The equality case is missing.
deduction d1, 1 point: A slip that is easily mended.
"""
)

#: Letters that have broken text forms before: escapes, astral characters, combining marks, other line ends, invisible ones.
WORDS = st.text(st.sampled_from("ab:,#\\$ \n\t\r-1note𝔽é\u0301\u2028\u00a0“|"), max_size=30)
NOTES = st.one_of(WORDS, st.just("note: x"), st.just("\\note: y\nnote:z"), st.just("a\n\n  note: b\n\\\\note:"))
HALVES = st.integers(1, 20).map(lambda half: Decimal(half) / 2)
NAMES = ("A", "B", "C2")


def examples(count: int) -> settings:
    """A number of examples, without a time limit."""
    return settings(
        max_examples=count, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
    )


@st.composite
def schemes(draw: st.DrawFn, words: st.SearchStrategy[str] = NOTES) -> Scheme:
    """A scheme that can be computed, with all kinds, chains, groups, needs and exclusions. It need not pass the checks."""
    chains = draw(st.sets(st.sampled_from(NAMES), max_size=3))
    mixing = draw(st.sampled_from(["", "The parts are independent."]))
    items: list[SchemeItem] = []
    for number in range(draw(st.integers(1, 9))):
        items.append(draw(_items(f"x{number}", items, sorted(chains), words)))
    return Scheme(
        scale=draw(st.sampled_from([Decimal(7), Decimal(10), Decimal(21), Decimal("13.5")])),
        step=draw(st.sampled_from([Decimal(1), Decimal("0.5")])),
        mixing=mixing,
        remarks=draw(words),
        chains=tuple(_chain(draw, name, with_limit=not mixing) for name in sorted(chains)),
        items=tuple(items),
    )


def _chain(draw: st.DrawFn, name: str, *, with_limit: bool) -> Chain:
    return Chain(name=name, title=draw(WORDS), limit=draw(st.none() | HALVES) if with_limit else None)


@st.composite
def _items(
    draw: st.DrawFn, code: str, before: list[SchemeItem], chains: list[str], words: st.SearchStrategy[str]
) -> SchemeItem:
    kind = draw(st.sampled_from([Kind.CHECKPOINT, Kind.CHECKPOINT, Kind.CHECKPOINT, *Kind]))
    earning = [item.code for item in before if item.kind in {Kind.CHECKPOINT, Kind.ZERO_CREDIT}]
    values: dict[str, Any] = {}
    if kind in {Kind.CHECKPOINT, Kind.DEDUCTION, Kind.CAP}:
        values["points"] = draw(HALVES)
    if kind is not Kind.DEDUCTION and chains:
        values["chains"] = tuple(draw(st.lists(st.sampled_from(chains), unique=True, max_size=2)))
    if kind in {Kind.CHECKPOINT, Kind.ZERO_CREDIT}:
        values["group"] = draw(st.sampled_from(["", "", "g"]))
        if earning:
            values["requires"] = tuple(draw(st.lists(st.sampled_from(earning), unique=True, max_size=2)))
            values["excludes"] = tuple(draw(st.lists(st.sampled_from(earning), unique=True, max_size=2)))
    return SchemeItem(code=code, kind=kind, text=draw(words), note=draw(words), **values)


def sound(scheme: Scheme) -> bool:
    """Whether it can be computed."""
    return not structure_issues(scheme)
