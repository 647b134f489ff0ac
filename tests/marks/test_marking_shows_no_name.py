"""No address of marking shows a word of an anonymous roster to a marker, in pages, headers, file names or errors."""

import json
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, reverse

from apps.accounts.models import Role, User
from apps.contests.models import ContestProblem
from apps.marks import urls
from apps.marks.models import Coordination, MarkingTask, PassReason
from apps.marks.selectors import PANES
from apps.marks.setups import cases_prepare
from apps.marks.workspace.passes import task_pass
from apps.submissions.models import Origin, Submission, TextFormat
from apps.submissions.services import version_add
from tests.contests.factory import TEXT, enter
from tests.marks.factory import ONE_PLACE, claimed, commanded, past_grace, problem_to_mark, sealed, task_whole

ClientFor = Callable[[User | None], Client]
SECRETS = ("Zebulon", "Quartermaine", "quartermaine7", "zq@example.org", "Hohenstein")


def student_named() -> User:
    """Create a student whose name occurs nowhere else."""
    return User.objects.create_user(
        "quartermaine7", "zq@example.org", role=Role.STUDENT, first_name="Zebulon", last_name="Quartermaine"
    )


def problem_of(bob: User, dana: User, student: User) -> ContestProblem:
    """Create a problem with two markers for each script and three scripts of the named student."""
    problem = problem_to_mark(bob, dana, scripts=2, markers=2)
    paper, _ = enter(problem.contest, student, "Gymnasium Hohenstein")
    submission = Submission.objects.create(paper=paper, problem=problem)
    version_add(submission=submission, text=TEXT, text_format=TextFormat.MARKDOWN, origin=Origin.TYPED)
    for number, identity in enumerate(problem.contest.identities.filter(person=None)):
        identity.name, identity.school = f"Zebulon Quartermaine {number}", "Hohenstein"
        identity.save()
    cases_prepare(problem)
    return problem


def tasks_of(problem: ContestProblem, dana: User, bob: User) -> list[MarkingTask]:
    """Return a task of Dana's in every state: sealed and disputed, with a question, held with a draft."""
    first = claimed(problem, dana)
    past_grace(sealed(first, dana, ("points", {"points": 7})))
    other = MarkingTask.objects.get(case=first.case, slot__in=("first", "second"), assignee=None)
    MarkingTask.objects.filter(pk=other.pk).update(assignee=bob)
    other.refresh_from_db()
    past_grace(sealed(task_whole(other), bob, ("points", {"points": 2}), ("verdict", ONE_PLACE)))
    second = claimed(problem, dana)
    task_pass(task=second, user=dana, reason=PassReason.APPROACH, words="Is this known?")
    third = claimed(problem, dana)
    commanded(third, dana, "verdict", **ONE_PLACE)
    return [first, second, third]


@pytest.fixture
def problem(bob: User, dana: User) -> ContestProblem:
    return problem_of(bob, dana, student_named())


@pytest.fixture
def tasks(problem: ContestProblem, dana: User, bob: User) -> list[MarkingTask]:
    return tasks_of(problem, dana, bob)


def values_of(pattern: URLPattern, problem: ContestProblem, tasks: list[MarkingTask]) -> Iterator[dict[str, Any]]:
    """Yield arguments for an address: one real id of each kind, and made-up values for the rest."""
    wanted = set(pattern.pattern.converters)
    of: dict[str, list[Any]] = {
        "problem_id": [problem.public_id],
        "contest_id": [problem.contest.public_id],
        "task_id": [task.public_id for task in tasks],
        "case_id": [task.case.public_id for task in tasks],
        "coordination_id": [row.public_id for row in Coordination.objects.all()] or [uuid.uuid4()],
        "name": list(PANES),
        "pass_id": [1],
        "verb": ["claim"],
        "kind": ["answer", "beginning"],
        "shared_id": [1],
    }
    rows: list[dict[str, Any]] = [{}]
    for name in sorted(wanted):
        rows = [{**row, name: value} for row in rows for value in of.get(name, ["x"])]
    yield from rows


def answers(client: Client, problem: ContestProblem, tasks: list[MarkingTask]) -> Iterator[tuple[str, Any]]:
    """Yield the response of every address of marking to a GET, to an invalid POST and to a form."""
    nonsense = json.dumps(
        {"verb": "tick", "args": {"code": "Z9"}, "id": str(uuid.uuid4()), "row_version": 0, "reason": "unsure"}
    )
    for pattern in urls.urlpatterns:
        for values in values_of(pattern, problem, tasks):
            url = reverse(f"marks:{pattern.name}", kwargs=values)
            yield f"GET {url}", client.get(url, follow=True)
            yield f"POST {url} (JSON)", client.post(url, nonsense, content_type="application/json", follow=True)
            yield f"POST {url} (form)", client.post(url, {"words": "x", "answer": ""}, follow=True)


def test_a_marker_reads_no_name_at_any_address_of_marking(
    problem: ContestProblem, tasks: list[MarkingTask], dana: User, client_for: ClientFor
) -> None:
    seen = set()
    for what, answer in answers(client_for(dana), problem, tasks):
        seen.add(answer.status_code)
        said = f"{answer.headers}\n{answer.content.decode()}\n{answer.redirect_chain}".casefold()
        found = [word for word in SECRETS if word.casefold() in said]
        assert not found, f"{found} at {what}"
    assert {200, 404} <= seen, "the crawl must reach pages and refusals"
    assert 500 not in seen


def test_an_organiser_reads_no_name_with_a_script(
    problem: ContestProblem, tasks: list[MarkingTask], bob: User, client_for: ClientFor
) -> None:
    for what, answer in answers(client_for(bob), problem, tasks):
        said = f"{answer.headers}\n{answer.content.decode()}".casefold()
        assert not [word for word in SECRETS if word.casefold() in said], what


def test_the_next_script_shows_neither_the_time_nor_the_way_it_was_handed_in(
    problem: ContestProblem, tasks: list[MarkingTask], dana: User, client_for: ClientFor
) -> None:
    page = client_for(dana).get(reverse("marks:task", kwargs={"task_id": tasks[2].public_id})).content.decode()
    version = tasks[2].case.version
    assert version.handed_in_at.isoformat()[:23] not in page  # The draft may have been saved in the same second.
    assert "Imported" not in page
    assert "Typed here" not in page
