"""Editing a sentence never moves a verdict to another sentence."""

import time

from hypothesis import given
from hypothesis import strategies as st

from apps.reasoning.texts.anchors import anchor_make
from apps.reasoning.texts.revision import anchor_carried, steps_mapped
from apps.reasoning.texts.segmentation import segment
from apps.reasoning.texts.source import source_of
from tests.texts.made import examples

SENTENCES = st.lists(
    st.sampled_from(["Similarly, for $y$ it holds.", "Similarly, for $z$ it holds.", "Let $x>0$.", "So $x=1$.", "Done."]),
    max_size=8,
).map("\n\n".join)


def fates(old: str, new: str) -> list[tuple[str, int | None]]:
    return [(fate.fate, fate.number) for fate in steps_mapped(segment(old), segment(new))]


@examples(200)
@given(SENTENCES, SENTENCES)
def test_a_kept_step_says_exactly_the_same_and_no_two_become_one(old: str, new: str) -> None:
    before, after = segment(old), segment(new)
    found = steps_mapped(before, after)
    assert [fate.old for fate in found] == [step.number for step in before]
    kept = [fate for fate in found if fate.fate == "kept"]
    assert len({fate.number for fate in kept}) == len(kept)
    for fate in kept:
        assert fate.number is not None
        assert before[fate.old - 1].text_in(old) == after[fate.number - 1].text_in(new)


@examples(100)
@given(SENTENCES)
def test_an_unchanged_text_keeps_every_step(text: str) -> None:
    assert fates(text, text) == [("kept", step.number) for step in segment(text)]


@examples(150)
@given(SENTENCES.filter(bool), SENTENCES, st.data())
def test_a_carried_anchor_quotes_the_same_words(old: str, new: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(old) - 1))
    anchor = anchor_make(old, start, data.draw(st.integers(start + 1, len(old))))
    before, after = segment(old), segment(new)
    carried = anchor_carried(anchor, old, before, new, after, steps_mapped(before, after))
    if carried is not None:
        assert carried.quote == anchor.quote
        assert new[carried.start : carried.end] == carried.quote


def test_a_changed_step_needs_a_word_and_the_others_are_kept() -> None:
    old, new = "One.\n\nTwo is $2$.\n\nThree.", "One.\n\nTwo is $3$.\n\nThree."
    assert fates(old, new) == [("kept", 1), ("needs confirmation", 2), ("kept", 3)]


def test_a_removed_step_is_reported_and_a_moved_one_is_kept() -> None:
    assert fates("One.\n\nTwo.\n\nThree.", "Three.\n\nOne.") == [("kept", 2), ("orphaned", None), ("kept", 1)]


def test_similar_steps_are_distinguished_by_their_neighbours() -> None:
    old = "Let $a>0$.\n\nSimilarly.\n\nLet $b>0$.\n\nSimilarly.\n\nDone."
    assert fates(old, old) == [("kept", 1), ("kept", 2), ("kept", 3), ("kept", 4), ("kept", 5)]
    new = "Let $a>0$.\n\nLet $b>0$.\n\nSimilarly.\n\nDone."
    assert fates(old, new)[1][0] == "orphaned"
    assert fates(old, new)[3] == ("kept", 3)


def test_a_verdict_in_a_kept_step_moves_with_it_and_one_over_a_changed_step_does_not() -> None:
    old = source_of("Intro.\r\n\r\nBy $x$, the 𝔽-claim holds.\r\n\r\nEnd.")
    new = source_of("A longer intro, of course.\n\nBy $x$, the 𝔽-claim holds.\n\nEnd.")
    before, after = segment(old), segment(new)
    found = steps_mapped(before, after)
    place = old.index("𝔽")
    carried = anchor_carried(anchor_make(old, place, place + 7), old, before, new, after, found)
    assert carried is not None
    assert (carried.quote, carried.start) == ("𝔽-claim", new.index("𝔽"))
    assert anchor_carried(anchor_make(old, 0, place + 7), old, before, new, after, found) is None


def test_thousands_of_steps_that_look_alike_are_mapped_quickly() -> None:
    old, new = "- Clear.\n" * 3_000, "- Clear.\n" * 2_999 + "- Not so.\n"
    start = time.perf_counter()
    found = fates(old, new)
    assert time.perf_counter() - start < 10
    assert {fate for fate, _ in found} == {"kept", "needs confirmation"}
