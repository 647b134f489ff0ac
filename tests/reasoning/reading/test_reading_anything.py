"""Whatever a model writes, the readers answer: a value or a reason, never an exception, and never slowly."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.reasoning.domain.values import Unscored
from apps.reasoning.graph.statements import normalise_statement
from apps.reasoning.reading.answers import read_json
from apps.reasoning.reading.foreign import clean
from apps.reasoning.reading.mentions import mentions
from apps.reasoning.reading.proofs import ReadProof, read_claim, read_proof
from apps.reasoning.reading.summaries import read_summary
from apps.reasoning.reading.votes import read_lemma_vote, read_proof_vote
from tests.reasoning.play import final

PIECES = st.sampled_from(
    [
        "<verdict>", "</verdict>", "-1", "2", "LEMMA 3", '<check step="1" sound="no">', "</check>", '<lemma number="1">',
        "</lemma>", "<statement>", "</statement>", "<step>", "</step>", "<proof>", "</proof>", "<no-proof>", "</no-proof>",
        "<think>", "</think>", "<claim>", "</claim>", "complete", "\\boxed{STEP2}", "{", "}", '"', "\\", "$", "Lemma 3",
        "Lemmas 1, 2",
        "\n\n", "```json\n", "```", "x", "\u202e", "<|im_end|>", "correct",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES | st.text(max_size=8), max_size=30).map("".join)


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_every_text_is_read_or_unread_with_a_reason(text: str) -> None:
    end = final(text)
    for vote in (read_lemma_vote(end, 3), read_proof_vote(end, 3)):
        assert vote.is_valid or (vote.unscored is not None and vote.unscored.reason)
    for result in (read_summary(end), read_proof(end), read_claim(end)):
        assert not isinstance(result, Unscored) or result.reason
    for mention in mentions(text):
        assert text[mention.start : mention.end] == mention.quote


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_cleaned_text_holds_no_answer_and_cleaning_twice_changes_nothing(text: str) -> None:
    cleaned = clean(text).text
    assert clean(cleaned).text == cleaned
    assert not read_lemma_vote(final(cleaned), 3).is_valid or cleaned.lstrip().startswith(("{", "```json"))
    proof = read_proof(final(cleaned))
    assert not isinstance(proof, ReadProof) or proof.way in ("whole", "heading")
    assert isinstance(read_claim(final(cleaned)), Unscored)


@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_normal_forms_are_stable(text: str) -> None:
    assert normalise_statement(text) == normalise_statement(f"  {text}  ")


@pytest.mark.parametrize(
    "piece",
    [
        "<check ", "<lemma number=", "<step>", "<proof>", "<verdict>", "\n", "\\", "<think>", "Lemmas 1, ", "$", "```\n",
        "<", "\\(", "# ", " #", "<<<CONTENT 12ab>>>\n", ".",
    ],
)  # fmt: skip
def test_a_text_that_repeats_itself_is_read_in_time(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    began = time.process_time()
    read_lemma_vote(final(text), 3)
    read_summary(final(text))
    read_proof(final(text), f"## Problem\n<<<CONTENT 34cd>>>\nProve it.\n<<<END 34cd>>>\n\n## Solution\n{text[:2_000]}")
    read_proof(final(f"<no-proof>{text}</no-proof>"))
    mentions(text)
    clean(text)
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r"x\ud83dy", "x\ufffdy"),
        (r"\ude00\ud83d", "\ufffd\ufffd"),
        (r"\ud83d\ud83d\ude00", "\ufffd\U0001f600"),
        (r"\ud83d\ude00", "\U0001f600"),
        (r"\\ud83d", r"\ud83d"),
    ],
)
def test_half_of_a_surrogate_pair_becomes_the_replacement_character(written: str, read: str) -> None:
    """A model may write one as an escape, and no database keeps it."""
    assert read_json(f'{{"a": "{written}"}}') == {"a": read}


def test_a_zero_character_and_keys_are_replaced_too() -> None:
    assert read_json('{"\\ud83d": ["\\u0000"]}') == {"\ufffd": ["\ufffd"]}


@pytest.mark.parametrize(
    "body",
    ["[" * 3_000, "[" * 3_000 + "]" * 3_000, "[" * 100_000, "1" * 5_000],
    ids=["open", "deep", "deepest", "a long number"],
)
def test_json_that_cannot_be_decoded_is_no_json(body: str) -> None:
    assert read_json(f'{{"a": {body}}}') is None
    assert read_lemma_vote(final(f'{{"a": {body}}}'), 3).unscored is not None
