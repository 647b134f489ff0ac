"""The maximum of imported points comes from the file or its contest; there is no default."""

from decimal import Decimal

import pytest

from apps.files.values import RowWrong
from apps.submissions.importing.shapes import Judgement, draft_read


def judged(shape: str = "Lemmascope", **values: object) -> Judgement | None:
    return draft_read(values, shape).judgement


def rated(problem: str, **columns: object) -> Judgement | None:
    made = {"proof": "So it is.", "human_rating": 3}
    return judged("DeepSeekMath-V2", problem_idx=problem, model_prediction=made, **columns)


@pytest.mark.parametrize("column", ["out_of", "max"])
def test_a_row_states_its_maximum(column: str) -> None:
    found = judged(author="a", problem="1", text="t", points="5", **{column: "10"})
    assert found == Judgement(Decimal(5), Decimal(10))


def test_points_without_a_maximum_are_refused() -> None:
    with pytest.raises(RowWrong, match=r"The maximum for 5 points is missing\. Add a column out_of"):
        judged(author="a", problem="1", text="t", points="5")


@pytest.mark.parametrize(("problem", "most"), [("Putnam-2024-A1", 10), ("IMO2025-1", 7)])
def test_the_contest_determines_the_maximum_of_a_deepseek_rating(problem: str, most: int) -> None:
    assert rated(problem) == Judgement(Decimal(3), Decimal(most))


def test_a_rating_with_an_ambiguous_maximum_is_refused() -> None:
    with pytest.raises(RowWrong, match="maximum for 3 points is missing"):
        rated("CMO-2024-1")
    assert rated("Putnam-2024-A1", out_of=7) == Judgement(Decimal(3), Decimal(7)), "the maximum in the row has priority"
    assert rated("CMO-2024-1", out_of=21) == Judgement(Decimal(3), Decimal(21))
