"""The engine gives what people computed by hand."""

import re
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from apps.reasoning.marking.schemes.checks import check
from apps.reasoning.marking.schemes.derivation import derivation_line
from apps.reasoning.marking.schemes.evaluation import evaluate
from apps.reasoning.marking.schemes.text_form import text_read
from apps.reasoning.marking.sheets.claims import claim_read
from tests.marking.made import EXAMPLE

TABLE = tomllib.loads(Path(__file__).with_name("hand_computed.toml").read_text())
SCHEMES = {name: text_read(text) for name, text in TABLE["schemes"].items()}
CASES: list[dict[str, Any]] = TABLE["cases"]


def test_there_are_forty_cases() -> None:
    assert len({(case["scheme"], case["claim"], case.get("step")) for case in CASES}) >= 40


@pytest.mark.parametrize("name", SCHEMES)
def test_the_schemes_of_the_table_are_sound(name: str) -> None:
    assert check(SCHEMES[name]) == ()


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['scheme']}: {case['claim'] or 'nothing'}")
def test_a_case_computed_by_hand(case: dict[str, Any]) -> None:
    scheme = SCHEMES[case["scheme"]]
    claim = claim_read(scheme, case["claim"])
    step = Decimal(case["step"]) if "step" in case else None
    result = evaluate(scheme, claim.ticks, step=step, is_mixed=claim.is_mixed)
    assert result.points == Decimal(case["points"])
    if "chain" in case:
        assert result.route.chain == case["chain"]
    if "choices" in case:
        assert result.choices == tuple(map(Decimal, case["choices"]))
    if "line" in case:
        assert derivation_line(result) == case["line"]


def test_the_derivation_of_the_design_comes_out_word_for_word() -> None:
    result = evaluate(EXAMPLE, ["A", "c1", "e1"])
    assert derivation_line(result) == "Chain B: A 1 + c1 2 + e1 1 = 4; cap 5 inactive"


def test_no_derivation_ends_in_minus_nothing() -> None:
    for case in CASES:
        scheme = SCHEMES[case["scheme"]]
        line = derivation_line(evaluate(scheme, claim_read(scheme, case["claim"]).ticks))
        assert not re.search(r"−0(?!\.)", line), line


def test_a_ticked_item_that_does_not_count_is_reported_with_the_reason() -> None:
    scheme = SCHEMES["two_chains"]
    assert [(one.code, one.reason) for one in evaluate(scheme, ["a2", "b1"]).not_counted] == [("a2", "needs a1")]
    assert [(one.code, one.reason) for one in evaluate(scheme, ["a1", "b1"]).not_counted] == [("a1", "belongs to chain A")]
    levels = evaluate(SCHEMES["levels"], ["l1", "l3", "d1", "d2"])
    assert [(one.code, one.reason) for one in levels.not_counted] == [("l1", "l3 counts instead"), ("d1", "d2 counts instead")]
    assert evaluate(scheme, ["z1", "f1"]).recognised == ("z1", "f1")
