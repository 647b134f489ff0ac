"""Files of an experiment have every cell and score, in the formats of other programs, and nothing that is held back."""

import csv
import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from asgiref.sync import async_to_sync
from django.core.management import CommandError, call_command
from django.test import AsyncClient, Client

from apps.accounts.models import User
from apps.experiments.models import Experiment
from apps.experiments.solving.files.toml_files import toml_of
from apps.experiments.solving.manifest import manifest_read
from apps.experiments.solving.services import manifest_stored
from apps.problems.models import Problem
from apps.reasoning.domain.generation import GenerationRequest
from tests.cast import person
from tests.experiments.driving import Stage
from tests.experiments.solving.playing import begin, make_problem_set, manifest
from tests.reasoning.play import proof

pytestmark = pytest.mark.django_db(transaction=True)
TWO = [{"name": "single", "scaffold": "single_call"}, {"name": "vote", "scaffold": "majority_vote", "params": {"solutions": 2}}]
SCORERS = [{"name": "answer", "kind": "answer"}, {"name": "own", "kind": "accepted"}]


@pytest.fixture
def alice() -> User:
    return person("alice")


@pytest.fixture
def answers() -> dict[str, object]:
    def right_on_even_ones(request: GenerationRequest) -> str:
        number = int(re.findall(r"sum number (\d+)", " ".join(message.content for message in request.messages))[0])
        return proof("We add.", f"So it is.\nAnswer: {number if number % 2 == 0 else 0}")

    return {"*": right_on_even_ones}


@pytest.fixture
def experiment(alice: User, stage: Stage) -> Experiment:
    make_problem_set(6)
    return stage.play(begin(alice, methods=TWO, scorers=SCORERS, baseline="single", repeats=2))


@pytest.fixture
def get(client: Client, alice: User, experiment: Experiment) -> Any:
    client.force_login(alice)

    def found(name: str) -> bytes:
        response = client.get(f"/experiments/{experiment.public_id}/files/{name}")
        assert response.status_code == 200
        return b"".join(response.streaming_content)  # type: ignore[attr-defined]

    return found


def rows(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode())))


def log_of(data: bytes) -> dict[str, Any]:
    """The parts of a log by name."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert {one.compress_type for one in archive.infolist()} == {zipfile.ZIP_DEFLATED}
        return {name: json.loads(archive.read(name)) for name in archive.namelist()}


def test_csv_has_a_row_a_cell_and_a_row_a_score_that_join_by_cell(get: Any) -> None:
    cells, scores = rows(get("cells.csv")), rows(get("scores.csv"))
    assert len(cells) == 6 * 2 * 2
    assert len(scores) == 2 * len(cells)
    assert {row["cell"] for row in cells} == {row["cell"] for row in scores}
    first = next(row for row in cells if (row["problem"], row["method"], row["repeat"]) == ("sum-2", "vote", "1"))
    assert (first["state"], first["calls"], first["limit_tokens"]) == ("finished", "2", "")
    assert first["run"]
    by_answer = {row["problem"]: row["share"] for row in scores if row["scorer"] == "answer" and row["method"] == "single"}
    assert by_answer == {f"sum-{number}": "1.0" if number % 2 == 0 else "0.0" for number in range(1, 7)}
    unscored = [row for row in scores if row["scorer"] == "own" and row["method"] == "single"]
    assert {(row["share"], row["reason"]) for row in unscored} == {("", "the method did not judge its proof")}


def test_parquet_has_the_same_rows_with_types(get: Any) -> None:
    cells = pq.read_table(io.BytesIO(get("cells.parquet"))).to_pylist()
    scores = pq.read_table(io.BytesIO(get("scores.parquet"))).to_pylist()
    assert [row["cell"] for row in cells] == [row["cell"] for row in rows(get("cells.csv"))]
    assert {type(row["calls"]) for row in cells} == {int}
    assert {row["accepted"] for row in cells if row["method"] == "single"} == {None}
    assert {row["share"] for row in scores if row["scorer"] == "own" and row["method"] == "single"} == {None}


def test_cells_have_the_limit_in_money_and_what_they_cost(client: Client, alice: User, stage: Stage) -> None:
    make_problem_set(1)
    prices = {"served": {"input": 1.0, "output": 2.0, "currency": "EUR", "date": "2026-11-01"}}
    budgets = [{"money": 0.5}, {}]
    made = stage.play(begin(alice, budgets=budgets, prices=prices))
    client.force_login(alice)
    url = f"/experiments/{made.public_id}/files/cells"
    first, second = rows(b"".join(client.get(f"{url}.csv").streaming_content))  # type: ignore[attr-defined]
    assert (first["limit_money"], first["currency"], second["limit_money"]) == ("0.5", "EUR", "")
    paid = (int(first["prompt_tokens"]) + 2 * int(first["completion_tokens"])) / 1e6
    assert float(first["money"]) == pytest.approx(paid)
    table = pq.read_table(io.BytesIO(b"".join(client.get(f"{url}.parquet").streaming_content)))  # type: ignore[attr-defined]
    assert table.column("limit_money").to_pylist() == [0.5, None]
    assert table.column("money").to_pylist() == pytest.approx([paid, paid])


def test_a_text_that_a_spreadsheet_would_compute_begins_with_an_apostrophe(get: Any, experiment: Experiment) -> None:
    experiment.solving_cells.filter(position=1).update(trouble='=HYPERLINK("https://example.org")')
    assert rows(get("cells.csv"))[0]["trouble"] == '\'=HYPERLINK("https://example.org")'


def test_tables_of_methods_have_intervals_and_escape_names(get: Any, experiment: Experiment) -> None:
    tex = get("methods.tex").decode()
    assert r"\toprule" in tex
    assert re.search(r"single & 50\.0 \\% & \d+\.\d to \d+\.\d & 12 & 0 & 1\.0", tex)
    assert "sums@1" in tex
    markdown = get("methods.md").decode()
    assert re.search(r"\| single \| 50\.0 % \| \d+\.\d to \d+\.\d \|", markdown)
    assert "Not decisive" in markdown
    Experiment.objects.filter(pk=experiment.pk).update(title="50 % & a_b | c")
    assert r"50 \% \& a\_b | c: mean" in get("methods.tex?scorer=own").decode()
    assert r"50 % & a\_b \| c: mean score by own" in get("methods.md?scorer=own").decode()


def test_the_manifest_starts_the_same_experiment(get: Any, experiment: Experiment) -> None:
    assert manifest_read(get("manifest.toml").decode()) == manifest_stored(experiment)


def test_a_manifest_with_every_kind_of_value_is_read_back() -> None:
    rich = manifest(
        title='Quotes " and \\ and\ttabs and ümlaut',
        methods=[{"name": "a.b", "scaffold": "rsa", "params": {"x": 1.5, "on": True, "list": ["a", 2], "in": {"k é": "v"}}}],
        teams=[{"name": "t", "roles": {"": "one", "solver": "two"}}],
        budgets=[{"tokens": 5}, {"seconds": 2.5}, {}],
        scorers=[{"name": "g", "kind": "grader", "workflow": "single_turn", "players": {"": "one"}}],
        problems={"set": "sums@1", "names": ["sum-1"]},
    )
    assert manifest_read(toml_of(rich)) == rich


def test_a_log_of_inspect_has_samples_epochs_scores_and_costs(get: Any, experiment: Experiment) -> None:
    log = log_of(get("2-vote-served-budget-0.eval"))
    header = log["header.json"]
    assert (header["version"], header["status"], header["eval"]["task"]) == (2, "success", "sums")
    assert header["eval"]["eval_set_id"] == str(experiment.public_id)
    assert header["eval"]["solver"] == "majority_vote"
    assert header["eval"]["config"]["epochs"] == 2
    assert len(log["summaries.json"]) == 12
    sample = log["samples/sum-2_epoch_2.json"]
    assert (sample["id"], sample["epoch"], sample["target"]) == ("sum-2", 2, "2")
    assert "Answer: 2" in sample["output"]["completion"]
    assert sample["scores"]["answer"]["value"] == 1
    assert sample["model_usage"]["served"]["output_tokens"] > 0
    assert sample["events"] == []
    reduced = {one["scorer"]: one["samples"] for one in log["reductions.json"]}["answer"]
    assert {one["sample_id"]: one["value"] for one in reduced} == {f"sum-{n}": float(n % 2 == 0) for n in range(1, 7)}
    assert header["results"]["scores"][0]["metrics"]["mean"]["value"] == 0.5


def test_a_missing_score_is_no_number_in_a_log_and_has_its_reason(get: Any) -> None:
    log = log_of(get("1-single-served-budget-0.eval"))
    score = log["samples/sum-2_epoch_1.json"]["scores"]["own"]
    assert score["value"] != score["value"]
    assert score["explanation"] == "the method did not judge its proof"
    own = next(one for one in log["header.json"]["results"]["scores"] if one["scorer"] == "own")
    assert (own["scored_samples"], own["unscored_samples"]) == (0, 6)


def test_a_log_has_the_texts_of_calls_only_on_request(get: Any) -> None:
    with zipfile.ZipFile(io.BytesIO(get("inspect.zip?calls=yes"))) as archive:
        assert archive.namelist() == ["1-single-served-budget-0.eval", "2-vote-served-budget-0.eval"]
        events = log_of(archive.read(archive.namelist()[1]))["samples/sum-2_epoch_2.json"]["events"]
    assert [event["event"] for event in events] == ["model", "model"]
    assert "sum number 2" in events[0]["input"][1]["content"]
    assert "Answer: 2" in events[0]["output"]["choices"][0]["message"]["content"][0]["text"]


def test_held_back_problems_are_in_no_row_and_no_log(
    get: Any, client: Client, experiment: Experiment, monkeypatch: Any
) -> None:
    hidden = Problem.objects.get(slug="sum-1").pk
    monkeypatch.setattr("apps.experiments.access.solved_visible_to", lambda user: Problem.objects.exclude(pk=hidden))
    html = client.get(f"/experiments/{experiment.public_id}/files/").content.decode()
    assert "1 problem is held back from you" in html
    for name in ("cells.csv", "scores.csv"):
        assert b"sum-1" not in get(name)
    log = log_of(get("1-single-served-budget-0.eval"))
    assert "sum-1" not in json.dumps(log)
    assert "sum-2" in json.dumps(log)


def test_the_tab_links_every_file_and_students_see_none(client: Client, experiment: Experiment, get: Any) -> None:
    url = f"/experiments/{experiment.public_id}/files/"
    html = client.get(url).content.decode()
    links = re.findall(rf'href="{url}([^"?]+)', html)
    assert len(links) == 11
    for link in links:
        assert get(link)
    assert client.get(f"{url}secrets.csv").status_code == 404
    client.force_login(person("charlie"))
    assert client.get(url).status_code == 404
    assert client.get(f"{url}cells.csv").status_code == 404


def test_a_file_is_the_same_under_asgi(experiment: Experiment, get: Any, alice: User) -> None:
    async def read() -> bytes:
        client = AsyncClient()
        await client.aforce_login(alice)
        response: Any = await client.get(f"/experiments/{experiment.public_id}/files/scores.csv")
        return b"".join([chunk async for chunk in response.streaming_content])

    assert async_to_sync(read)() == get("scores.csv")


def test_the_command_writes_the_files_of_a_format(experiment: Experiment, tmp_path: Path) -> None:
    def export(kind: str, **options: Any) -> list[str]:
        call_command("experiment", "export", experiment.title, tmp_path / kind, format=kind, stdout=io.StringIO(), **options)
        return sorted(path.name for path in (tmp_path / kind).iterdir())

    assert export("csv") == ["cells.csv", "scores.csv"]
    assert export("parquet") == ["cells.parquet", "scores.parquet"]
    assert export("eval") == ["1-single-served-budget-0.eval", "2-vote-served-budget-0.eval"]
    assert export("manifest") == ["manifest.toml"]
    assert export("latex", scorer="own") == ["methods.tex"]
    assert "score by own" in (tmp_path / "latex" / "methods.tex").read_text()
    with pytest.raises(CommandError, match="Its scorers: answer, own"):
        export("markdown", scorer="people")
    (tmp_path / "eval.txt").write_text("")
    with pytest.raises(CommandError, match="Name a folder"):
        call_command("experiment", "export", experiment.title, tmp_path / "eval.txt", format="csv")
