"""What a rehearsal predicts: final answers and the method's own verdicts, but no graders and no people."""

import pytest
from django.conf import LazySettings
from django.test import Client

from apps.accounts.models import User
from apps.experiments.solving.rehearsal import background
from apps.experiments.solving.rehearsal.background import rehearsal_ask, rehearsals_work
from apps.experiments.solving.rehearsal.terminal import rehearsed_lines
from apps.problem_sets.importing import named_of
from apps.problem_sets.services import set_create
from apps.reasoning.answers.points import INCOMPARABLE
from apps.reasoning.inference.aliases import load_aliases
from apps.reasoning.inference.scripted import ScriptedBackend
from apps.trials.services import TrialPlan, trial_start
from tests.cast import person
from tests.experiments.driving import Stage
from tests.experiments.solving.playing import begin, manifest
from tests.experiments.solving.test_rehearsals import (
    METHODS,
    SCORERS,
    make_set,
    passes_everything,
    predicted,
)
from tests.problems.factory import make_problem
from tests.runs.driving import drive, with_model

pytestmark = pytest.mark.django_db(transaction=True)
GRADER = {"name": "single_turn by served", "kind": "grader", "workflow": "single_turn", "players": {"": "served"}}


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "PROCESSES", 0)


@pytest.fixture
def alice() -> User:
    return person("alice")


def test_graders_are_not_predicted_so_the_page_compares_right_solutions_with_nothing(alice: User, client: Client) -> None:
    make_set(6)
    experiment = begin(alice, methods=METHODS, scorers=[GRADER], baseline="single")
    rehearsal_ask(experiment=experiment, user=alice, stated="[[skills]]\nability = 1")
    rehearsals_work()
    client.force_login(alice)
    html = client.get(f"/experiments/{experiment.public_id}/rehearsal/?scorer=single_turn by served").content.decode()
    assert "Share of right solutions over problems" in html
    assert "Mean score by" not in html
    assert "Not predicted: single_turn by served." in html
    assert "neither their points nor the cost of grading" in html
    assert "so there is no outcome to compare with" in html
    assert html.count('data-label="apart">–') == 2


def test_a_grade_is_never_subtracted_from_the_truth_of_solutions(alice: User, stage: Stage, client: Client) -> None:
    make_set(5)
    experiment = begin(alice, methods=METHODS[:1], scorers=[GRADER, SCORERS[0]])
    stage.play(experiment)
    rehearsal_ask(experiment=experiment, user=alice)
    rehearsals_work()
    client.force_login(alice)
    for asked in ("", "?scorer=single_turn by served"):
        html = client.get(f"/experiments/{experiment.public_id}/rehearsal/{asked}").content.decode()
        assert "Mean score by answer over problems" in html
        assert "Not predicted: single_turn by served." in html
        assert "no outcome" not in html


def test_problems_without_a_final_answer_count_for_no_scorer_of_answers(alice: User) -> None:
    make_set(2)
    keys = ("", "", "all powers of 2")
    made = [
        make_problem(f"Proof {n}", statement=f"Prove the sum number {n}.", answer=key, solutions=())
        for n, key in enumerate(keys, 1)
    ]
    set_create(title="Proofs", items=named_of(made), by=None)
    experiment = begin(alice, scorers=SCORERS, problems={"set": "proofs@1"})
    rehearsal_ask(experiment=experiment, user=alice)
    rehearsals_work()
    found = predicted(experiment)
    assert found.rows_by("")[0].mean is not None
    by_answer = found.rows_by("answer")[0]
    assert (by_answer.mean, by_answer.unscored["the problem has no final answer"]) == (None, 2)
    assert any(why.startswith(INCOMPARABLE) for why in by_answer.unscored)


@pytest.mark.parametrize("has_trial", [False, True])
def test_the_page_does_not_call_guesses_fitted(settings: LazySettings, alice: User, client: Client, has_trial: bool) -> None:
    make_set(1)
    if has_trial:
        plan = TrialPlan(load_aliases(settings.MODELS_FILE)["served"], 2, ("self_check",))
        for run in trial_start(user=None, plan=plan, start=False):
            drive(run, with_model(ScriptedBackend(passes_everything), name="served"))
    experiment = begin(alice)
    rehearsal_ask(experiment=experiment, user=alice, source="trials", stated="[[skills]]\nability = 1")
    rehearsals_work()
    client.force_login(alice)
    html = client.get(f"/experiments/{experiment.public_id}/rehearsal/").content.decode()
    assert ("Fitted to trials of served." if has_trial else "Guessed, because no model has a trial.") in html
    assert ("has no trial" in html) != has_trial


@pytest.mark.parametrize(
    ("scorers", "heads", "others"),
    [
        ([], ["Share of right solutions, which no scorer of this experiment gives"], False),
        (SCORERS, ["Mean score by answer", "Mean score by own"], False),
        ([GRADER], ["Share of right solutions, which no scorer of this experiment gives"], True),
    ],
)
def test_the_terminal_names_what_it_predicts(scorers: list[dict[str, object]], heads: list[str], others: bool) -> None:
    make_set(7)
    lines = list(rehearsed_lines(manifest(methods=METHODS, scorers=scorers), "[[skills]]\nability = 1", None, 0))
    assert [line.strip() for line in lines if line.strip().startswith(("Mean score", "Share of"))] == heads
    assert any("Not predicted: single_turn by served." in line for line in lines) == others
    unjudged = "No difference from single is predicted, because it has no predicted score."
    assert (unjudged in lines) == (scorers == SCORERS), "a single call judges nothing itself"
