"""Runs side by side: figures, means over the seeds of one experiment, tables in an order, and curves."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.learning.charts.curves import Curves
from apps.learning.charts.runs import FULL_WIDTH_RUNS, charts_of_runs
from apps.learning.models import JobState, TrainingJob
from apps.learning.sweeps.alike import differing, experiment_of
from apps.learning.sweeps.figures import mean_of, repeated, runs_of
from tests.training_jobs.factory import a_job, a_sweep, an_ended_job, lines
from tests.training_jobs.test_sweeps import _no_broker  # noqa: F401  (a fixture)

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]


def measured_job(rewards: list[float], **changes: Any) -> TrainingJob:
    job = a_job(**({"state": JobState.FINISHED} | changes))
    found = [{"step": n, "time": n, "attempt": 1, "reward": one} for n, one in enumerate(rewards, 1)]
    found[-1] |= {"held_out/score": 0.5, "held_out/low": 0.4, "held_out/high": 0.6}
    lines(job.folder / "metrics.jsonl", found)
    return job


def test_runs_have_their_last_and_best_figures_and_means_over_seeds(alice: User) -> None:
    made = [
        measured_job([0.1, 0.9, 0.5 + seed / 10], config={"learning_rate": rate, "seed": seed})
        for rate, seeds in ((0.1, 5), (0.2, 2))
        for seed in range(seeds)
    ]
    made.append(a_job(config={"learning_rate": 0.2, "seed": 9}))
    runs = runs_of(made, ["learning_rate", "seed"])
    assert (runs[0].label, runs[0].figures["best_reward"].value, runs[0].figures["best_reward"].step) == (
        "learning_rate 0.1, seed 0", 0.9, 2,
    )  # fmt: skip
    held = runs[0].figures["last_held_out"]
    assert (held.value, held.low, held.high) == (0.5, 0.4, 0.6)
    assert [run.group for run in runs] == [0] * 5 + [1] * 3
    enough, few = repeated(runs)
    assert enough.means["last_reward"].value == pytest.approx(0.7)
    assert enough.means["last_reward"].lacking == 0
    assert enough.means["last_reward"].low is not None
    assert (few.seeds, few.finished) == (3, 2)
    assert (few.means["last_reward"].low, few.means["last_reward"].lacking) == (None, 3)
    assert repeated(runs_of(made[:1], ["learning_rate", "seed"])) == []


def test_runs_of_different_experiments_have_no_common_mean(client_for: ClientFor, alice: User) -> None:
    first = measured_job([0.1], title="Copy a digit")
    further = measured_job([0.9], title="Continued", base_title="Copy a digit, step 20", config={"seed": 1, "base": "/a"})
    same = measured_job([0.3], config={"seed": 1, "save_every": 7, "keep": 9, "samples": 4, "threads": 1})
    assert differing([first, further]) == ["base", "seed"]
    assert experiment_of(first) == experiment_of(same) != experiment_of(further)
    page = client_for(alice).get(reverse("learning:runs"), {"job": [str(first.public_id), str(further.public_id)]})
    assert page.context["repeated"] == []
    assert list(page.context["runs"][1].values.items()) == [("base", "Copy a digit, step 20"), ("seed", "1")]
    for changed in ({"recipe": "orealh"}, {"source": {"kind": "toy", "toy": "ask"}}, {"dataset": {"hash": "ab"}}):
        other = a_job(config={"seed": 1, **changed})
        assert experiment_of(other) != experiment_of(first)
        assert differing([first, other])[0] in ("recipe", "data")


def test_the_problems_of_own_runs_belong_to_the_experiment() -> None:
    plan = {"problems": ["a", "b"], "scaffold": "single_call", "preset": "default", "alias": "x", "at_once": 4}
    stream = {"source": {"kind": "stream", "wait": 1}}
    first, shuffled, other = (
        a_job(config=stream | {"seed": seed}, rollouts=plan | changes)
        for seed, changes in ((0, {}), (1, {"problems": ["b", "a"], "at_once": 8}), (1, {"problems": ["c"]}))
    )
    assert experiment_of(first) == experiment_of(shuffled) != experiment_of(other)
    assert differing([first, other]) == ["data", "seed"]


def test_runs_of_one_seed_are_one_value_of_a_mean(client_for: ClientFor, alice: User) -> None:
    made = [measured_job([reward], config={"seed": seed}) for seed, reward in ((0, 0.2), (0, 0.4), (0, 0.6), (1, 0.8))]
    (found,) = repeated(runs_of(made, ["seed"]))
    assert (found.seeds, found.finished, list(found.twice)) == (2, 2, [0])
    assert found.means["last_reward"].count == 2
    assert found.means["last_reward"].value == pytest.approx(0.6)
    assert repeated(runs_of(made[:3], ["seed"])) == [], "one seed is no sample of seeds"
    page = client_for(alice).get(reverse("learning:runs"), {"job": [str(job.public_id) for job in made]})
    assert "Seed 0 occurs more than once." in page.content.decode()


def test_means_of_other_amounts_than_shares_have_students_interval() -> None:
    values = [-2.0, -1.0, 0.0, 1.0, 2.0]
    found = mean_of(values)
    reach = 2.776 * float(np.std(values, ddof=1)) / 5**0.5
    assert found.low == pytest.approx(-reach, rel=2e-3)
    assert found.high == pytest.approx(reach, rel=2e-3)
    assert mean_of([-1.0] * 5).low is None, "the spread of equal values is unknown"


def test_the_page_of_a_sweep_sorts_and_stops_its_runs(client_for: ClientFor, alice: User) -> None:
    made = [measured_job([rate], config={"learning_rate": rate}) for rate in (0.2, 0.1, 0.3)]
    waiting = a_job(config={"learning_rate": 1.0})
    sweep = a_sweep([*made, waiting])
    client, address = client_for(alice), reverse("learning:sweep", args=[sweep.public_id])
    for sort, order in (
        ("", [0.2, 0.1, 0.3, 1.0]),
        ("learning_rate", [0.1, 0.2, 0.3, 1.0]),
        ("-last_reward", [0.3, 0.2, 0.1, 1.0]),
    ):
        page = client.get(address, {"sort": sort})
        assert [run.job.config["learning_rate"] for run in page.context["runs"]] == order
    text = page.content.decode()
    assert text.count("data-draw=") == 4
    assert f"{reverse('learning:job_settings', args=[made[1].public_id])}?with={made[0].public_id}" in text
    assert "Save and stop all 1" in text
    client.post(reverse("learning:sweep_stop", args=[sweep.public_id]))
    waiting.refresh_from_db()
    assert waiting.state == JobState.STOPPED
    assert "Save and stop all" not in client.get(address).content.decode()
    assert sweep.title in client.get(reverse("learning:job", args=[made[0].public_id])).content.decode()


def test_chosen_jobs_are_shown_by_the_settings_in_which_they_differ(client_for: ClientFor, alice: User) -> None:
    one, two = (
        a_job(config={"seed": 1}),
        a_job(title="Other", recipe="orealh", config={"recipe": "orealh", "loss": {"beta": 0.5}}),
    )
    assert {"loss.beta", "recipe", "seed"} <= set(differing([one, two]))
    page = client_for(alice).get(reverse("learning:runs"), {"job": [str(one.public_id), str(two.public_id), "x"]})
    text = page.content.decode()
    assert "Other" in text
    assert [run.job for run in page.context["runs"]] == [one, two]
    assert len(page.context["runs"][0].values) == 6, "the first ones and the seed"
    assert next(iter(page.context["runs"][0].values)) == "recipe"
    assert "No jobs are chosen." in client_for(alice).get(reverse("learning:runs")).content.decode()


def test_curves_of_runs_are_one_curve_each(client_for: ClientFor, alice: User, tmp_path: Path) -> None:
    made = [an_ended_job(tmp_path) for _ in range(9)]
    address = reverse("learning:runs_curves")
    found = client_for(alice).get(address, {"job": [str(job.public_id) for job in made]}).json()
    (reward,) = found["charts"]
    assert reward["name"] == "reward"
    assert [trace["meta"]["run"] for trace in reward["figure"]["data"]] == [str(job.public_id) for job in made]
    again = {"job": [str(job.public_id) for job in made], "seen": found["seen"]}
    assert client_for(alice).get(address, again).status_code == 204
    assert client_for(alice).get(address).json()["charts"] == []
    assert client_for(alice).get(address, {"x": "moon"}).status_code == 422


def test_many_runs_have_fewer_points_each(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    lines(path, ({"step": n, "time": n, "attempt": 1, "reward": n % 7} for n in range(2000)))
    curves = Curves(path)
    curves.read()

    def points(runs: int) -> int:
        charts = charts_of_runs([(str(n), curves) for n in range(runs)], axis="step", smooth=False, width=400)
        return sum(len(trace["x"]) for trace in charts[0]["figure"]["data"])

    assert points(FULL_WIDTH_RUNS * 4) < 1.5 * points(FULL_WIDTH_RUNS)
