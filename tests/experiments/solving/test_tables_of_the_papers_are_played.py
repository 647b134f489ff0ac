"""Each table of the papers that compares methods is played to its end by simulated agents: real runs, small sizes."""

import contextlib
from collections.abc import AsyncIterator

import pytest
from django.http import QueryDict

from apps.accounts.models import User
from apps.experiments.models import CellScore, Experiment, ExperimentState
from apps.experiments.presets.tables import Preset, presets
from apps.experiments.solving.forms import Builder
from apps.experiments.solving.manifest import Manifest, Method
from apps.experiments.solving.services import solving_start
from apps.graders.starting import models_for_grading
from apps.reasoning.inference.local import LocalDispatcher
from apps.reasoning.ports import Dispatcher
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.rehearsal.agent import SimulatedAgent
from apps.reasoning.rehearsal.arguments import Memory
from apps.reasoning.rehearsal.skills import skills_of
from apps.runs.journal.run_journal import RunJournal
from apps.runs.models import Run
from apps.runs.owners.execution import DispatcherFor
from tests.cast import person
from tests.experiments.driving import Stage
from tests.experiments.solving.playing import make_problem_set
from tests.experiments.solving.test_tables_of_the_papers import SOLVING, filled, names

pytestmark = pytest.mark.django_db(transaction=True)
SKILLS = skills_of({"skills": [{"answer_tokens": 200, "thinking_tokens": 200, "spread": 0.1, "unreadable": 0}]})
#: Sizes of a method are cut to this. Larger numbers than the other one are lengths.
SMALL, LONGEST_SIZE = 2, 300


class Rehearsing(Stage):
    """A stage whose model is a simulated agent for each run. All share what they know of solutions, as graders judge them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(monkeypatch, {})
        self.memory = Memory()

    @property
    def _model(self) -> DispatcherFor:
        @contextlib.asynccontextmanager
        async def simulated(run: Run, _journal: RunJournal) -> AsyncIterator[Dispatcher]:
            agent = SimulatedAgent(SKILLS, run.scaffold, "sum-1", str(run.public_id))
            agent.memory = self.memory
            yield LocalDispatcher({"served": agent})

        return simulated


@pytest.fixture
def alice() -> User:
    return person("alice")


def small(method: Method) -> Method:
    """The method with all its sizes cut, so that a table is played in seconds."""
    scaffold = SCAFFOLDS[method.scaffold]
    given = scaffold.presets[method.preset].params if method.preset else scaffold.read_params({})
    sizes = {
        name: min(value, SMALL)
        for name, value in given.model_dump().items()
        if type(value) is int and SMALL < value <= LONGEST_SIZE
    }
    return method.model_copy(update={"params": {**sizes, **method.params}})


def manifest_for(preset: Preset) -> Manifest:
    """What the filled form asks for, on one problem, once, with small methods."""
    sent = QueryDict(mutable=True)
    sent.update({**filled(preset), "set": "sums"})
    found = Builder(models_for_grading(), sent).manifest()
    assert found is not None
    return found.model_copy(update={"repeats": 1, "methods": tuple(map(small, found.methods)), "teams": found.teams[:1]})


@pytest.mark.parametrize("preset", SOLVING, ids=names(SOLVING))
def test_every_cell_ends_and_every_answer_has_a_score_or_a_reason(
    preset: Preset, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_problem_set(1)
    experiment = Rehearsing(monkeypatch).play(solving_start(owner=alice, manifest=manifest_for(preset)))
    assert experiment.state == ExperimentState.DONE, experiment.state_reason
    assert {(cell.state, cell.trouble) for cell in experiment.solving_cells.all()} == {("finished", "")}
    assert not any(_is_open(score) for score in CellScore.objects.all())
    assert _scored(experiment) == {one.name for one in manifest_for(preset).scorers}


def _is_open(score: CellScore) -> bool:
    """Neither scored, nor unscored with a reason, nor asked of people."""
    is_explained = score.state == "unscored" and bool(score.unscored)
    return not (score.state in ("scored", "asked") or is_explained)


def _scored(experiment: Experiment) -> set[str]:
    return set(CellScore.objects.filter(cell__experiment=experiment).values_list("scorer", flat=True))


def test_there_is_a_table_for_each_paper_with_methods() -> None:
    assert {one.paper for one in presets().values()} - {one.paper for one in SOLVING} == {"RefGrader"}
