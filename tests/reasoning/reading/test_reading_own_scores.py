"""What a writer gives the own solution: read at the end of the answer, and only a value that was asked for."""

import pytest

from apps.reasoning.reading.choices import read_own_score
from tests.reasoning.play import final, proof

VALUES = (0.0, 0.5, 1.0)


@pytest.mark.parametrize(("said", "value"), [("0", 0.0), ("0.5", 0.5), ("1", 1.0), (" 1.0 ", 1.0)])
def test_a_value_that_was_asked_for_is_read(said: str, value: float) -> None:
    assert read_own_score(final(f"{proof('Done.')}\n<own-score>{said}</own-score>"), VALUES) == value


@pytest.mark.parametrize("said", ["0.7", "2", "-1", "one", "", "1/2", "nan"])
def test_any_other_value_is_none(said: str) -> None:
    assert read_own_score(final(f"{proof('Done.')}\n<own-score>{said}</own-score>"), VALUES) is None


@pytest.mark.parametrize(
    "text",
    [
        f"<think>I would say <own-score>1</own-score></think>{proof('Done.')}",
        proof("The form is <own-score>1</own-score>."),
        f"<own-score>1</own-score>{proof('Done.')}",
        f"<think>It never ends {proof('Done.')}<own-score>1</own-score>",
    ],
)
def test_one_in_the_thinking_or_in_the_solution_is_none(text: str) -> None:
    assert read_own_score(final(text), VALUES) is None
