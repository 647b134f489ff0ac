"""Rehearsals of experiments: predicted tables, skills fitted to runs and trials, the page, and work in the background."""

import random
import re
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from apps.accounts.models import User
from apps.experiments.models import Experiment, Rehearsal
from apps.experiments.refusals import ExperimentRefused
from apps.experiments.solving.rehearsal import background
from apps.experiments.solving.rehearsal.background import rehearsal_ask, rehearsals_work
from apps.experiments.solving.rehearsal.fitting import fitted, skills_of_runs, tried
from apps.experiments.solving.rehearsal.observing import Observed, observed_in
from apps.experiments.solving.rehearsal.predicting import Prediction, matrix_of
from apps.experiments.solving.services import items_chosen
from apps.problem_sets.importing import named_of
from apps.problem_sets.services import set_create
from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.inference.aliases import load_aliases
from apps.reasoning.inference.scripted import ScriptedBackend
from apps.reasoning.rehearsal.agent import SimulatedAgent
from apps.reasoning.rehearsal.skills import skills_of
from apps.trials.services import TrialPlan, trial_start
from tests.cast import person
from tests.experiments.driving import Stage
from tests.experiments.solving.playing import begin, manifest
from tests.problems.factory import make_problem
from tests.runs.driving import drive, with_model

pytestmark = pytest.mark.django_db(transaction=True)
METHODS = [
    {"name": "single", "scaffold": "single_call"},
    {"name": "checked", "scaffold": "solver_verifier_corrector", "preset": "quick"},
]
SCORERS = [{"name": "answer", "kind": "answer"}, {"name": "own", "kind": "accepted"}]
TRUE = skills_of({"skills": [{"unreadable": 0, "spots": 0.9, "passes": 0.7, "fixes": 0.4, "same_again": 0}]})


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "PROCESSES", 0)


@pytest.fixture
def alice() -> User:
    return person("alice")


@pytest.fixture
def answers() -> dict[str, object]:
    """A model with known skills, which solves the problems of `make_set`."""
    agents: dict[str, SimulatedAgent] = {}

    def answer(request: GenerationRequest) -> str:
        problem = re.findall(r"sum number (\d+)", " ".join(message.content for message in request.messages))[0]
        agent = agents.setdefault(request.run, SimulatedAgent(TRUE, "intern_s1_mo", f"sum-{problem}", f"run {len(agents)}"))
        return agent.answer(request).text

    return {"*": answer}


def make_set(problems: int) -> None:
    """Problems whose answer is 1, as the simulated agents suppose."""
    numbers = range(1, problems + 1)
    made = [make_problem(f"Sum {n}", statement=f"Find the sum number {n}.", answer="1", solutions=()) for n in numbers]
    set_create(title="Sums", items=named_of(made), by=None)


def predicted(experiment: Experiment) -> Prediction:
    return Prediction.model_validate(Rehearsal.objects.filter(experiment=experiment)[0].result)


def test_a_rehearsal_that_was_asked_for_is_played_once_and_kept(alice: User) -> None:
    make_set(6)
    experiment = begin(alice, methods=METHODS, scorers=SCORERS, baseline="single", repeats=2)
    row = rehearsal_ask(experiment=experiment, user=alice, stated="[[skills]]\nability = 9\nkeeps = 1\nunreadable = 0")
    assert rehearsals_work() == 1
    assert rehearsals_work() == 0
    row.refresh_from_db()
    assert (row.state, row.attempt) == ("done", 1)
    single, checked = predicted(experiment).rows
    assert single.as_row().mean == checked.as_row().mean == 1
    assert single.calls == 1 < checked.calls
    assert single.as_row(of_acceptance=True).mean is None


def test_a_rehearsal_whose_process_died_is_played_again_but_not_for_ever(alice: User) -> None:
    make_set(1)
    experiment = begin(alice)
    row = rehearsal_ask(experiment=experiment, user=alice)
    long_ago = timezone.now() - timedelta(hours=1)
    Rehearsal.objects.update(state="running", attempt=1, beat_at=timezone.now())
    assert rehearsals_work() == 0
    Rehearsal.objects.update(beat_at=long_ago)
    assert rehearsals_work() == 1
    Rehearsal.objects.update(state="running", attempt=3, beat_at=long_ago)
    assert rehearsals_work() == 0
    row.refresh_from_db()
    assert row.state == "failed"
    assert "begun 3 times" in row.trouble


def test_a_rehearsal_that_breaks_is_tried_again_at_once(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    make_set(1)
    row = rehearsal_ask(experiment=begin(alice), user=alice)

    def breaks(*_: object, **__: object) -> None:
        raise RuntimeError("cannot schedule new futures after interpreter shutdown")

    with monkeypatch.context() as broken:
        broken.setattr(background, "predicted", breaks)
        with pytest.raises(RuntimeError):
            rehearsals_work()
    assert rehearsals_work() == 1
    row.refresh_from_db()
    assert (row.state, row.attempt) == ("done", 2)


def test_wrong_skills_a_second_rehearsal_and_too_many_calls_are_refused(alice: User) -> None:
    make_set(2)
    experiment = begin(alice)
    with pytest.raises(ExperimentRefused, match="spots: write a number of at most 1"):
        rehearsal_ask(experiment=experiment, user=alice, stated="[[skills]]\nspots = 3")
    rehearsal_ask(experiment=experiment, user=alice)
    with pytest.raises(ExperimentRefused, match="under way"):
        rehearsal_ask(experiment=experiment, user=alice)
    large = manifest(methods=[{"name": "large", "scaffold": "deepseek_math", "preset": "large"}], repeats=100)
    with pytest.raises(ExperimentRefused, match="a rehearsal has at most"):
        matrix_of(large, items_chosen(large))


def test_skills_are_fitted_to_runs_whose_truth_is_known(alice: User, stage: Stage) -> None:
    make_set(10)
    experiment = stage.play(begin(alice, methods=METHODS[1:], scorers=SCORERS, repeats=4))
    skills = fitted(experiment)
    verifier = skills.of("served", "verifier_1")
    assert verifier.spots == pytest.approx(0.9, abs=0.12)
    assert verifier.passes == pytest.approx(0.7, abs=0.15)
    assert skills.of("served", "corrector_1").fixes == pytest.approx(0.4, abs=0.2)
    solver = skills.of("served", "solver")
    assert set(solver.solves) == {f"sum-{number}" for number in range(1, 11)}
    true = [TRUE.of("served", "solver").solving(name, TRUE.difficulty(name)) for name in solver.solves]
    assert sum(solver.solves.values()) / 10 == pytest.approx(sum(true) / 10, abs=0.12)
    unseen = skills.of("served", "aggregator")
    assert unseen.answer_tokens < 100, "a role without calls has the lengths of its model"
    assert any("served solved" in note and "fitted to" in note for note in skills.notes)
    assert skills.of("another", "verifier").spots == 0.7


@pytest.mark.parametrize("same", [0.0, 0.7, 1.0])
def test_judges_that_repeat_themselves_are_recognised(same: float) -> None:
    observed, key, draw = Observed(), ("served", "verifier"), random.Random(4)
    observed.lengths[key].add(100, 0)
    for _ in range(4_000):
        of_text = draw.random() < 0.8
        first, second = (of_text if draw.random() < same else draw.random() < 0.8 for _ in range(2))
        observed.passed[key].add(first)
        if first:
            observed.again["served"].append((True, first, second))
    judge = skills_of_runs(observed, "Trial").of("served", "verifier_1")
    assert judge.passes == pytest.approx(0.8, abs=0.02)
    assert judge.same_again == pytest.approx(same, abs=0.25 if not same else 0.05)


def test_votes_on_proofs_count_as_judgements(alice: User, stage: Stage) -> None:
    make_set(3)
    methods = [{"name": "intern", "scaffold": "intern_s1_mo", "preset": "quick"}]
    observed = observed_in(stage.play(begin(alice, methods=methods, scorers=SCORERS)))
    key = ("served", "process_verifier")
    assert observed.passed[key].of + observed.rejected[key].of >= 3
    assert observed.lengths["served", "theorem_verifier"].calls > 0


def test_a_rate_with_few_observations_is_guessed_and_says_so(alice: User, stage: Stage) -> None:
    make_set(2)
    experiment = stage.play(begin(alice, scorers=SCORERS))
    skills = fitted(experiment)
    assert skills.of("served", "verifier").spots == 0.7
    assert any(
        "chances to solve are guessed, because 2 fresh solutions with a known truth are fewer" in one for one in skills.notes
    )
    assert any("rejects 0.7 of wrong solutions is guessed" in one for one in skills.notes)
    assert any("has no trial" in one for one in tried(manifest(), None).notes)


def passes_everything(request: GenerationRequest) -> str:
    is_check = "<decision>" in "".join(message.content for message in request.messages)
    return "I looked at it.\n<decision>pass</decision>" if is_check else "I like turtles."


def test_a_trial_gives_rates_of_judges_and_lengths_but_no_chance_to_solve(settings: LazySettings) -> None:
    plan = TrialPlan(load_aliases(settings.MODELS_FILE)["served"], 6, ("self_check", "solver_verifier_corrector"))
    for run in trial_start(user=None, plan=plan, start=False):
        drive(run, with_model(ScriptedBackend(passes_everything), name="served"))
    skills = tried(manifest(), None)
    verifier = skills.of("served", "verifier_1")
    assert (verifier.spots, verifier.passes) == (0.005, 0.995), "it accepts everything"
    assert verifier.unreadable == 0
    assert verifier.answer_tokens < 20
    assert skills.of("served", "solver").unreadable == 1
    assert skills.of("served", "solver").solves == {}
    assert any("shows no chance to solve" in note for note in skills.notes)


def test_the_page_shows_prediction_next_to_outcome_and_the_origin_of_skills(alice: User, stage: Stage, client: Client) -> None:
    make_set(8)
    experiment = stage.play(begin(alice, methods=METHODS, scorers=SCORERS, baseline="single", repeats=2))
    url = f"/experiments/{experiment.public_id}/rehearsal/"
    client.force_login(alice)
    assert "No rehearsal yet" in client.get(url).content.decode()
    assert client.post(url, {"source": str(experiment.public_id)}).status_code == 302
    assert "0 of 32 cells" in client.get(url).content.decode()
    rehearsals_work()
    html = client.get(url).content.decode()
    assert "the prediction has seen the outcome" in html
    assert html.count(" %</td>") == 4
    assert "are shown in 80 % of such experiments" in html
    assert "served solved" in html
    assert html.count('data-label="cost ratio">1.00') == 1
    assert "sum-1" not in html
    assert "intervals apart" not in html
    own = client.get(f"{url}?scorer=own").content.decode()
    assert own.count(" %</td>") == 2


def test_only_who_may_steer_starts_one_and_wrong_skills_stay_in_the_form(alice: User, client: Client) -> None:
    make_set(1)
    experiment = begin(alice)
    url = f"/experiments/{experiment.public_id}/rehearsal/"
    client.force_login(person("charlie"))
    assert client.get(url).status_code == client.post(url).status_code == 404
    client.force_login(alice)
    refused = client.post(url, {"source": "guess", "stated": "[[skills]]\nspot = 1"})
    assert refused.status_code == 422
    assert "spot: there is no such field" in refused.content.decode()
    assert "spot = 1" in refused.content.decode()
    assert client.post(url, {"source": "unknown"}).status_code == 422
    assert not Rehearsal.objects.exists()


FILE = """
title = "Sums"
problems.set = "sums@1"
repeats = 3
baseline = "single"
[[methods]]
name = "single"
scaffold = "single_call"
[[methods]]
name = "vote"
scaffold = "majority_vote"
preset = "quick"
[[teams]]
name = "served"
roles = { "" = "served" }
"""


def test_the_command_predicts_the_table_of_a_file_without_an_experiment(tmp_path: Path) -> None:
    make_set(8)
    file, skills, out = tmp_path / "sums.toml", tmp_path / "skills.toml", StringIO()
    file.write_text(FILE)
    skills.write_text("[[skills]]\nability = 1\nunreadable = 0")
    call_command("experiment", "rehearse", str(file), "--skills", str(skills), "--processes", "0", stdout=out)
    text = out.getvalue()
    assert "Sums: 48 cells on 8 problems" in text
    assert re.search(r"single +\d+\.\d % +\d+\.\d to \d+\.\d +1\.0 .*× 1\.00 +– +–", text)
    assert re.search(r"vote +.* 4\.0 .*× 4\.\d\d +\d+ points", text)
    assert "Differences from single of" in text
    assert not Experiment.objects.exists()
    skills.write_text("[[skills]]\nspots = 2")
    with pytest.raises(CommandError, match="spots"):
        call_command("experiment", "rehearse", str(file), "--skills", str(skills), stdout=out)
    with pytest.raises(CommandError, match="There is no experiment"):
        call_command("experiment", "rehearse", str(file), "--like", "Unknown", stdout=out)
