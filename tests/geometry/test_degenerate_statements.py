"""Statements without a configuration say why, and nothing is refuted or survived."""

import pytest

from apps.geometry.checking import NOT_UNDERSTOOD, check
from apps.geometry.configurations import LEAST_APART, configurations
from apps.geometry.drawing import svg
from apps.geometry.showing import shown
from apps.geometry.statement import read
from tests.geometry.corpus import true_statements


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a b = segment a b; c = midpoint c a b; d = foot d c a b ? cong a c c b", "point d: it coincides with c"),
        ("a b = segment a b; c = midpoint c a b; o = circumcenter o a b c ? cong a c c b", "three points are on one line"),
        (
            "a b c = triangle a b c; d = parallelogram d a b c; x = intersection_ll x a b c d ? coll x a b",
            "parallel or the same",
        ),
        ("a b c = r_triangle a b c; h = orthocenter h a b c ? perp h b a c", "point h: it coincides with a"),
        ("a b = segment a b; x = on_line x a b, on_line x a b ? coll x a b", "parallel or the same"),
        (
            "a b = segment a b; m = midpoint m a b; x = on_line x a b, on_bline x a b, on_circle x a b ? midp x a b",
            "contradict each other",
        ),
        ("a b = segment a b; m = midpoint m a b; x y = tangent x y m a b ? cong m x m y", "misses or only touches"),
        ("a b = segment a b; x = on_circle x a b, on_circle x a b ? cong a x a b", "the same centre"),
        ("a b = segment a b; x = on_aline x a b a a b ? coll a b x", "coinciding points"),
    ],
)
def test_a_degenerate_statement_says_why(text: str, why: str) -> None:
    found = check(read(text))
    assert not found.configurations
    assert why in found.reason
    assert {one.outcome for one in found.outcomes} == {NOT_UNDERSTOOD}
    assert shown(text).drawing == ""


@pytest.mark.parametrize("text", true_statements()[::4])
def test_points_of_a_configuration_are_apart(text: str) -> None:
    for configuration in configurations(read(text), 50):
        points = list(configuration.points.values())
        assert min((abs(x - y) for i, x in enumerate(points) for y in points[:i]), default=1) >= LEAST_APART


def test_the_configurations_are_the_same_every_time() -> None:
    statement = read("a b c = triangle a b c; d = on_circum d a b c")
    first, second = (list(configurations(statement, 20)) for _ in range(2))
    assert [one.points for one in first] == [one.points for one in second]


def test_angles_are_those_of_lines_with_a_direction() -> None:
    # newclid's meaning: the angle from the first line to the second, so that a mirrored figure has another one.
    text = "a b c = ieq_triangle a b c ? aconst a b a c 60o; cong a b a c"
    assert [one.outcome for one in check(read(text)).outcomes] == ["refuted", "survived"]


def test_a_figure_is_drawn_for_each_statement_of_the_corpus() -> None:
    for text in true_statements():
        statement = read(text)
        drawn = svg(statement, check(statement).configurations[0])
        assert drawn.count("<text ") == len(statement.points)
        assert "nan" not in drawn
