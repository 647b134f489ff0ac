"""Each table of the papers that compares graders is played to its end by simulated graders: real forms, runs and pages."""

import contextlib
import re
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from django.conf import LazySettings
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.experiments.models import CellState, Experiment
from apps.experiments.presets.tables import Preset, presets
from apps.graded_sets.models import GradedScript, GradedSet
from apps.reasoning.inference.local import LocalDispatcher
from apps.reasoning.marking.schemes.text_form import text_read
from apps.reasoning.ports import Dispatcher
from apps.reasoning.rehearsal.agent import SimulatedAgent
from apps.reasoning.rehearsal.scripts import Scripts
from apps.reasoning.rehearsal.skills import Skills, skills_of
from apps.runs.journal.run_journal import RunJournal
from apps.runs.models import Run
from apps.runs.owners.execution import DispatcherFor
from apps.schemes.services import scheme_activate, scheme_create
from tests.experiments.driving import Stage, is_over, make_set
from tests.grading.test_grade_command import MODELS

pytestmark = pytest.mark.django_db(transaction=True)
ClientFor = Callable[[User | None], Client]
GRADING = [one for one in presets().values() if one.grading]
#: Enough pairs for statistics, on enough problems for intervals.
SCRIPTS, PROBLEMS = 30, 5
BRIEF = {"answer_tokens": 200, "thinking_tokens": 200, "spread": 0.1, "unreadable": 0.02}
SCHEME = "scale 7\ncheckpoint A1, 3 points: Factors.\ncheckpoint A2, 4 points: One of two neighbours is even."


class Grading(Stage):
    """A stage whose models are simulated graders that know what people gave to the scripts of a set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, graded_set: GradedSet, *skills: dict[str, Any]) -> None:
        super().__init__(monkeypatch, {})
        self.skills: Skills = skills_of({"skills": [BRIEF, *skills]})
        self.scripts = Scripts()
        for script in graded_set.scripts.prefetch_related("human_scores"):
            for score in script.human_scores.all():
                self.scripts.know(script.text, float(score.points), float(score.out_of))

    @property
    def _model(self) -> DispatcherFor:
        @contextlib.asynccontextmanager
        async def simulated(run: Run, _journal: RunJournal) -> AsyncIterator[Dispatcher]:
            agent = SimulatedAgent(self.skills, run.scaffold, "", f"seed {run.spec['seed']}", self.scripts)
            yield LocalDispatcher(dict.fromkeys(("served", "big"), agent))

        return simulated


@pytest.fixture
def graded_set(alice: User) -> GradedSet:
    """Scripts by models with points by people, on problems with references and a scheme."""
    made = make_set(SCRIPTS, PROBLEMS)
    made.scripts.update(author_kind="model")
    for problem in {script.problem.problem for script in made.scripts.all() if script.problem}:
        scheme = scheme_create(problem=problem, title="S", content=text_read(SCHEME), by=alice)
        scheme_activate(scheme=scheme, by=alice, based_on=scheme.row_version)
    return made


@pytest.fixture
def client(alice: User, client_for: ClientFor) -> Client:
    return client_for(alice)


def started(client: Client, graded_set: GradedSet, preset: Preset, **changes: Any) -> Experiment:
    """The experiment of the form that the preset fills, sent as it is except for the choice of scripts."""
    form = client.get(reverse("experiments:new"), {"preset": preset.name}).context["form"]
    values = {field.html_name: field.value() for field in form}
    sent = {name: value for name, value in values.items() if value is not False and value not in (None, "")}
    answer = client.post(reverse("experiments:new"), sent | {"source": f"set:{graded_set.public_id}"} | changes)
    assert answer.status_code == 302, re.findall(r'field__error">([^<]+)', answer.content.decode())
    return Experiment.objects.get()


def agreement(client: Client, graded_set: GradedSet) -> dict[str, dict[str, float]]:
    """Values of the agreement page by grader and statistic."""
    found = client.get(reverse("agreement:json", args=["set", graded_set.public_id])).json()
    return found


@pytest.mark.parametrize("preset", GRADING, ids=lambda one: one.name)
def test_every_cell_ends_graded_or_unscored_and_the_page_has_numbers(
    preset: Preset, client: Client, graded_set: GradedSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = started(client, graded_set, preset)
    import time
    t=time.time()
    assert is_over(Grading(monkeypatch, graded_set).play(experiment)), experiment.state_reason
    print(preset.name, experiment.cells.count(), time.time()-t)
    print(set(experiment.cells.values_list("workflow","state", "unscored", "trouble")))
    page = client.get(reverse("agreement:detail", args=["set", graded_set.public_id])).content.decode()
    print(re.sub(r"\s+"," ",re.sub("<[^>]+>","",page))[:6000])
    import json
    print(json.dumps(agreement(client, graded_set))[:3000])
