"""Where texts name lemmas."""

import pytest

from apps.reasoning.reading.mentions import mentions, relabel


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("by Lemma 3", ["3"]),
        ("Lemmas 2, 4 and 7 give", ["2", "4", "7"]),
        ("Lemmas 2–5", ["2", "3", "4", "5"]),
        ("Lemmas 2 to 4.", ["2", "3", "4"]),
        ("Lemma~3, lemma $4$, Lemma 7-fixed2", ["3", "4", "7-fixed2"]),
        ("Lemma s1.3-fixed and Lemma H1", ["s1.3-fixed", "H1"]),
        ("**Lemma 12.** Then", ["12"]),
        ("by Lemma 3 and 4 divides $n$", ["3"]),
        ("the lemma above, a dilemma 3", []),
        ("Lemma 3b", []),
    ],
)
def test_lemmas_are_found_by_name(text: str, labels: list[str]) -> None:
    assert [mention.label for mention in mentions(text)] == labels


def test_a_formula_right_after_a_mention_keeps_its_dollar() -> None:
    (mention,) = mentions("By Lemma 7-fixed $p$ does not divide it.")
    assert mention.quote == "Lemma 7-fixed"
    assert mentions("By Lemma $7$ it holds.")[0].quote == "Lemma $7$"


def test_a_mention_has_its_place() -> None:
    text = "Ω: so by Lemma 3 we are done."
    (mention,) = mentions(text)
    assert text[mention.start : mention.end] == mention.quote == "Lemma 3"


def test_labels_can_be_renamed_and_nothing_else_changes() -> None:
    text = "By Lemma 3 and Lemmas 4, 5 there are 3 cases."
    assert relabel(text, lambda label: f"s1.{label}") == "By Lemma s1.3 and Lemmas s1.4, s1.5 there are 3 cases."
