"""The language JGEX: both spellings, errors that name the place, and texts of every kind without a crash."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.geometry.checking import check
from apps.geometry.constructions import CONSTRUCTIONS
from apps.geometry.predicates import PREDICATES
from apps.geometry.showing import shown
from apps.geometry.statement import MOST_POINTS, StatementError, read
from tests.geometry.corpus import false_statements, true_statements

ORTHOCENTRE = "a b c = triangle a b c; h = orthocenter h a b c ? perp a h b c"


@pytest.mark.parametrize(
    "text",
    [
        ORTHOCENTRE,
        "a b c : triangle a b c; h : orthocenter h a b c ? perp a h b c",
        "orthocentre_problem\na b c = triangle a b c; h = orthocenter h a b c ? perp a h b c",
        "a b c = triangle; h = orthocenter a b c ? perp a h b c",
        "a b c = triangle a b c | h = orthocenter h a b c ? perp a h b c",
        "# a comment; with = signs\na b c = triangle\n  a b c;\nh = orthocenter h a b c;\n? perp a h b c;",
    ],
)
def test_all_spellings_give_the_same_statement(text: str) -> None:
    assert str(read(text)) == ORTHOCENTRE


@pytest.mark.parametrize("text", [*true_statements(), *false_statements()])
def test_the_canonical_text_is_read_as_the_same_statement(text: str) -> None:
    assert read(str(read(text))) == read(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "a b c = triangle a b c; h = ortocenter h a b c",
            "Line 1, character 29: unknown construction “ortocenter”. Do you mean “ortho",
        ),
        ("a b c = triangle a b c;\nh = foot h a b d", "Line 2, character 16: the point “d” is not constructed before."),
        ("a b c = triangle a b c; h = foot h a b", "Write: foot x a b c."),
        ("a b c = triangle a b c; a = foot a a b c", "the point “a” exists already"),
        ("a b c = triangle a b c; x y = foot x a b c", "“foot” makes 1 point, not 2"),
        ("a b c = triangle a b d", "the point “d” is not constructed before"),
        ("a b c = triangle a b c; h orthocenter h a b c", "no “=”"),
        ("a b c = triangle a b c ? prep a b a c", "Do you mean “perp”?"),
        ("a b c = triangle a b c ? perp a b c", "Write: perp a b c d."),
        ("a b c = triangle a b c ? perp a a b c", "“a a” is no line"),
        ("a b c = triangle a b c ? coll a b a", "names a point twice"),
        ("a b c = triangle a b c ? perp a b a c ? para a b a c", "a second “?”"),
        ("a b c = triangle a b c ?", "no goal after “?”"),
        ("a b c = triangle a b c ? aconst a b a c 60", "Write 60o or 1pi/3"),
        ("a b c = triangle a b c ? rconst a b a c 1/0", "divides by 0"),
        ("a b c = triangle a b c; d = lconst d a 0", "Write a positive number"),
        ("a b c = triangle a b c; x = on_line x a a", "uses the point “a” only"),
        ("a b c = triangle a b c; x = free x, on_line x a c", "places its points alone"),
        ("1a = free 1a", "no name of a point"),
        ("", "no construction"),
        ("x" * 5000, "longer than 4,000 characters"),
    ],
)
def test_an_error_names_the_place_and_what_to_write(text: str, said: str) -> None:
    with pytest.raises(StatementError) as error:
        read(text)
    assert said in str(error.value)


def test_too_many_points_are_rejected() -> None:
    with pytest.raises(StatementError, match="more than 40 points"):
        read("; ".join(f"p{i} = free p{i}" for i in range(MOST_POINTS + 1)))


def test_names_of_older_versions_are_read() -> None:
    assert str(read("a b c d = quadrangle a b c d ? eqangle6 a b a c a d a c").goals[0]) == "eqangle a b a c a d a c"


WORDS = [*CONSTRUCTIONS, *PREDICATES, *"abcdexyz=:;,?|#\n", "1/2", "60o", "1pi/3", "0", "-1", "a1", "é", "$", "''", "  "]


@given(st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join) | st.text(max_size=300))
@settings(max_examples=600, deadline=2000)
def test_any_text_gives_a_statement_or_an_error(text: str) -> None:
    found = shown(text)
    assert found.error or found.check is not None


@given(st.sampled_from(true_statements()), st.integers(0, 400), st.sampled_from([*WORDS, ""]))
@settings(max_examples=200, deadline=4000)
def test_a_changed_statement_does_not_crash_the_check(text: str, place: int, word: str) -> None:
    words = text.split(" ")
    words[place % len(words)] = word
    try:
        statement = read(" ".join(words))
    except StatementError:
        return
    check(statement)
