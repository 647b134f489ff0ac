"""What is mended in a model's code before it runs, and what is left as it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.reasoning.reading.turns.code import DEDENT, FENCE, LONGEST, PROMPTS, QUOTES, STRAY, repaired

QUOTED = "s = '''\n```\nfoo\n```\n'''\nprint(s)"
"""A program with a fence inside one of its strings."""


@pytest.mark.parametrize(
    ("written", "code", "repairs"),
    [
        ("```python\nprint(1)\n```", "print(1)", (FENCE,)),
        ("Here it is:\n```py\nprint(1)\n```\nand then\n```\nprint(2)\n```", "print(1)\nprint(2)", (FENCE,)),
        ("```python\nprint(1)", "print(1)", (FENCE,)),
        ("```python\nprint(1)\n```\nIt prints:\n```\n1\n```", "print(1)", (FENCE,)),
        ("```\nprint(1)\n```\nIt prints:\n```\nThe sum is 1\n```", "print(1)", (FENCE,)),
        ("```python\nprint(1)\n```\n```output\n1\n```\nThat is all.", "print(1)", (FENCE,)),
        ("```python3.11\nprint(1)\n```\n", "print(1)", (FENCE,)),
        (f"```python\n{QUOTED}\n```", QUOTED, (FENCE,)),
        ("  x = 1\n  print(x)", "x = 1\nprint(x)", (DEDENT,)),
        ("print(“hi”)", 'print("hi")', (QUOTES,)),
        ("print(5 − 3)", "print(5 - 3)", (QUOTES,)),
        (">>> x = 1\n>>> print(x)", "x = 1\nprint(x)", (PROMPTS,)),
        ("x = 1\n    y = 2\n    print(y)\nprint(x)", "x = 1\ny = 2\nprint(y)\nprint(x)", (STRAY,)),
        ("if x:\n        a = 1\n    b = 2", "if x:\n        a = 1\n        b = 2", (STRAY,)),
    ],
)
def test_it_is_repaired_and_the_repairs_are_reported(written: str, code: str, repairs: tuple[str, ...]) -> None:
    found = repaired(written)
    assert (found.code, found.repairs) == (code, repairs)


@pytest.mark.parametrize(
    "written",
    [
        "print('“quoted” on purpose')",
        QUOTED,
        "```sage\nvar('x')\n```",
        "for i in range(3):\nprint(i)",
        "print(1",
        "x = '''never ended",
        "(" * 10_000,
        "-" * 15_000 + "1",
        "",
        "x = 1\n" * LONGEST,
    ],
)
def test_what_runs_or_what_no_rule_mends_is_left_as_it_is(written: str) -> None:
    assert repaired(written).code == written
    assert repaired(written).repairs == ()


@given(st.text(alphabet="ab =():\n\t '“”`>.−0", max_size=200))
def test_whatever_is_written_mending_ends_and_mended_code_needs_no_more(written: str) -> None:
    once = repaired(written)
    if once.repairs and once.repairs != (FENCE,):
        assert repaired(once.code).repairs in ((), (FENCE,))
