"""Every named address with every stored id: for tests that a user cannot read certain data at any address."""

import uuid
from collections.abc import Iterator
from typing import Any

from django.urls import URLPattern, URLResolver
from django.urls.converters import IntConverter

from apps.contests.models import ContestProblem
from apps.marks.models import Appeal, Coordination, MarkingCase, MarkingTask, Pass
from apps.results.models import FeedbackRequest

UNKNOWN_ID = uuid.UUID("5e1f0a3c-9c1b-4b43-8f2d-0b8f6f1f7c11")


def every_pattern(patterns: list[Any], namespace: str = "") -> Iterator[tuple[str, URLPattern]]:
    """Yield every named address of the project."""
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from every_pattern(
                pattern.url_patterns, f"{namespace}{pattern.namespace}:" if pattern.namespace else namespace
            )
        elif pattern.name:
            yield f"{namespace}{pattern.name}", pattern


def filled(pattern: URLPattern, problem: ContestProblem) -> Iterator[dict[str, object]]:
    """Yield every combination of arguments for an address, with the ids of a problem and its contest."""
    values: dict[str, list[object]] = {
        "task_id": [task.public_id for task in MarkingTask.objects.all()],
        "case_id": [case.public_id for case in MarkingCase.objects.all()],
        "coordination_id": [*(one.public_id for one in Coordination.objects.all()), UNKNOWN_ID],
        "appeal_id": [*(appeal.public_id for appeal in Appeal.objects.all()), UNKNOWN_ID],
        "problem_id": [problem.public_id],
        "request_id": [*(request.public_id for request in FeedbackRequest.objects.all()), UNKNOWN_ID],
        "pass_id": [*Pass.objects.values_list("pk", flat=True), 1],
        "name": ["scheme", "problem", "solutions", "source", "comments"],
        "verb": ["claim", "remark", "propose", "sign", "rule"],
        "contest_id": [problem.contest.public_id],
        "version_id": [case.version.public_id for case in MarkingCase.objects.select_related("version")],
        "paper_id": [paper.public_id for paper in problem.contest.papers.all()],
        "number": [paper.number for paper in problem.contest.papers.all()],
        "form": ["csv", "jsonl"],
    }
    rows: list[dict[str, object]] = [{}]
    for name, converter in pattern.pattern.converters.items():
        is_number = isinstance(converter, IntConverter)
        known = values.get(name, [1] if is_number else [UNKNOWN_ID])
        fit = [value for value in known if isinstance(value, int) or not is_number] or [1]
        rows = [{**row, name: value} for row in rows for value in fit]
    yield from rows
