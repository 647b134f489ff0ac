"""Levels are normalised; all lines determine the format of a JSONL file."""

import json
from importlib import import_module
from urllib.parse import urlencode

import pytest
from django.apps import apps
from django.db import connection
from django.http import QueryDict

from apps.accounts.models import User
from apps.problems.forms import ProblemEditor
from apps.problems.importing.plans import plan_make
from apps.problems.models import Problem
from apps.problems.selectors import filter_from, problem_list


@pytest.mark.django_db
@pytest.mark.parametrize("level", ["IMO-easy", "IMO easy", "imo easy", "IMO\u2013easy"])
def test_levels_are_normalised(level: str) -> None:
    row = {"title": "T", "topic": "A", "statement": "Prove it.", "level": level}
    assert plan_make(json.dumps(row).encode()).good[0].draft.level == "IMO easy"


@pytest.mark.django_db
def test_the_migration_normalises_stored_levels() -> None:
    for number, level in enumerate(("IMO-easy", "imo medium", "IMO easy", "Regional, hard", "")):
        Problem.objects.create(slug=f"p{number}", title="T", topic="A", level=level)
    import_module("apps.problems.migrations.0004_levels_in_one_spelling").spell(apps, connection.schema_editor())
    levels = list(Problem.objects.order_by("slug").values_list("level", flat=True))
    assert levels == ["IMO easy", "IMO medium", "IMO easy", "Regional, hard", ""]


def test_forms_and_filters_normalise_levels(alice: User) -> None:
    data = {"title": "T", "topic": "A", "statement": "Prove it.", "level": " imo-HARD ", "solutions-TOTAL_FORMS": "0"}
    editor = ProblemEditor(QueryDict(urlencode({**data, "solutions-INITIAL_FORMS": "0"})))
    assert editor.is_valid()
    assert editor.draft().level == "IMO hard"
    Problem.objects.create(slug="p", title="T", topic="A", level="IMO hard")
    assert problem_list(Problem.objects.all(), filter_from({"level": "IMO-hard"})).count() == 1


@pytest.mark.django_db
def test_an_incomplete_first_line_is_skipped_alone() -> None:
    rows = [{"title": "T", "topic": "A"}, {"title": "U", "topic": "A", "statement": "Prove it."}]
    plan = plan_make("\n".join(map(json.dumps, rows)).encode())
    assert ([int(row.where) for row in plan.wrong], [int(row.where) for row in plan.good]) == ([1], [2])
