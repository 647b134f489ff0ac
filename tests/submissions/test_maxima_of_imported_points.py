"""Points that came with imported papers are out of what the file or its contest says; nothing is presumed."""

from decimal import Decimal

import pytest

from apps.problems.importing.files import Record
from apps.problems.importing.values import RowWrong
from apps.submissions.importing.shapes import Judgement, draft_read


def judged(shape: str = "Lemmascope", **values: object) -> Judgement | None:
    return draft_read(Record(1, values), shape).judgement


def rated(problem: str, **columns: object) -> Judgement | None:
    made = {"proof": "So it is.", "human_rating": 3}
    return judged("DeepSeekMath-V2", problem_idx=problem, model_prediction=made, **columns)


@pytest.mark.parametrize("column", ["out_of", "max"])
def test_a_row_tells_its_maximum(column: str) -> None:
    found = judged(author="a", problem="1", text="t", points="5", **{column: "10"})
    assert found == Judgement(Decimal(5), Decimal(10))


def test_points_without_a_maximum_are_refused() -> None:
    with pytest.raises(RowWrong, match=r"It gives 5 points but not out of how many\. Add a column out_of"):
        judged(author="a", problem="1", text="t", points="5")


@pytest.mark.parametrize(("problem", "most"), [("Putnam-2024-A1", 10), ("IMO2025-1", 7)])
def test_a_rating_of_deepseek_is_out_of_what_its_contest_has(problem: str, most: int) -> None:
    assert rated(problem) == Judgement(Decimal(3), Decimal(most))


def test_a_rating_of_a_contest_that_leaves_the_maximum_open_is_refused() -> None:
    with pytest.raises(RowWrong, match="3 points but not out of how many"):
        rated("CMO-2024-1")
    assert rated("Putnam-2024-A1", out_of=7) == Judgement(Decimal(3), Decimal(7)), "what the row says comes first"
    assert rated("CMO-2024-1", out_of=21) == Judgement(Decimal(3), Decimal(21))
