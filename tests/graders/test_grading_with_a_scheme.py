"""The model says which items are met, the scheme computes the points: strictly, or in addition to the model's own."""

from decimal import Decimal

import pytest

from apps.reasoning.graders.registry import GRADERS
from apps.reasoning.marking.schemes.text_form import text_read
from tests.graders.grade import finding, grade, grading
from tests.graders.schemes import CHAINS, decided


def ticks(*met: str) -> str:
    return "<grading>" + "\n".join([finding(), *decided(*met)]) + "</grading>"


@pytest.mark.parametrize(
    ("met", "points"),
    [((), 0), (("A1",), 2), (("A2",), 0), (("A1", "A2"), 7), (("A1", "A2", "K1", "D1"), 2), (("B1", "Z1"), 7), (("D1",), 0)],
)
async def test_points_are_what_the_scheme_gives_for_the_items_met(met: tuple[str, ...], points: int) -> None:
    run = await grade("scheme", {"grade/scheme": ticks(*met)}, scheme=CHAINS)
    assert run.points == points
    assert run.grading.computed == points
    assert set(run.grading.ticks) == set(met)


async def test_items_come_with_reasons_and_what_they_counted() -> None:
    run = await grade("scheme", {"grade/scheme": ticks("A1", "A2", "D1")}, scheme=CHAINS)
    counted = {item.code: item.points for item in run.grading.items}
    assert counted == {"A1": 2, "A2": 5, "B1": 0, "Z1": 0, "D1": -1, "K1": 0}
    assert run.grading.findings[0].step == 2


async def test_the_prompt_contains_the_scheme_and_says_strict() -> None:
    run = await grade("scheme", {"grade/scheme": ticks()}, scheme=CHAINS)
    prompt = run.dispatcher.prompt("grade/scheme")
    assert "checkpoint A2, 5 points, chain A, needs A1: One of two neighbours is even." in prompt
    assert "to the letter" in prompt


async def test_advice_may_differ_from_the_scheme_and_says_so() -> None:
    said = grading(5, *decided("A1"))
    run = await grade("scheme", {"grade/scheme": said}, scheme=CHAINS, strict=False)
    assert (run.points, run.grading.computed) == (Decimal(5), Decimal(2))
    assert "The items met are worth 2; the grader gives 5." in run.grading.remarks


@pytest.mark.parametrize("points", ["8", "2.5", "many"])
async def test_advice_off_the_scale_is_no_advice(points: str) -> None:
    run = await grade("scheme", {"*": grading(points, *decided("A1"))}, scheme=CHAINS, strict=False)
    assert run.points is None


@pytest.mark.parametrize(
    "items",
    [
        decided("A1")[1:],
        [*decided("A1"), '<item code="X9" met="yes">New.</item>'],
        [*decided("A1")[1:], '<item code="A1" points="2">So much.</item>'],
        [*decided("A1")[1:], '<item code="A1" met="partly">Half.</item>'],
    ],
)
async def test_an_item_without_a_plain_decision_leaves_the_script_unscored(items: list[str]) -> None:
    run = await grade("scheme", {"*": "<grading>" + "".join(items) + "</grading>"}, scheme=CHAINS)
    assert run.points is None
    assert run.grading.scale == 7
    assert run.dispatcher.keys == ["grade/scheme", "grade/scheme/again"]


def test_a_scheme_with_errors_is_refused_before_the_run() -> None:
    broken = text_read("scale 7\ncheckpoint A1, 3 points: Half of it.")
    params = GRADERS["scheme"].params.model_validate({"script": "x", "scheme": broken})
    assert "has errors" in GRADERS["scheme"].lacks(params)  # type: ignore[arg-type]
    without = GRADERS["scheme"].params.model_validate({"script": "x"})
    assert GRADERS["scheme"].lacks(without) == "Marking scheme needs a marking scheme."  # type: ignore[arg-type]
