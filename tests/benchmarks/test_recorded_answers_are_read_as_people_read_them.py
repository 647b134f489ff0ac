"""The corpus of recorded answers: nothing else is read in them than the labels say, and no whole proof is lost."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.reading.corpus import ANSWERS, Answer, answers_of, answers_read, answers_write, merged
from benchmarks.reading.labels import Extent, Label, Right, labels_read
from benchmarks.reading.measured import Measured, Outcome, tallied
from benchmarks.reading.recorded import corpus_measured

#: Open faults of readers with the answers that show them. A new one is a failure; one that is mended goes from this list.
FAULTS = {
    "an own solution that was cut off is read instead of the unchanged one of the second answer": ("7194a4752466",),
    "words of the task and sentences that say nothing about the problem are read as a solution": (
        "4a98c5a9b880", "9a9aa2a92443", "a67928242943", "cb07976f2260", "ea615505c90f",
    ),
    "babble in a loop is read as a condensed text": ("3c6997b74413", "495445edc638", "dab605a98a96"),
}  # fmt: skip
OPEN = {answer for answers in FAULTS.values() for answer in answers}
LARGEST_BYTES = 1_000_000
ROW: dict[str, Any] = {
    "alias": "tiny",
    "revision": "tiny 1",
    "problem": "two-means",
    "attempt": "right",
    "method": "self_check",
    "role": "verifier",
    "calls": [{"call": "ask/1", "prompt": "Examine this.", "text": "<decision>fail</decision>", "finish_reason": "stop"}],
}


@pytest.fixture(scope="module")
def measured() -> list[Measured]:
    return corpus_measured()


def test_nothing_else_is_read_than_the_labels_say(measured: list[Measured]) -> None:
    wrong = {one.name.split()[0]: f"{one.name}: {one.said[:200]}" for one in measured if one.outcome == "wrong"}
    assert [said for name, said in wrong.items() if name not in OPEN] == []
    assert set(wrong) >= OPEN, "a fault that is corrected leaves the list"


def test_no_whole_proof_of_a_first_answer_is_lost(measured: list[Measured]) -> None:
    assert [one for one in measured if one.is_lost and one.name.split()[0] not in OPEN] == []


def test_labels_are_many_and_of_both_models_and_each_says_one_thing() -> None:
    answers, labels = {one.id: one for one in answers_read()}, labels_read()
    assert set(labels) >= OPEN
    assert set(labels) <= set(answers)
    assert len(labels) >= 200
    assert len({answers[name].revision for name in labels}) == 2
    for label in labels.values():
        assert sum((label.value is not None, label.text is not None, bool(label.nothing), label.babble)) == 1, label.id


def test_the_corpus_is_small_and_written_alike_whatever_the_order_of_its_answers(tmp_path: Path) -> None:
    answers = answers_read()
    answers_write(reversed(answers), tmp_path / "again.gz")
    assert (tmp_path / "again.gz").read_bytes() == ANSWERS.read_bytes()
    assert ANSWERS.stat().st_size < LARGEST_BYTES


def test_the_same_texts_of_the_same_model_are_one_answer_and_others_are_another() -> None:
    other_text = ROW | {"calls": [ROW["calls"][0] | {"text": "<decision>pass</decision>"}]}
    rows = [ROW, ROW | {"method": "grouped_agents", "role": "verifier_1"}, ROW | {"revision": "tiny 2"}, other_text]
    found = merged(answers_of(rows))
    assert len(found) == 3
    assert max((one.asked for one in found), key=len) == (("grouped_agents", "verifier_1"), ("self_check", "verifier"))


def test_prompts_are_not_kept_and_a_row_without_a_text_is_left_out() -> None:
    (kept,) = answers_of([ROW, ROW | {"calls": [{"call": "ask/2"}]}])
    assert "Examine" not in kept.model_dump_json()
    assert Answer.model_validate_json(kept.model_dump_json(exclude_defaults=True)) == kept


@pytest.mark.parametrize(
    ("right", "read", "outcome"),
    [
        (Right(value={"score": 7.0}), {"score": 7.0}, "equal"),
        (Right(value={"score": 7.0}), {"score": 0.0}, "wrong"),
        (Right(value={"score": 7.0}), None, "unread"),
        (Right(nothing="an echo"), None, "equal"),
        (Right(nothing="an echo"), {"text": "…"}, "wrong"),
        (Right(babble=True), {"text": "…"}, "either"),
        (Right(text=Extent(begins="Let $n$", ends="holds.")), {"text": "## Proof\nLet  $n$ be.\n\nIt **holds**. QED"}, "equal"),
        (Right(text=Extent(begins="Let $n$", ends="holds.")), {"text": "It holds."}, "wrong"),
        (
            Right(text=Extent(begins="Let $n$", ends="holds.", without=("Your task",))),
            {"text": "Let $n$ … holds. Your task"},
            "wrong",
        ),
    ],
)
def test_what_is_read_is_compared_with_what_is_to_be_read(right: Right, read: dict[str, Any] | None, outcome: str) -> None:
    assert right.verdict(read) == outcome


def test_shares_leave_out_what_may_be_read_either_way_or_was_not_recorded() -> None:
    outcomes: tuple[Outcome, ...] = ("equal", "equal", "equal", "wrong", "either", "unrecorded")
    found = tallied("tiny", [Measured("tiny", str(at), one) for at, one in enumerate(outcomes)])
    assert (found.of, found.share) == (4, 0.75)
    assert found.interval[0] < 0.75 < found.interval[1]


def test_a_label_names_its_reader() -> None:
    label = json.loads('{"id": "a", "role": "self_check verifier", "by": "a model", "nothing": "an echo"}')
    with pytest.raises(ValueError, match="hand"):
        Label.model_validate(label)
