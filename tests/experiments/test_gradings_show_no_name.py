"""All URLs of gradings and agreement in an anonymous contest: markers see no name of its roster, and students see nothing.

The URLs come from the URL configuration; the ids are those of a contest that a grader has graded.
"""

import json
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import product
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, reverse
from pytest_django import Settings

from apps.accounts.models import Role, User
from apps.contests.models import ContestProblem
from apps.experiments.models import Experiment
from apps.experiments.scripts import Chosen
from apps.experiments.services import ExperimentDraft, experiment_create
from apps.graded_sets.models import GradedSet
from apps.marks.setups import cases_prepare
from apps.runs.models import Run
from apps.submissions.models import Origin, Submission, SubmissionVersion, TextFormat
from apps.submissions.services import version_add
from tests.answers import said_by
from tests.contests.factory import TEXT, enter
from tests.experiments.driving import Stage, make_set
from tests.marks.factory import problem_to_mark
from tests.marks.sealing.test_calibration_and_remarks import settled
from tests.marks.test_marking_shows_no_name import SECRETS, student_named

pytestmark = pytest.mark.django_db(transaction=True)
ClientFor = Callable[[User | None], Client]
PAGES = ("graders", "graded_sets", "preparation", "experiments", "agreement")
UNKNOWN_ID = "5e1f0a3c-9c1b-4b43-8f2d-0b8f6f1f7c11"


@pytest.fixture(autouse=True)
def _no_suggestions(settings: Settings) -> None:
    settings.MARKING_GRADERS = []


@pytest.fixture
def student() -> User:
    return student_named()


@pytest.fixture
def problem(bob: User, dana: User, student: User) -> ContestProblem:
    """Two scripts of authors whose names must stay hidden."""
    problem = problem_to_mark(bob, dana, scripts=1, asks_place=False)
    paper, _ = enter(problem.contest, student, "Gymnasium Hohenstein")
    submission = Submission.objects.create(paper=paper, problem=problem)
    version_add(submission=submission, text=TEXT, text_format=TextFormat.MARKDOWN, origin=Origin.TYPED)
    problem.contest.identities.filter(person=None).update(name="Zebulon Quartermaine", school="Gymnasium Hohenstein")
    cases_prepare(problem)
    return problem


@pytest.fixture
def read(problem: ContestProblem, bob: User, stage: Stage) -> Experiment:
    """An experiment that graded both scripts, one of them settled; there is also a published set."""
    make_set(scripts=1)
    draft = ExperimentDraft("In a contest", Chosen(contest=problem.contest), ["single_turn"], ["served"])
    experiment = stage.play(experiment_create(owner=bob, draft=draft))
    settled(problem, bob)
    return experiment


def named(entries: list[Any]) -> Iterator[URLPattern]:
    """All URL patterns of gradings, including those of included files."""
    for entry in entries:
        if isinstance(entry, URLResolver):
            yield from named(entry.url_patterns)
        else:
            yield entry


def of_apps(*apps: str) -> Iterator[tuple[str, URLPattern]]:
    """Every URL of apps, with the app."""
    for app in apps:
        yield from ((app, pattern) for pattern in named(import_module(f"apps.{app}.urls").urlpatterns))


def addresses(problem: ContestProblem, experiment: Experiment) -> list[str]:
    """Every URL with every possible id."""
    graded = GradedSet.objects.get()
    ids: dict[str, list[Any]] = {
        "slug": [problem.problem.slug],
        "run_id": [*Run.objects.values_list("public_id", flat=True)],
        "experiment_id": [experiment.public_id],
        "set_id": [graded.public_id],
        "script_id": [graded.scripts.get().public_id],
        "version_id": [*SubmissionVersion.objects.values_list("public_id", flat=True)],
        "kind": ["contest", "experiment", "set", "file"],
        "source_id": [problem.contest.public_id, experiment.public_id, graded.public_id],
        "verb": ["pause", "resume", "retry", "approve", "no-such-verb"],
    }
    found = []
    for app, pattern in of_apps(*PAGES):
        keys = sorted(pattern.pattern.converters)
        chosen = product(*(ids.get(key, [UNKNOWN_ID]) for key in keys))
        found += [reverse(f"{app}:{pattern.name}", kwargs=dict(zip(keys, values, strict=True))) for values in chosen]
    return found


def answers(client: Client, urls: list[str]) -> Iterator[tuple[str, Any]]:
    """The responses of each URL to a GET, a search, an invalid JSON body, and a form."""
    nonsense = json.dumps({"verb": "no such", "row": SECRETS[0][::-1]})
    for url in urls:
        yield f"GET {url}", client.get(url, follow=True)
        yield f"GET {url} with filters", client.get(url, {"q": "x", "page": "2", "human": "first", "by": "author"}, follow=True)
    for url in urls:
        yield f"POST {url} (JSON)", client.post(url, nonsense, content_type="application/json", follow=True)
        yield f"POST {url} (form)", client.post(url, {"title": "x", "reason": "y"}, follow=True)


@pytest.mark.parametrize("who", ["coach", "organiser"])
def test_markers_see_no_name_in_any_page_file_or_error_of_gradings(
    who: str, read: Experiment, problem: ContestProblem, bob: User, dana: User, student: User, client_for: ClientFor
) -> None:
    seen = set()
    words = (*SECRETS, str(student.public_id))
    for what, answer in answers(client_for(dana if who == "coach" else bob), addresses(problem, read)):
        seen.add(answer.status_code)
        text = f"{answer.headers}\n{answer.redirect_chain}\n{said_by(answer)}".casefold()
        found = [word for word in words if word.casefold() in text]
        assert not found, f"{found} at {what}"
    assert {200, 404} <= seen, "the crawl covers pages and refusals"
    assert not {status for status in seen if status >= 500}


def test_a_student_cannot_open_any_grading(
    read: Experiment, problem: ContestProblem, student: User, client_for: ClientFor
) -> None:
    other = User.objects.create_user("xaver", role=Role.STUDENT)
    for person in (student, other):
        for what, answer in answers(client_for(person), addresses(problem, read)):
            assert answer.status_code in (403, 404, 405), f"{answer.status_code} from {what}"
            assert not answer.redirect_chain
