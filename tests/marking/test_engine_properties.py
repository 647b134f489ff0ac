"""What holds of every scheme and every set of ticks."""

import time
from decimal import Decimal
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.reasoning.marking.schemes.evaluation import MixingNotAllowed, TickUnknown, evaluate, total_of
from apps.reasoning.marking.schemes.scheme import Kind, Scheme
from apps.reasoning.marking.schemes.selection import best_set, conflicts_of
from apps.reasoning.marking.schemes.structure import SchemeBroken
from apps.reasoning.marking.sheets.claims import claim_line, claim_read
from tests.marking.made import EXAMPLE, examples, schemes, sound

ZERO = Decimal(0)


@st.composite
def marked(draw: st.DrawFn) -> tuple[Scheme, frozenset[str], bool]:
    """A scheme, ticks, and whether the case is mixed."""
    scheme = draw(schemes(words=st.just("x")).filter(sound))
    ticks = draw(st.sets(st.sampled_from([item.code for item in scheme.items])))
    return scheme, frozenset(ticks), bool(scheme.mixing) and draw(st.booleans())


def with_kind(scheme: Scheme, *kinds: Kind) -> list[str]:
    return [item.code for item in scheme.items if item.kind in kinds]


@examples(60)
@given(marked())
def test_points_lie_between_zero_and_the_scale(case: tuple[Scheme, frozenset[str], bool]) -> None:
    scheme, ticks, is_mixed = case
    assert ZERO <= evaluate(scheme, ticks, is_mixed=is_mixed).points <= scheme.scale


@examples(60)
@given(marked())
def test_one_more_checkpoint_never_costs_points(case: tuple[Scheme, frozenset[str], bool]) -> None:
    scheme, ticks, is_mixed = case
    points = evaluate(scheme, ticks, is_mixed=is_mixed).points
    for code in with_kind(scheme, Kind.CHECKPOINT, Kind.ZERO_CREDIT, Kind.FEEDBACK):
        assert evaluate(scheme, ticks | {code}, is_mixed=is_mixed).points >= points


@examples(60)
@given(marked())
def test_one_more_cap_or_deduction_never_brings_points(case: tuple[Scheme, frozenset[str], bool]) -> None:
    scheme, ticks, is_mixed = case
    points = evaluate(scheme, ticks, is_mixed=is_mixed).points
    for code in with_kind(scheme, Kind.CAP, Kind.DEDUCTION):
        assert evaluate(scheme, ticks | {code}, is_mixed=is_mixed).points <= points


@examples(60)
@given(marked())
def test_a_ticked_cap_of_the_total_is_kept(case: tuple[Scheme, frozenset[str], bool]) -> None:
    scheme, ticks, is_mixed = case
    points = evaluate(scheme, ticks, is_mixed=is_mixed).points
    assert all(
        points <= item.points for item in scheme.items if item.kind is Kind.CAP and item.code in ticks and not item.chains
    )


@examples(60)
@given(marked())
def test_the_derivation_sums_up_to_the_points(case: tuple[Scheme, frozenset[str], bool]) -> None:
    scheme, ticks, is_mixed = case
    result = evaluate(scheme, ticks, is_mixed=is_mixed)
    route, points = result.route, {item.code: item.points for item in scheme.items}
    assert all(term.points == points[term.code] and term.code in ticks for term in (*route.terms, *result.deductions))
    assert route.earned == total_of(route.terms)
    limits = [cap.limit for cap in route.caps if cap.is_ticked] + ([route.limit] if route.limit is not None else [])
    assert route.worth == min([route.earned, *limits])
    assert result.capped == min([route.worth, *(cap.limit for cap in result.caps if cap.is_ticked)])
    assert result.points == max(ZERO, min(result.scale, result.capped - total_of(result.deductions)))


@examples(60)
@given(marked())
def test_the_best_chain_counts(case: tuple[Scheme, frozenset[str], bool]) -> None:
    scheme, ticks, _ = case
    result = evaluate(scheme, ticks)
    assert result.route.worth == max(route.worth for route in result.routes)
    assert len(result.routes) == max(1, len(scheme.chains))


@examples(40)
@given(marked())
def test_what_counts_is_the_best_that_the_exclusions_allow(case: tuple[Scheme, frozenset[str], bool]) -> None:
    scheme, ticks, _ = case
    weights = {item.code: item.points for item in scheme.items if item.kind is Kind.CHECKPOINT and item.code in ticks}
    conflicts = conflicts_of(scheme.items)
    chosen = best_set(weights, conflicts)
    allowed = [
        subset
        for size in range(len(weights) + 1)
        for subset in combinations(weights, size)
        if not any(other in conflicts[code] for code, other in combinations(subset, 2))
    ]
    assert not any(other in conflicts[code] for code, other in combinations(chosen, 2))
    assert sum((weights[code] for code in chosen), ZERO) == max(sum((weights[c] for c in one), ZERO) for one in allowed)


@examples(40)
@given(marked())
def test_a_choice_on_the_step_is_never_made_silently(case: tuple[Scheme, frozenset[str], bool]) -> None:
    scheme, ticks, is_mixed = case
    result = evaluate(scheme, ticks, step=Decimal(1), is_mixed=is_mixed)
    if result.points % 1:
        assert result.choices
        assert all(choice % 1 == 0 and abs(choice - result.points) < 1 for choice in result.choices)
    else:
        assert result.choices == ()


@examples(40)
@given(marked())
def test_a_claim_line_says_the_ticks(case: tuple[Scheme, frozenset[str], bool]) -> None:
    scheme, ticks, is_mixed = case
    claim = claim_read(scheme, claim_line(scheme, ticks, is_mixed=is_mixed))
    assert (claim.ticks, claim.is_mixed) == (ticks, is_mixed)


def test_two_hundred_items_in_one_group_are_quick() -> None:
    items = tuple(
        EXAMPLE.items[0].model_copy(update={"code": f"x{n}", "group": "g", "points": Decimal(n + 1)}) for n in range(200)
    )
    scheme = EXAMPLE.model_copy(update={"items": items, "scale": Decimal(200)})
    assert evaluate(scheme, [item.code for item in items]).points == 200


def test_five_thousand_marks_are_computed_again_in_seconds() -> None:
    codes = [item.code for item in EXAMPLE.items]
    start = time.perf_counter()
    points = {evaluate(EXAMPLE, codes[: number % 8]).points for number in range(5_000)}
    assert time.perf_counter() - start < 10
    assert points == {0, 1, 7, 5, 4}


def test_a_tick_that_names_nothing_is_refused() -> None:
    with pytest.raises(TickUnknown, match="no item q9"):
        evaluate(EXAMPLE, ["A", "q9"])


def test_chains_are_added_only_where_the_scheme_says_why() -> None:
    with pytest.raises(MixingNotAllowed):
        evaluate(EXAMPLE, ["A"], is_mixed=True)


def test_a_scheme_with_a_circle_of_needs_is_not_computed() -> None:
    first, second, *rest = EXAMPLE.items
    items = (first.model_copy(update={"requires": ("g1",)}), second.model_copy(update={"requires": ("A",)}), *rest)
    with pytest.raises(SchemeBroken, match="circle of needs: A → g1 → A"):
        evaluate(EXAMPLE.model_copy(update={"items": items}), ["A"])
