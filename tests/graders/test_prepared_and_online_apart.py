"""Costs of a grading are reported separately: pieces prepared for every script of the problem, and this script."""

import pytest

from apps.reasoning.domain.errors import RequestRejected
from apps.reasoning.domain.records import StepRecord
from apps.reasoning.domain.spending import OFFLINE, Amount, Spending, spending_of, spending_recorded
from apps.reasoning.graders.registry import GRADERS
from tests.graders.answers import FOLLOWS
from tests.graders.grade import REFERENCES, SCRIPT, grade, grading

WITH_RUBRIC = ("ref5_plain", "ref5_approachability", "ref5_milestones", "ref5_hybrid")


def test_amounts_are_sorted_by_the_role_that_spent_them() -> None:
    found = spending_of(
        [
            ("clusterer", Amount(calls=1, prompt_tokens=100, completion_tokens=10)),
            ("grader", Amount(calls=2, prompt_tokens=30, completion_tokens=3)),
            ("designer", Amount(calls=1, prompt_tokens=200, completion_tokens=20)),
            ("matcher", Amount(calls=1, prompt_tokens=5, completion_tokens=1)),
        ]
    )
    assert found.prepared == Amount(calls=2, prompt_tokens=300, completion_tokens=30)
    assert found.online == Amount(calls=3, prompt_tokens=35, completion_tokens=4)
    assert (found.total.calls, found.total.tokens) == (5, 369)
    assert spending_of([]) == Spending()


def test_each_role_that_prepares_is_one_of_a_grader() -> None:
    assert {role.name for grader in GRADERS.values() for role in grader.roles} >= OFFLINE


@pytest.mark.parametrize("workflow", WITH_RUBRIC)
async def test_after_the_first_script_two_calls_are_online_and_nothing_is_prepared(workflow: str) -> None:
    first = await grade(workflow, FOLLOWS, references=REFERENCES)
    second = await grade(workflow, FOLLOWS, references=REFERENCES, prepared=first.pieces, script=SCRIPT + "\n\nDone.")
    costs = [spending_recorded(one.journal.records) for one in (first, second)]
    assert [(cost.prepared.calls, cost.online.calls) for cost in costs] == [(3, 2), (0, 2)]
    assert costs[0].prepared == Amount(calls=3, prompt_tokens=30, completion_tokens=15)
    assert costs[1].online == Amount(calls=2, prompt_tokens=20, completion_tokens=10)
    assert costs[0].total.calls == first.journal.spent.calls
    assert costs[0].total.tokens == first.journal.spent.tokens


async def test_a_second_question_and_a_call_that_failed_count_where_their_role_does() -> None:
    table = {**FOLLOWS, "cluster": "I like turtles.", "cluster/again": FOLLOWS["cluster"]}
    again = await grade("ref3", table, references=REFERENCES)
    found = spending_recorded(again.journal.records)
    assert (found.prepared.calls, found.online.calls) == (2, 2)
    failed = await grade("single_turn", {"*": RequestRejected("It is too long.")})
    assert spending_recorded(failed.journal.records).online.calls == 1


def test_what_a_fork_took_over_and_what_a_tool_did_cost_nothing() -> None:
    records = [StepRecord(key="a", role="analyst", attempt=0), StepRecord(key="b", role="grader", kind="decision", value={})]
    assert spending_recorded(records) == Spending()


async def test_a_grader_without_references_prepares_nothing() -> None:
    run = await grade("single_turn", {"grade": grading(3)})
    assert spending_recorded(run.journal.records).prepared == Amount()
