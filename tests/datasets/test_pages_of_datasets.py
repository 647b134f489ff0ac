"""Pages of datasets: choice of runs, preview, builds, and downloads of a version."""

import io
import json
import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from apps.accounts.models import User
from apps.datasets import services
from apps.datasets.models import DatasetBuild, DatasetVersion
from apps.datasets.selectors import TALLY_KEY, builds_to_show
from apps.datasets.services import options_read, progress_file, progress_path
from apps.datasets.versions.making import build_make
from apps.recipes.registry import TRAININGS
from apps.recipes.rows.__main__ import main as export
from tests.datasets.factory import a_dataset, failed, passed, version_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def begun(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[DatasetBuild]:
    """Builds whose process would have been started."""
    settings.DATA_DIR = tmp_path
    found: list[DatasetBuild] = []
    monkeypatch.setattr(services, "_spawn", found.append)
    return found


@pytest.fixture
def page(alice: User, client_for: Callable[[User | None], Client]) -> Client:
    return client_for(alice)


def posted(page: Client, **fields: object) -> HttpResponse:
    known = {"name": "proofs", "recipe": "grpo_rubric", "judge": "verifiers"}
    return page.post(reverse("datasets:new"), known | fields)  # type: ignore[return-value]


def text_of(answer: HttpResponse) -> str:
    return " ".join(answer.content.decode().split())


def streamed(page: Client, name: str, *args: object) -> bytes:
    answer = page.get(reverse(f"datasets:{name}", args=args))
    assert answer.status_code == 200
    return b"".join(answer)


def test_the_preview_counts_runs_without_making_anything(page: Client, begun: list[DatasetBuild]) -> None:
    version = version_of()
    runs = [str(run.public_id) for run in (passed(version), failed(version))]
    preview = text_of(posted(page, run=runs, do="look"))
    assert '<dt>Trajectories</dt><dd class="num">2</dd>' in preview
    assert "made from another solution, so its prompt is unique" in preview
    assert "tokens and log-probabilities" in preview
    assert preview.count(" checked") == 2, "ticked runs stay ticked"
    assert not begun
    assert not DatasetBuild.objects.exists()


def test_the_preview_shows_why_a_dataset_cannot_be_made(page: Client) -> None:
    run = passed(version_of(), capture=False)
    preview = text_of(posted(page, run=[str(run.public_id)], do="look"))
    assert "1 of 1 runs were not recorded for learning" in preview
    assert "texts only" in text_of(page.get(reverse("datasets:new")))  # type: ignore[arg-type]


def test_a_build_starts_a_process_and_the_list_shows_its_progress(page: Client, begun: list[DatasetBuild]) -> None:
    run = passed(version_of())
    answer = posted(page, recipe="sft_proofs", o_accepted="0.5", run=[str(run.public_id)], do="make")
    assert answer.status_code == 302
    [build] = begun
    assert (build.name, build.recipe, build.options) == ("proofs", "sft_proofs", {"judge": "verifiers", "accepted": 0.5})
    assert build.runs == [str(run.public_id)]
    with progress_file(build) as report:
        report("runs read", 1, 7)
        deadline = time.monotonic() + 10
        while "runs read, 1 of 7" not in (shown := text_of(page.get(reverse("datasets:list")))):  # type: ignore[arg-type]
            assert time.monotonic() < deadline
        assert 'hx-trigger="every 2s"' in shown
    assert not progress_path(build).exists()
    build_make(build, export=export)
    shown = text_of(page.get(reverse("datasets:list")))  # type: ignore[arg-type]
    assert "proofs v1" in shown
    assert "every 2s" not in shown


def test_open_choices_of_the_papers_are_options_and_invalid_values_name_their_option() -> None:
    plain = options_read(TRAININGS["orealh"], {})
    assert {name: plain[name] for name in ("scope", "gamma", "weighting", "terminals", "keep")} == {
        "scope": "library", "gamma": 1.0, "weighting": "counts", "terminals": "all", "keep": "all",
    }  # fmt: skip
    lengths = options_read(TRAININGS["turn_dapo"], {"longest": "16384", "margin": 2048})
    assert (lengths["longest"], lengths["margin"]) == (16384, 2048)
    for recipe, given, words in (
        ("orealh", {"gamma": 1.5}, "from 0 to 1."),
        ("orealh", {"scope": "turn"}, "library, round"),
        ("turn_dapo", {"longest": 0.5}, "a whole number"),
        ("turn_dapo", {"longest": 100, "margin": 200}, "cannot exceed it"),
        ("turn_dapo", {"margin": 200}, "cannot exceed it"),
        ("orealh", {"gamma": 0.5, "credit": "trajectory"}, "has no effect"),
        ("orealh", {"scope": "round", "credit": "printed"}, "has no effect"),
    ):
        with pytest.raises(ValidationError) as refused:
            options_read(TRAININGS[recipe], given)
        [(name, messages)] = refused.value.message_dict.items()
        assert name in given
        assert words in messages[0]


@pytest.mark.parametrize(
    "wrong", [{"run": []}, {"name": "Not a name"}, {"recipe": "magic"}, {"run": ["5e1f0a3c-9c1b-4b43-8f2d-0b8f6f1f7c11"]}]
)
def test_an_invalid_form_starts_nothing_and_keeps_the_input(
    page: Client, begun: list[DatasetBuild], wrong: dict[str, object]
) -> None:
    run = passed(version_of())
    answer = posted(page, **({"run": [str(run.public_id)], "do": "make"} | wrong))
    assert answer.status_code == 422
    assert "The dataset was not made" in text_of(answer)
    assert not begun


def test_a_build_without_a_process_is_marked_as_failed(page: Client, begun: list[DatasetBuild]) -> None:
    posted(page, recipe="sft_proofs", run=[str(passed(version_of()).public_id)], do="make")
    path = progress_path(begun[0])
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"what": "runs read", "done": 1, "of": 2}))
    assert builds_to_show()[0].done == 1
    os.utime(path, (time.time() - 100, time.time() - 100))
    assert not builds_to_show()[0].is_making
    assert "ended without a message" in DatasetBuild.objects.get().message


def test_a_version_shows_its_manifest_and_offers_files_and_views(page: Client, begun: list[DatasetBuild]) -> None:
    stated = version_of("sum", answer="42")
    runs = [str(run.public_id) for run in (passed(stated), failed(stated))]
    posted(page, run=runs, do="make")
    made = build_make(begun[0], export=export)
    place = (made.name, made.version)
    shown = text_of(page.get(reverse("datasets:version", args=place)))  # type: ignore[arg-type]
    assert made.hash[:12] in shown
    assert "grpo_rubric" in shown
    assert f"/learning/jobs/new/?source=dataset:{made.pk}&amp;recipe=grpo_rubric" in shown
    rows = [json.loads(line) for line in streamed(page, "view", *place, "rows").splitlines()]
    stored = pq.read_table(io.BytesIO(streamed(page, "file", *place, "rows/00000.parquet"))).to_pylist()
    assert rows == stored
    completions = [json.loads(line) for line in streamed(page, "view", *place, "trl-completions").splitlines()]
    assert [message["role"] for message in completions[0]["prompt"] + completions[0]["completion"]] == [
        "system",
        "user",
        "assistant",
    ]
    assert json.loads(streamed(page, "view", *place, "trl-messages").splitlines()[0])["messages"][-1]["role"] == "assistant"
    [prompt] = [json.loads(line) for line in streamed(page, "view", *place, "trl-prompts").splitlines()]
    assert prompt["answer"] == "42"
    verl = pq.read_table(io.BytesIO(streamed(page, "view", *place, "verl-prompts"))).to_pylist()
    assert verl[0]["reward_model"] == {"style": "rule", "ground_truth": "42"}
    assert verl[0]["data_source"] == "lemmascope/proofs"
    card = streamed(page, "view", *place, "card").decode()
    assert card == (made.folder / "README.md").read_text()
    assert made.hash in card
    assert "num_examples: 2" in card
    for name, last in (("view", "magic"), ("file", "no.json"), ("file", "../proofs-v2/manifest.json"), ("file", "rows")):
        assert page.get(reverse(f"datasets:{name}", args=(*place, last))).status_code == 404


def test_a_version_shows_tallies_over_all_trajectories(page: Client, tmp_path: Path) -> None:
    where = a_dataset()
    path = tmp_path / "datasets" / "small-v1" / "manifest.json"
    tally = {"role/verifier1/found": [0, 8], "role/verifier1/spared": [6, 8], "masked_rounds": [1, 4], "mean_value": [5, 2]}
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps(manifest | {"counts": manifest["counts"] | {TALLY_KEY: tally}}))
    shown = re.sub(r"<[^>]+>|\s+", " ", text_of(page.get(reverse("datasets:version", kwargs=where))))  # type: ignore[arg-type]
    read = re.sub(r" +", " ", shown)
    assert "verifier1: wrong solutions flagged (TPR) 0.000 8" in read
    assert "verifier1: right solutions passed (TNR) 0.750 8" in read
    assert "rounds without a new lemma 0.250 4" in read
    assert "mean value of lemmas 2.500 2" in read


def test_only_researchers_see_datasets(bob: User, client_for: Callable[[User | None], Client]) -> None:
    other = client_for(bob)
    assert other.get(reverse("datasets:list")).status_code == 404
    assert other.post(reverse("datasets:new"), {"name": "x"}).status_code == 404
    assert not DatasetVersion.objects.exists()
