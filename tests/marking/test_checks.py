"""Warnings about a scheme, shown to the coach before it is used for marking."""

import time

import pytest

from apps.reasoning.marking.schemes.checks import check, is_usable
from apps.reasoning.marking.schemes.structure import Severity
from apps.reasoning.marking.schemes.text_form import text_read
from tests.marking.made import EXAMPLE

SOUND = """scale 7
chain A: x
chain B: y
checkpoint s, 3 points: s
checkpoint a, 4 points, chain A: a
checkpoint b, 4 points, chain B: b
"""
SHARED_CHAIN = SOUND.replace("points, chain B", "points, chain B C")


def rules(text: str) -> set[tuple[str, str, str]]:
    return {(str(issue.severity), issue.rule, issue.where) for issue in check(text_read(text))}


def test_a_sound_scheme_has_no_issue() -> None:
    assert check(EXAMPLE) == ()
    assert check(text_read(SOUND)) == ()


@pytest.mark.parametrize(
    ("text", "rule", "where"),
    [
        ("scale 7\n", "empty", ""),
        ("checkpoint a, 6 points: x", "never-full", ""),
        ("checkpoint a, 8 points: x", "over-scale", ""),
        (SOUND.replace("b, 4", "b, 5"), "over-scale", "B"),
        ("checkpoint a, 7 points: x\ncheckpoint A, 1 point: y", "code-twice", "a"),
        ("checkpoint mix, 7 points: x", "code-reserved", "mix"),
        ("checkpoint a, 7 points, chain Q: x", "chain-unknown", "a"),
        (SOUND + "chain A: z", "chain-twice", "A"),
        (SOUND + "chain C: z", "chain-empty", "C"),
        ("checkpoint a, 7 points, needs q: x", "code-unknown", "a"),
        ("checkpoint a, 7 points, needs a: x", "refers-to-itself", "a"),
        ("checkpoint a, 3 points, needs b: x\ncheckpoint b, 4 points, needs a: x", "needs-cycle", "a"),
        ("checkpoint a, 7 points, needs k: x\ncap k, at most 5: y", "needs-kind", "a"),
        ("checkpoint a, 7 points: x\ncap k, at most 5, needs a: y", "needs-kind", "k"),
        ("checkpoint a, 7 points, excludes d: x\ndeduction d, 1 point: y", "excludes-kind", "a"),
        ("checkpoint a, 7 points: x\ncap k, at most 5, one of g: y", "group-kind", "k"),
        ("checkpoint a, 7 points, one of g: x\ndeduction d, 1 point, one of g: y", "group-kind", "d"),
        (SOUND + "deduction d, 1 point, chain A: y", "deduction-chain", "d"),
        ("checkpoint a: x\ncheckpoint b, 7 points: y", "points", "a"),
        ("checkpoint a, 7 points: x\nzero-credit z, 1 point: y", "points", "z"),
        ("checkpoint a, 6.5 points: x\ncheckpoint b, 0.5 points: y", "step", "a"),
        ("scale 7.5\ncheckpoint a, 7.5 points: x", "step", ""),
        ("checkpoint a, 7 points:", "text", "a"),
        ("mixing: why\ncheckpoint a, 7 points: x", "mixing", ""),
        (SOUND.replace("chain B: y", "chain B, at most 5: y") + "mixing: why", "mixing", "B"),
        (SOUND + "cap k, at most 2, chain A: y\nmixing: why", "mixing", "k"),
        (
            "checkpoint a, 3 points: x\ncheckpoint b, 2 points, needs a, excludes a: y\ncheckpoint c, 4 points: z",
            "unreachable",
            "b",
        ),
        (SOUND + "chain C, at most 0: z\ncheckpoint c, 1 point, chain C: c", "unreachable", "c"),
    ],
)
def test_an_error_is_found_where_it_is(text: str, rule: str, where: str) -> None:
    assert ("error", rule, where) in rules(text)
    assert not is_usable(text_read(text))


@pytest.mark.parametrize(
    ("text", "rule", "where"),
    [
        ("checkpoint a, 7 points: x\ncap k, at most 7: y", "cap-idle", "k"),
        ("checkpoint a, 7 points: x\ndeduction d, 8 points: y", "deduction-large", "d"),
        ("checkpoint a, 7 points, one of g: x", "group-single", "g"),
        (SHARED_CHAIN + "chain C: z\ncheckpoint c, 0.5 points, chain C: c\nstep 0.5", "chain-never-best", "B"),
    ],
)  # fmt: skip
def test_a_warning_is_shown_and_the_scheme_may_be_used(text: str, rule: str, where: str) -> None:
    assert ("warning", rule, where) in rules(text)


def test_a_chain_over_the_scale_may_be_limited() -> None:
    assert ("error", "over-scale", "B") in rules(SOUND.replace("b, 4", "b, 5"))
    assert check(text_read(SOUND.replace("b, 4", "b, 5").replace("chain B: y", "chain B, at most 7: y"))) == ()


def test_a_level_that_needs_the_level_below_it_is_fine() -> None:
    scheme = text_read("checkpoint a, 3 points, one of g: x\ncheckpoint b, 7 points, one of g, needs a: y")
    assert check(scheme) == ()


def test_a_tangle_of_exclusions_is_refused_and_a_large_group_is_not() -> None:
    ring = "".join(f"checkpoint x{n}, 1 point, excludes x{(n + 1) % 30}: x\n" for n in range(30))
    assert ("error", "tangle", "x0") in rules(ring)
    group = "".join(f"checkpoint x{n}, {n % 7 + 1} points, one of g: x\n" for n in range(60))
    assert check(text_read(group)) == ()


def test_errors_come_first() -> None:
    severities = [issue.severity for issue in check(text_read("checkpoint a, 6 points, one of g: x\ncap k, at most 7: y"))]
    assert severities == sorted(severities, key=lambda severity: severity is Severity.WARNING)
    assert len(set(severities)) == 2


def test_the_largest_scheme_is_checked_while_one_types() -> None:
    lines = [
        f"checkpoint x{n}, {1 + n // 29} points, chain A, one of g{n % 29}, needs x{max(0, n - 29)}: text"
        for n in range(1, 200)
    ]
    scheme = text_read("scale 201\nchain A: a\ncheckpoint x0, 1 point, chain A: text\n" + "\n".join(lines))
    start = time.perf_counter()
    assert is_usable(scheme)
    assert time.perf_counter() - start < 5
