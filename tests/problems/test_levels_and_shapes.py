"""Levels that differ by a dash are one; the shape of a JSONL file is that of all its lines."""

import json

import pytest

from apps.problems.importing.plans import plan_make


@pytest.mark.django_db
@pytest.mark.parametrize("level", ["IMO-easy", "IMO easy", "imo easy", "IMO\u2013easy"])
def test_levels_are_spelled_as_ours(level: str) -> None:
    row = {"title": "T", "topic": "A", "statement": "Prove it.", "level": level}
    assert plan_make(json.dumps(row).encode()).good[0].draft.level == "IMO easy"


@pytest.mark.django_db
def test_a_first_line_that_lacks_a_name_costs_itself_only() -> None:
    rows = [{"title": "T", "topic": "A"}, {"title": "U", "topic": "A", "statement": "Prove it."}]
    plan = plan_make("\n".join(map(json.dumps, rows)).encode())
    assert ([row.number for row in plan.wrong], [row.number for row in plan.good]) == ([1], [2])
