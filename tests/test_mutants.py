"""The tool behind `make mutants`: a change reaches functions that are already imported, and a sample can be repeated."""

import ast
import functools
from pathlib import Path

from tests import mutants
from tests.mutants import ROOT, Mutant, imports, interval, nearest, sample

HERE = Path(__file__)


def is_small(number: int) -> bool:
    return number < 3


@functools.cache
def doubled(numbers: tuple[int, ...]) -> list[int]:
    return [2 * number for number in numbers]


def test_a_change_reaches_functions_that_are_already_imported() -> None:
    kept, before = is_small, is_small.__code__
    line = before.co_firstlineno + 1
    offers = list(mutants._offers(ast.parse(HERE.read_text())))
    changes = [number for number, node in enumerate(offers) if getattr(node, "lineno", 0) == line]
    results = set()
    try:
        for change in changes:
            mutants.replace(Mutant(HERE, line, change))
            results.add((kept(2), kept(3)))
    finally:
        is_small.__code__ = before
    assert results == {(None, None), (True, True)}, "no value is returned, and a border that moved"
    assert (kept(2), kept(3)) == (True, False)
    assert doubled((1, 2)) == [2, 4], "other functions of the file keep their meaning"


def test_a_sample_can_be_repeated_and_lies_in_functions_of_the_application() -> None:
    some = sample(20, 7, "apps/marks")
    assert some == sample(20, 7, "apps/marks")
    assert some != sample(20, 8, "apps/marks")
    assert len({(mutant.path, mutant.line) for mutant in some}) == 20
    assert all(mutant.path.is_relative_to(ROOT / "apps/marks") for mutant in some)
    assert all(mutant.code() for mutant in some)


def test_the_nearest_tests_import_the_module_themselves() -> None:
    near = nearest(ROOT / "apps/help/rendering.py", imports())
    assert near[0] == ROOT / "tests/help/test_pages.py"
    assert len(near) <= mutants.FILES


def test_the_interval_of_a_share() -> None:
    assert [round(border, 3) for border in interval(8, 10)] == [0.490, 0.943]
