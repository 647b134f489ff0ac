"""Every reader handles every recorded answer, whole and cut off, of any role: an exception would end the run."""

from collections.abc import Callable
from typing import Any

import pytest

from apps.reasoning.domain.generation import Final
from benchmarks.reading.corpus import answers_read
from tests.reasoning.reading.test_thinking_is_never_an_answer import READERS

TEXTS = sorted({said.text for answer in answers_read() for said in answer.said})
STARTS = ("## Results\n", "**Lemma 1.** ", "<proof>", '{"steps": [', "```json\n", "## Solution\n<<<CONTENT 0>>>\n")


@pytest.mark.parametrize("name", READERS)
def test_a_reader_reads_an_answer_or_gives_a_reason(name: str) -> None:
    reader: Callable[[Final], Any] = READERS[name][0]
    for text in TEXTS:
        for written in (text, text[: len(text) // 2], text[len(text) // 3 :]):
            for finish in ("stop", "length"):
                reader(Final.model_validate({"text": written, "finish_reason": finish, "duration_s": 0.1}))


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("start", STARTS)
def test_a_reader_handles_the_beginning_of_a_structure_that_does_not_follow(name: str, start: str) -> None:
    for rest in ("", "Nothing.", "\n\n", "## Another\n1. Two\n3. Four", "<step>", "…"):
        for finish in ("stop", "length"):
            READERS[name][0](Final.model_validate({"text": start + rest, "finish_reason": finish, "duration_s": 0.1}))
