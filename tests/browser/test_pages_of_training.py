"""A researcher starts a job and looks at what it learned, in a browser: form, curves, a point of a curve, its rows as text."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import User
from apps.learning.jobs import driving, jobs
from apps.learning.models import JobState, TrainingJob
from tests.browser.marking_pages import ClientFor, room_of, session_of
from tests.browser.test_after_sealing import shot
from tests.training_jobs.factory import a_job, a_sweep, lines, training  # noqa: F401  (a fixture)
from tests.training_jobs.test_jobs_from_texts import texts
from tests.ui.axe import faults, faults_in_both_themes
from tests.ui.browser import needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium, pytest.mark.django_db(transaction=True)]

DRAWN = re.compile("js-plotly-plot")
#: Place in the window of a step's point on the first curve of a chart.
PLACE_OF = """([name, step]) => {
  const box = document.querySelector(`[data-chart=${name}]`);
  const { left, top } = box.getBoundingClientRect();
  const { xaxis, yaxis } = box._fullLayout;
  const [curve] = box.data;
  const height = curve.y[Array.from(curve.x).indexOf(step)];
  return [left + xaxis._offset + xaxis.d2p(step), top + yaxis._offset + yaxis.d2p(height)];
}"""


@pytest.fixture
def _a_model_and_texts(training: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """A model to start from and a dataset to learn from. Enqueueing a job does the worker's work at once."""
    (tmp_path / "models" / "small").mkdir(parents=True)
    (tmp_path / "models" / "small" / "config.json").write_text("{}")
    texts(tmp_path)
    monkeypatch.setattr(jobs, "nudge", driving.training_work)
    monkeypatch.setattr("apps.learning.views.jobs.worker_is_missing", lambda: False)
    monkeypatch.setattr("apps.learning.jobs.page.worker_is_missing", lambda: False)


def press_point(page: Page, chart: str, step: int) -> None:
    """A press on the point of a step, once the chart has found what lies under the pointer."""
    page.locator(f"[data-chart={chart}]").scroll_into_view_if_needed()
    x, y = page.evaluate(PLACE_OF, [chart, step])
    page.mouse.move(x - 3, y)
    page.mouse.move(x, y)
    expect(page.locator(f"[data-chart={chart}] .hoverlayer")).to_contain_text(f"step {step}")
    page.mouse.click(x, y)


def test_charts_out_of_sight_are_drawn_when_they_come_there(
    live_server: LiveServer,
    client_for: ClientFor,
    alice: User,
    training: Settings,  # noqa: F811
) -> None:
    job = a_job(state=JobState.FINISHED)
    job.folder.mkdir(parents=True)
    names = ("reward", "loss", "entropy", "kl", "grad_norm", "learning_rate", "truncated", "tokens_per_second")
    line = {"step": 1, "time": 1.0, "clock": 0.0, "attempt": 1, "tokens": 10} | dict.fromkeys(names, 0.5)
    (job.folder / "metrics.jsonl").write_text(json.dumps(line) + "\n")
    with room_of(live_server, session_of(client_for, alice), viewport={"width": 1280, "height": 500}) as room:
        page = room.page(f"/learning/jobs/{job.public_id}/")
        charts = page.locator("[data-charts] [data-chart]")
        expect(charts).to_have_count(len(names))
        expect(page.locator(".js-plotly-plot").first).to_be_attached()
        expect(charts.last).not_to_have_class(DRAWN)
        charts.last.scroll_into_view_if_needed()
        expect(charts.last).to_have_class(DRAWN)


def test_printing_draws_charts_out_of_sight_and_reports_one_that_fails(
    live_server: LiveServer,
    client_for: ClientFor,
    alice: User,
    training: Settings,  # noqa: F811
) -> None:
    job = a_job(state=JobState.FINISHED)
    names = ("reward", "loss", "entropy", "kl", "grad_norm", "learning_rate", "truncated", "tokens_per_second")
    lines(job.folder / "metrics.jsonl", [{"step": 1, "time": 1.0, "attempt": 1, "tokens": 10} | dict.fromkeys(names, 0.5)])
    with room_of(live_server, session_of(client_for, alice), viewport={"width": 1280, "height": 500}) as room:
        page = room.page(f"/learning/jobs/{job.public_id}/")
        expect(page.locator(".js-plotly-plot").first).to_be_attached()
        page.evaluate("Plotly.react = () => Promise.reject(new Error('no room')); dispatchEvent(new Event('beforeprint'))")
        expect(page.locator("[data-curves-state]")).to_contain_text("The curves could not be drawn (no room).")


def test_one_hover_reads_all_curves_and_a_switch_makes_axes_logarithmic(
    live_server: LiveServer,
    client_for: ClientFor,
    alice: User,
    training: Settings,  # noqa: F811
) -> None:
    job = a_job(state=JobState.FINISHED)
    values = {
        "completion_length": 4.0,
        "longest_completion": 9.0,
        "held_out/score": 0.5,
        "held_out/low": 0.4,
        "held_out/high": 0.7,
    }
    lines(job.folder / "metrics.jsonl", [{"step": n, "time": n, "attempt": 1, "tokens": 10, **values} for n in (1, 2, 3)])
    with room_of(live_server, session_of(client_for, alice), viewport={"width": 1280, "height": 900}) as room:
        page = room.page(f"/learning/jobs/{job.public_id}/")
        lengths = page.locator("[data-chart=lengths]")
        expect(lengths).to_have_class(DRAWN)
        lengths.scroll_into_view_if_needed()
        x, y = page.evaluate(PLACE_OF, ["lengths", 2])
        page.mouse.move(x - 3, y)
        page.mouse.move(x, y)
        for words in ("step 2", "completion length : 4", "longest completion : 9"):
            expect(lengths.locator(".hoverlayer")).to_contain_text(words)
        page.mouse.move(0, 0)
        page.get_by_role("button", name="Smooth").click()
        page.get_by_role("button", name="Log axis").click()
        page.wait_for_function("document.querySelector('[data-chart=lengths]')._fullLayout.yaxis.type === 'log'")
        page.wait_for_function("document.querySelector('[data-chart=lengths]').data.length === 4")
        band = page.evaluate("document.querySelector('[data-chart=held_out]').data[1].fillcolor")
        assert re.fullmatch("#[0-9a-f]{6}2b", band)
        assert faults_in_both_themes(page) == []


@pytest.mark.usefixtures("_a_model_and_texts")
def test_a_job_is_started_its_curves_are_seen_and_the_rows_behind_a_point(
    live_server: LiveServer, client_for: ClientFor, alice: User
) -> None:
    found = {}
    with room_of(live_server, session_of(client_for, alice), viewport={"width": 1280, "height": 900}) as room:
        page = room.page("/")
        page.get_by_role("link", name="Learning", exact=True).first.click()
        page.get_by_role("link", name="New job").click()
        expect(page.get_by_role("heading", name="New training job")).to_be_visible()
        found["form"] = faults_in_both_themes(page)
        page.get_by_label("Recipe", exact=True).select_option(value="turn_grpo")
        page.get_by_label("Learns from", exact=True).select_option(label="proofs v1 · sft_proofs · 40 rows, texts only")
        page.get_by_label("Starts from", exact=True).select_option(label="small")
        page.get_by_label("Steps", exact=True).fill("12")
        page.get_by_role("button", name="Start training").click()
        expect(page.get_by_role("alert")).to_contain_text("The job was not started")
        expect(page.get_by_text("has texts without log-probabilities")).to_be_visible()
        found["refused"] = faults_in_both_themes(page)
        shot(page, "training-refused")
        page.get_by_label("Recipe", exact=True).select_option(value="sft_proofs")
        page.get_by_role("button", name="Start training").click()
        expect(page.get_by_role("heading", name="sft_proofs on proofs v1")).to_be_visible()
        expect(page.get_by_text("step 12 of 12")).to_be_visible()
        expect(page.locator("[data-chart=reward].js-plotly-plot")).to_be_visible()
        expect(page.locator("#samples").get_by_role("heading", name="Step 12")).to_be_visible()
        press_point(page, "reward", 4)
        expect(page.locator("#samples").get_by_role("heading", name="Step 4")).to_be_visible()
        expect(page.locator("#samples pre")).to_contain_text("1=0.")
        page.locator("#samples").get_by_role("link", name="Step 5").click()
        expect(page.locator("#samples").get_by_role("heading", name="Step 5")).to_be_visible()
        page.mouse.move(0, 0)
        found["job"] = faults_in_both_themes(page)
        shot(page, "training-job")
        address = page.url
        page.get_by_role("link", name="Training jobs").first.click()
        expect(page.get_by_role("cell", name="12", exact=True)).to_have_count(2)
        found["list"] = faults_in_both_themes(page)
        page.set_viewport_size({"width": 390, "height": 844})
        for name, path in {
            "list": page.url,
            "form": "/learning/jobs/new/",
            "job": address,
            "rows": f"{address}samples/",
        }.items():
            page.goto(path, wait_until="networkidle")
            found[f"{name} on a telephone"] = faults(page)
            shot(page, f"training-{name}-390")
    assert {seen: wrong for seen, wrong in found.items() if wrong} == {}
    job = TrainingJob.objects.get()
    assert (job.state, job.config["source"]) == (JobState.FINISHED, {"kind": "texts"})


def test_what_an_empty_field_means_follows_the_recipe_that_is_chosen(
    live_server: LiveServer,
    client_for: ClientFor,
    alice: User,
    training: Settings,  # noqa: F811
) -> None:
    with room_of(live_server, session_of(client_for, alice)) as room:
        page = room.page("/learning/jobs/new/")
        rate, clip = page.locator("[name=learning_rate]"), page.locator("[name=high]")
        for recipe, pale, above in (("sft_proofs", "3e-05", "0.2"), ("marsrl", "1e-06", "0.28"), ("grpo_rubric", "1e-06", "4")):
            page.get_by_label("Recipe", exact=True).select_option(recipe)
            expect(rate).to_have_attribute("placeholder", pale)
            expect(clip).to_have_attribute("placeholder", above)


def test_a_sweep_is_planned_drawn_and_sorted(
    live_server: LiveServer,
    client_for: ClientFor,
    alice: User,
    training: Settings,  # noqa: F811
) -> None:
    made = [a_job(owner=alice, config={"learning_rate": rate}, state=JobState.FINISHED) for rate in (0.1, 0.2)]
    for number, job in enumerate(made):
        lines(job.folder / "metrics.jsonl", [{"step": n, "time": n, "attempt": 1, "reward": n * number} for n in (1, 2, 3)])
    sweep = a_sweep(made)
    with room_of(live_server, session_of(client_for, alice), viewport={"width": 1280, "height": 900}) as room:
        page = room.page(f"/learning/jobs/{made[0].public_id}/sweep/")
        page.get_by_label("Setting", exact=True).select_option("learning_rate")
        page.get_by_label("Values", exact=True).fill("0.1, 0.2")
        page.get_by_role("button", name="Show the grid").click()
        expect(page.get_by_role("button", name="Start 2 jobs")).to_be_visible()
        assert faults_in_both_themes(page) == []
        page = room.page(f"/learning/sweeps/{sweep.public_id}/")
        expect(page.locator("[data-chart=reward]")).to_have_class(DRAWN)
        drawn = "document.querySelector('[data-chart=reward]').data.map((trace) => trace.name)"
        assert page.evaluate(drawn) == ["learning_rate 0.1", "learning_rate 0.2"]
        assert faults_in_both_themes(page) == []
        page.get_by_label("Draw learning_rate 0.1").uncheck()
        page.wait_for_function(f"{drawn}.length === 1")
        page.get_by_role("link", name="Last reward").click()
        expect(page.get_by_role("columnheader", name="Last reward")).to_have_attribute("aria-sort", "descending")
        expect(page.get_by_label("Draw learning_rate 0.1")).not_to_be_checked()
        page.get_by_role("button", name="Draw none").click()
        expect(page.get_by_text("No run is ticked.")).to_be_visible()


def test_fields_of_a_grader_are_shown_where_it_gives_the_rewards(
    live_server: LiveServer,
    client_for: ClientFor,
    alice: User,
    training: Settings,  # noqa: F811
    tmp_path: Path,
) -> None:
    training.MODELS_FILE = tmp_path / "models.toml"
    training.MODELS_FILE.write_text('[big]\nbackend = "vllm"\ntitle = "Big"\nmodel = "big"\n')
    with room_of(live_server, session_of(client_for, alice)) as room:
        page = room.page("/learning/jobs/new/")
        page.get_by_text("New rollouts", exact=True).last.click()
        for chosen, are_shown in ((None, False), ("grader", True), ("answer", False)):
            if chosen:
                page.get_by_label("Rewards by", exact=True).select_option(chosen)
            for label in ("Grader", "Grader’s model", "Reward within (seconds)"):
                expect(page.get_by_label(label, exact=True)).to_be_visible(visible=are_shown)
        expect(page.get_by_label("Runs per group", exact=True)).to_be_visible()


def test_long_names_of_models_break_and_selects_show_their_choices(
    live_server: LiveServer,
    client_for: ClientFor,
    alice: User,
    training: Settings,  # noqa: F811
) -> None:
    job = a_job(base_title="a_model_without_a_break_" * 5, state=JobState.FINISHED)
    with room_of(live_server, session_of(client_for, alice), viewport={"width": 390, "height": 844}) as room:
        page = room.page(f"/learning/jobs/{job.public_id}/")
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        page.set_viewport_size({"width": 1440, "height": 900})
        page.goto("/learning/jobs/new/", wait_until="load")
        recipe = page.get_by_label("Recipe", exact=True)
        needed = recipe.evaluate("""(select) => {
          const { fontSize, fontFamily } = getComputedStyle(select);
          const context = document.createElement("canvas").getContext("2d");
          context.font = `${fontSize} ${fontFamily}`;
          return Math.max(...[...select.options].map((one) => context.measureText(one.text).width));
        }""")
        assert recipe.evaluate("(select) => select.clientWidth") > needed + 32, "with room for the arrow"
