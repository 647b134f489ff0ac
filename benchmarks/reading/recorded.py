"""The corpus against its labels. An answer that several programs were given counts once, by its worst reading."""

import asyncio
from collections.abc import Mapping, Sequence

from apps.reasoning.reading.examinations import UNEXAMINED
from benchmarks.reading.corpus import Answer, answers_read
from benchmarks.reading.labels import Label, labels_read
from benchmarks.reading.measured import Measured, Outcome
from benchmarks.reading.replay import Replayed, replayed

_WORST: Sequence[Outcome] = ("wrong", "unread", "unrecorded", "either", "equal")


def corpus_measured() -> list[Measured]:
    """What became of every labelled answer, as the programs read today."""
    return asyncio.run(_measured(answers_read(), labels_read()))


async def _measured(answers: Sequence[Answer], labels: Mapping[str, Label]) -> list[Measured]:
    found = []
    for answer in answers:
        if label := labels.get(answer.id):
            each = [_of_role(answer, label, role, await replayed(answer, *role)) for role in answer.asked]
            found.append(min(each, key=lambda one: _WORST.index(one.outcome)))
    return found


def _of_role(answer: Answer, label: Label, role: tuple[str, str], read: Replayed) -> Measured:
    outcome: Outcome = label.verdict(read.value)
    if label.near_copy and outcome != "equal":
        outcome = "either"
    elif _is_of_another_question(label, read, outcome):
        outcome = "unrecorded"
    name = f"{answer.id} {' '.join(role)} {answer.attempt}, {answer.problem}"
    said = read.reason if read.value is None else str(read.value)
    is_lost = label.first_is_whole and outcome in ("unread", "wrong")
    return Measured(f"corpus: {answer.revision.split()[0]}", name, outcome, said, is_lost)


def _is_of_another_question(label: Label, read: Replayed, outcome: Outcome) -> bool:
    """Does the program ask today what it did not ask when the answer was recorded?"""
    if read.is_unrecorded and (outcome == "equal" or label.is_fragment):
        return True
    is_less = read.asked_less and label.answer == 2 and outcome == "unread"
    return is_less or (outcome != "equal" and (label.older_question or read.reason == UNEXAMINED))
