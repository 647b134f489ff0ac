"""Every reader survives every recorded answer, whole and cut off, in whatever role it was given: a fault would end the run."""

from collections.abc import Callable
from typing import Any

import pytest

from apps.reasoning.domain.generation import Final
from benchmarks.reading.corpus import answers_read
from tests.reasoning.test_thinking_is_never_an_answer import READERS

TEXTS = sorted({said.text for answer in answers_read() for said in answer.said})
STARTS = ("## Results\n", "**Lemma 1.** ", "<proof>", '{"steps": [', "```json\n", "## Solution\n<<<CONTENT 0>>>\n")


@pytest.mark.parametrize("name", READERS)
def test_a_reader_reads_or_says_why_not(name: str) -> None:
    reader: Callable[[Final], Any] = READERS[name][0]
    for text in TEXTS:
        for written in (text, text[: len(text) // 2], text[len(text) // 3 :]):
            for finish in ("stop", "length"):
                reader(Final.model_validate({"text": written, "finish_reason": finish, "duration_s": 0.1}))


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("start", STARTS)
def test_so_does_one_of_what_begins_a_structure_and_brings_none(name: str, start: str) -> None:
    for rest in ("", "Nothing.", "\n\n", "## Another\n1. Two\n3. Four", "<step>", "…"):
        for finish in ("stop", "length"):
            READERS[name][0](Final.model_validate({"text": start + rest, "finish_reason": finish, "duration_s": 0.1}))
