"""Rows are checked; an invalid row is rejected with its place and the reason."""

from dataclasses import fields
from typing import Any

import pytest

from apps.recipes.mathematics.arrays import NotLearnable
from apps.recipes.mathematics.rows import COLUMNS, Leak, Row, check_row, groups_of


def row(**more: Any) -> Row:
    given = {
        "prompt_ids": (1,),
        "completion_ids": (2, 3),
        "loss_mask": (1, 0),
        "group_id": "g",
        "logprobs": (-1.0, float("nan")),
    }
    return Row(**(given | {"advantage": 1.0} | more))


def check(one: Row) -> None:
    check_row(one, "row 5", needs_logprobs=True, needs_advantage=True)


def test_columns_and_fields_are_the_same() -> None:
    assert {name for name, _ in COLUMNS} == {one.name for one in fields(Row)}


def test_numbers_under_the_mask_are_arbitrary() -> None:
    check(row())
    check(row(advantage=None, token_advantages=(0.5, float("inf"))))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"prompt_ids": ()}, "the prompt is empty"),
        ({"completion_ids": (), "loss_mask": (), "logprobs": ()}, "the completion is empty"),
        ({"logprobs": (-1.0,)}, "2 tokens, but 1 values of logprobs"),
        ({"loss_mask": (1, 2)}, "0 and 1"),
        ({"logprobs": None}, "only supervised recipes"),
        ({"advantage": None}, "no advantage"),
        ({"logprobs": (float("nan"), -1.0)}, "finite"),
        ({"reward": float("nan")}, "reward"),
        ({"advantage": float("inf")}, "advantage"),
    ],
)
def test_an_invalid_row_is_rejected_with_its_place(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(NotLearnable, match=words) as problem:
        check(row(**changes))
    assert str(problem.value).startswith("row 5")


def test_a_reserved_row_is_a_leak() -> None:
    with pytest.raises(Leak, match=r"P1.*benchmark"):
        check(row(split="benchmark", problem_id="P1"))


def test_groups_keep_the_order_of_their_first_rows() -> None:
    found = groups_of([row(group_id="b"), row(group_id="a"), row(group_id="b")])
    assert [(name, len(rows)) for name, rows in found.items()] == [("b", 2), ("a", 1)]
