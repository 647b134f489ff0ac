"""Schemes out of what coaches have: coarse guidelines, lists of grading points, the library's own form, JSON."""

import csv
import json
import os
from decimal import Decimal
from pathlib import Path

import pytest

from apps.reasoning.marking.importing import scheme_import
from apps.reasoning.marking.schemes.checks import check, is_usable
from apps.reasoning.marking.schemes.evaluation import evaluate
from apps.reasoning.marking.schemes.faults import FormWrong
from apps.reasoning.marking.schemes.json_form import json_written
from apps.reasoning.marking.schemes.scheme import Kind
from apps.reasoning.marking.schemes.text_form import text_read, text_written
from tests.marking.made import EXAMPLE

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT / os.environ.get("SHARED_DATA", "../shared/data")
needs_shared_data = [
    pytest.mark.shared_data,
    pytest.mark.skipif(not SHARED.is_dir() and os.environ.get("CI") != "true", reason="there is no SHARED_DATA"),
]
COARSE = """(Incorrect)
 1. Small cases earn nothing.
(Partial)
 1. Guessed the answer.
 2. Proved that $f$ is odd
    on the integers.
 (Almost)
 1. Did not check the candidates."""


def test_coarse_guidelines_become_one_pick_one_group() -> None:
    imported = scheme_import(COARSE)
    scheme = imported.scheme
    assert imported.shape == "coarse guidelines"
    assert [(item.code, item.kind, int(item.points)) for item in scheme.items] == [
        ("z1", Kind.ZERO_CREDIT, 0), ("p1", Kind.CHECKPOINT, 1), ("p2", Kind.CHECKPOINT, 1), ("a1", Kind.CHECKPOINT, 6),
        ("full", Kind.CHECKPOINT, 7),
    ]  # fmt: skip
    assert scheme.items[2].text == "Proved that $f$ is odd\non the integers."
    assert [evaluate(scheme, ticks).points for ticks in (["p1", "p2"], ["p1", "a1"], ["full", "a1"], ["z1"])] == [1, 6, 7, 0]
    assert check(scheme) == ()
    assert "0, 1, 6 and 7" in imported.notes[0]


def test_the_librarys_own_form_keeps_codes_chains_and_kinds() -> None:
    text = (
        "**Chain A: congruences**\n\n- A1 (1) Chooses.\n- A2 (+6) Concludes,\n  with reason.\n\n**All chains**\n\n"
        "- Zero: small cases.\n- Deduct −1: a slip.\n- Cap 3: only one case."
    )
    scheme = scheme_import(text).scheme
    assert [(item.code, str(item.kind), int(item.points), item.chains) for item in scheme.items] == [
        ("A1", "checkpoint", 1, ("A",)), ("A2", "checkpoint", 6, ("A",)),
        ("z1", "zero-credit", 0, ()), ("d1", "deduction", 1, ()), ("k1", "cap", 3, ()),
    ]  # fmt: skip
    assert scheme.items[1].text == "Concludes,\nwith reason."
    assert check(scheme) == ()


@pytest.mark.parametrize(
    "text",
    [
        "1. Something good (2 points)\n2. The rest (5pts).",
        "- 2 points: Something good\n- 5 points – The rest",
        "[2] Something good\n[5] The rest",
        "A1 (2) Something good\nA2 (+5) The rest",
        '[{"title": "Something good", "points": 2}, {"desc": "The rest", "points": "5"}]',
        '{"rubric": [{"text": "<p>Something good</p>", "points": 2.0}, {"text": "The rest", "points": 5}]}',
    ],
)
def test_lists_of_grading_points_in_many_hands(text: str) -> None:
    scheme = scheme_import(text).scheme
    assert [(item.text.rstrip("."), int(item.points)) for item in scheme.items] == [("Something good", 2), ("The rest", 5)]
    assert scheme.scale == 7
    assert check(scheme) == ()


def test_the_scale_is_what_the_points_reach_and_that_is_said() -> None:
    imported = scheme_import("1. One (4 points)\n2. Two (6.5 points)")
    assert (imported.scheme.scale, imported.scheme.step) == (Decimal("10.5"), Decimal("0.5"))
    assert imported.notes == ("The scale is 10.5, the most that the points listed reach.",)


def test_what_is_not_understood_is_kept_in_the_remarks_and_said() -> None:
    imported = scheme_import("Be kind.\n\n1. All of it (7 points)")
    assert imported.scheme.remarks == "Be kind."
    assert "Kept in the remarks: “Be kind.”." in imported.notes


def test_a_number_in_a_sentence_is_no_label() -> None:
    scheme = scheme_import("- Uses (1) to bound $n$. (2 points)\n- By (2), concludes. (5 points)").scheme
    assert [int(item.points) for item in scheme.items] == [2, 5]


def test_our_own_forms_are_read_too() -> None:
    assert scheme_import(text_written(EXAMPLE)).scheme == EXAMPLE
    assert scheme_import(json_written(EXAMPLE)).scheme == EXAMPLE
    assert scheme_import("checkpoint a, 7 points: all (2 points)").scheme.scale == 7


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("  \n", "no text"),
        ("Nothing here gives points.", "not understood"),
        ("[{}]", "not a number above 0"),
        ('[{"title": "x", "points": true}]', "not a number above 0"),
        ('{"a": 1}', "no list of grading points"),
        ("{", "not JSON"),
        ("[" + "[" * 100_000, "not JSON"),
        ("x" * 200_001, "longer than"),
        ("- A1 (2) " + "x" * 5_000, "4,000 are the most"),
        ("\n".join(f"{n}. x (1 point)" for n in range(201)), "200 are the most"),
        ("**Chain é: x**\n- (7) all", "a name is"),
    ],
)
def test_what_is_no_scheme_is_refused_with_the_reason(text: str, words: str) -> None:
    with pytest.raises(FormWrong, match=words):
        scheme_import(text)


def test_every_scheme_of_the_sample_library_is_read_without_a_fault() -> None:
    files = sorted((ROOT / "apps/problems/sample_library").glob("*.md"))
    texts = [
        text.split("## Marking scheme\n")[1] for text in (path.read_text() for path in files) if "## Marking scheme" in text
    ]
    assert len(texts) >= 20
    for text in texts:
        imported = scheme_import(text)
        assert imported.scheme.scale == 7
        assert (check(imported.scheme), len(imported.notes)) == ((), 1)


@pytest.mark.parametrize("name", ["imo-bench/proofbench_v2.csv", "gradingbench/gradingbench_filtered_100_train.csv"])
class TestSharedGuidelines:
    pytestmark = needs_shared_data

    def test_every_guideline_is_read_and_comes_back(self, name: str) -> None:
        with (SHARED / name).open(newline="") as file:
            guidelines = {row["Grading guidelines"] for row in csv.DictReader(file)}
        assert len(guidelines) > 20
        for text in guidelines:
            scheme = scheme_import(text).scheme
            assert is_usable(scheme)
            assert text_read(text_written(scheme)) == scheme


class TestSharedGradingPoints:
    pytestmark = needs_shared_data

    def test_the_grading_schemes_of_the_open_proof_corpus_are_read(self) -> None:
        files = sorted((SHARED / "open-proof-corpus/solved").glob("*.json"))
        assert files
        for path in files:
            scheme = scheme_import(json.dumps(json.loads(path.read_text())["grading_scheme"])).scheme
            assert is_usable(scheme)
            assert "<" not in scheme.items[0].text
