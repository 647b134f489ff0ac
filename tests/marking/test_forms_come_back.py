"""Text form and JSON form: what is written is read back, and what cannot be read is said by line or path."""

import json

import pytest
from hypothesis import given

from apps.reasoning.marking.schemes.faults import FormWrong
from apps.reasoning.marking.schemes.json_form import json_read, json_value, json_written
from apps.reasoning.marking.schemes.lineage import lineages_carried, without_lineage
from apps.reasoning.marking.schemes.scheme import Kind, Scheme, text_clean
from apps.reasoning.marking.schemes.text_form import text_read, text_written
from tests.marking.made import EXAMPLE, examples, schemes


@examples(120)
@given(schemes())
def test_the_text_form_comes_back(scheme: Scheme) -> None:
    assert text_read(text_written(scheme)) == scheme


@examples(60)
@given(schemes())
def test_the_json_form_comes_back_with_its_lineage(scheme: Scheme) -> None:
    named = lineages_carried(scheme, None, iter(map(str, range(99))).__next__)
    assert json_read(json_written(named)) == named
    assert without_lineage(named) == scheme


@examples(60)
@given(schemes())
def test_each_form_gives_the_other(scheme: Scheme) -> None:
    assert text_written(json_read(json_written(text_read(text_written(scheme))))) == text_written(scheme)


def test_a_scheme_reads_like_english() -> None:
    scheme = text_read(
        "scale 10\r\nstep 1/2\r\n\r\nmixing: Parts (a) and (b)\r\n  are independent.\r\nremarks: Read all.\r\n"
        "chain A: First: the bound\r\nchain B, at most 6.50 points:\r\n"
        "checkpoint A1, +2 points, chain A B, one of level, needs B1 B2, excludes C1:\r\n\tShows $x:y$.\r\n\r\n    - really\r\n"
        "  note: Not by picture.\r\n  Never.\r\ncap K, at most 5: All small.\r\nzero-credit Z1: Examples.\r\n"
        "deduction D, −1: Slip."
    )
    assert (str(scheme.scale), str(scheme.step), scheme.mixing) == ("10", "0.5", "Parts (a) and (b) are independent.")
    assert [(chain.name, chain.title, str(chain.limit)) for chain in scheme.chains] == [
        ("A", "First: the bound", "None"),
        ("B", "", "6.5"),
    ]
    first, cap, zero, deduction = scheme.items
    assert (first.text, first.note) == ("Shows $x:y$.\n\n  - really", "Not by picture.\nNever.")
    assert (first.chains, first.group, first.requires, first.excludes) == (("A", "B"), "level", ("B1", "B2"), ("C1",))
    assert [(item.kind, int(item.points)) for item in (cap, zero, deduction)] == [
        (Kind.CAP, 5), (Kind.ZERO_CREDIT, 0), (Kind.DEDUCTION, 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("scale seven", "“scale” needs a number"),
        ("scale 7: or so", "“scale” needs a number"),
        ("mixing always: yes", "“mixing” needs a colon"),
        ("bonus B1, 2 points: x", "“bonus B1, 2 points” is not understood"),
        ("checkpoint 1a, 2 points: x", "a code is a letter"),
        ("checkpoint A1, two points: x", "“two points” is not understood"),
        ("checkpoint A1, 2 points, chain A, B: x", "“B” is not understood"),
        ("checkpoint A1, 2 points, 3 points: x", "repeats an earlier clause"),
        ("checkpoint A1, 1/3: x", "two decimal places"),
        ("checkpoint A1, 1/0: x", "not a number"),
        ("checkpoint A1, 5000: x", "less than or equal to 1000"),
        ("cap K1, 5 points: x", "at most 5"),
        ("chain A, limited: x", "“limited” is not understood"),
        ("step 1", "“step” is given twice"),
    ],
)
def test_a_line_that_is_not_understood_is_named(line: str, words: str) -> None:
    with pytest.raises(FormWrong) as wrong:
        text_read(f"\nstep 1\n{line}\ncheckpoint A2, 7 points: y\n")
    assert [fault.where for fault in wrong.value.faults] == ["line 3"]
    assert words in wrong.value.faults[0].message


def test_all_wrong_lines_are_named_at_once() -> None:
    with pytest.raises(FormWrong) as wrong:
        text_read("scale x\nfoo\ncheckpoint A1, 7 points: fine\nbar: baz")
    assert [fault.where for fault in wrong.value.faults] == ["line 1", "line 2", "line 4"]


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"format": "other/1"}, "format"),
        ({"extra": 1}, "extra"),
        ({"scale": "0"}, "scale"),
        ({"scale": "1.234"}, "scale"),
        ({"items": [{"code": "A", "kind": "bonus"}]}, "items.0.kind"),
        ({"items": [{"code": "A-1"}]}, "items.0.code"),
        ({"items": [{"code": "A", "points": "-1"}]}, "items.0.points"),
        ({"items": [{"code": "A"}] * 201}, "items"),
    ],
)
def test_a_json_value_that_is_wrong_is_named_by_its_path(change: dict[str, object], where: str) -> None:
    with pytest.raises(FormWrong) as wrong:
        json_read(json.dumps({**json_value(EXAMPLE), **change}))
    assert where in {fault.where for fault in wrong.value.faults}


@pytest.mark.parametrize("text", ["", "[]", "{", "3", '{"format": "lemmascope.scheme/1", "scale": 1e999}', "[" * 100_000])
def test_other_json_is_refused(text: str) -> None:
    with pytest.raises(FormWrong):
        json_read(text)


def test_a_text_is_cleaned_once_and_for_all() -> None:
    text = "  a\u0000b  \r\n\r\n c\r"
    assert text_clean(text) == "ab\n\n c"
    assert text_clean(text_clean(text)) == text_clean(text)
