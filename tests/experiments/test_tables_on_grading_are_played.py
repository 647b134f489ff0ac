"""Each table of the papers that compares graders is played to its end by simulated graders: real forms, runs and pages."""

import contextlib
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable
from html import unescape
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.experiments.models import CellState, Experiment
from apps.experiments.presets.tables import Preset, presets
from apps.graded_sets.models import GradedSet, HumanScore
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
from tests.experiments.solving.test_tables_of_the_papers import GRADING, names
from tests.grading.test_grade_command import MODELS

pytestmark = pytest.mark.django_db(transaction=True)
ClientFor = Callable[[User | None], Client]
BRIEF = {"answer_tokens": 200, "thinking_tokens": 200, "spread": 0.1, "unreadable": 0}
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
            agent = SimulatedAgent(self.skills, run.scaffold, "", f"{run.title}, seed {run.spec['seed']}", self.scripts)
            yield LocalDispatcher(dict.fromkeys(("served", "big"), agent))

        return simulated


def make_scripts(scripts: int, problems: int, by: User) -> GradedSet:
    """Scripts by a model with points by people, on problems with references and an active scheme."""
    made = make_set(scripts, problems)
    made.scripts.update(author_kind="model")
    for problem in {script.problem.problem for script in made.scripts.all() if script.problem}:
        scheme = scheme_create(problem=problem, title="S", content=text_read(SCHEME), by=by)
        scheme_activate(scheme=scheme, by=by, based_on=scheme.row_version)
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


def words_of(client: Client, address: str) -> str:
    """The text of a page in one line, without tags."""
    return unescape(" ".join(re.sub(r"<[^>]+>", " ", client.get(address).content.decode()).split()))


@pytest.mark.parametrize("preset", GRADING, ids=names(GRADING))
def test_every_cell_ends_graded_or_unscored_and_the_pages_have_numbers(
    preset: Preset, alice: User, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    graded_set = make_scripts(3, 2, alice)
    HumanScore.objects.filter(script__name="S2").delete()
    experiment = started(client, graded_set, preset)
    assert is_over(Grading(monkeypatch, graded_set).play(experiment)), experiment.state_reason
    assert preset.grading is not None
    graders = len(preset.grading.workflows)
    ended = Counter(experiment.cells.values_list("script__name", "state"))
    each = graders * preset.grading.repeats
    assert ended == {("S1", CellState.SCORED): each, ("S2", CellState.UNSCORED): each, ("S3", CellState.SCORED): each}
    assert all(cell.unscored for cell in experiment.cells.filter(state=CellState.UNSCORED))
    compared = words_of(client, reverse("agreement:detail", args=["set", graded_set.public_id]))
    assert " ".join(["with points on both sides", *["2"] * graders]) in compared
    assert "Rows: the person’s points" in compared
    assert "By band of the person’s points" in compared
    assert "by topic" in compared
    page = words_of(client, reverse("experiments:detail", args=[experiment.public_id]))
    assert ("Error of the mean of 5" in page) == (preset.grading.repeats == 5)


def test_a_better_grader_agrees_more_in_every_statistic_that_the_tables_print(
    alice: User, client: Client, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MODELS_FILE.write_text(MODELS + MODELS.replace("[served]", "[big]"))
    graded_set = make_scripts(30, 5, alice)
    preset = presets()["qed-nano-5"]
    experiment = started(client, graded_set, preset, aliases=["served", "big"], workflows=["proofbench_strict"])
    stage = Grading(monkeypatch, graded_set, {"models": ["big"], "spots": 0.97, "passes": 0.97})
    assert is_over(stage.play(experiment)), experiment.state_reason
    (part,) = client.get(reverse("agreement:json", args=["set", graded_set.public_id])).json()["parts"]
    found = {
        one["name"].split("#")[0]: {each["slug"]: each for each in one["over_all"]["estimates"]} for one in part["graders"]
    }
    good, poor = found["proofbench_strict@big"], found["proofbench_strict@served"]
    for slug in ("pearson", "spearman", "qwk", "ac2", "off_by_one", "off_by_two"):
        assert good[slug]["value"] > poor[slug]["value"], slug
    for slug in ("mae", "rmse", "advantage_error"):
        assert good[slug]["value"] < poor[slug]["value"], slug
    assert all("low" in poor[slug]["interval"] for slug in ("mae", "qwk", "advantage_error"))
    compared = words_of(client, reverse("agreement:detail", args=["set", graded_set.public_id]))
    for title in ("Pearson", "Spearman", "MAE", "RMSE", "Within 1", "Within 2", "QWK", "Gwet's AC2", "Advantage error"):
        assert re.search(rf"{title} [^…]*\d\.\d+ … ", compared), title
