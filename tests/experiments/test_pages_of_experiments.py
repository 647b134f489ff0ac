"""The pages of an experiment: estimated cost, progress, a sortable and filterable table, downloads, commands."""

import csv
import io
import json
import re
import uuid
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.experiments.advancing import conduct_once
from apps.experiments.models import CellState, Experiment, ExperimentState
from apps.experiments.services import experiment_pause
from apps.reasoning.domain.generation import GenerationRequest
from tests.experiments.driving import Stage, make_experiment, make_set
from tests.graders.grade import finding, grading

pytestmark = pytest.mark.django_db(transaction=True)
ClientFor = Callable[[User | None], Client]
Answers = dict[str, object]


def page(client: Client, experiment: Experiment, query: str = "") -> str:
    return client.get(reverse("experiments:detail", args=[experiment.public_id]) + query).content.decode()


def form_data(**changes: object) -> dict[str, object]:
    return {
        "title": "Trial", "workflows": ["single_turn"], "aliases": ["served"], "at_once": 4, "seed": 0,
        "start_id": str(uuid.uuid4()),
    } | changes  # fmt: skip


def mixed(request: GenerationRequest) -> str:
    """Answers: unreadable for version 0, also to the second request; 7 points for version 1, 3 for the others."""
    asked = "".join(message.content for message in request.messages)
    if "Version 0." in asked or "Version" not in asked:
        return "I like turtles."
    return grading(7 if "Version 1." in asked else 3, finding())


def test_the_cost_is_estimated_before_anything_starts(alice: User, client_for: ClientFor) -> None:
    source = f"set:{make_set(30, problems=3).public_id}"
    client, address = client_for(alice), reverse("experiments:new")
    text = client.post(
        address, form_data(source=source, workflows=["ref5_plain"]), headers={"HX-Request": "true"}
    ).content.decode()
    assert "<!doctype" not in text
    assert 'num">30</strong> gradings of 30 scripts on 3 problems' in text
    assert "About 69 calls" in text  # Three pieces per problem, two calls per script.
    assert not Experiment.objects.exists()


def test_a_form_sent_twice_starts_one_experiment(alice: User, client_for: ClientFor, stage: Stage) -> None:
    client, address = client_for(alice), reverse("experiments:new")
    data = form_data(source=f"set:{make_set(2).public_id}")
    first, second = client.post(address, data), client.post(address, data)
    experiment = Experiment.objects.get()
    assert first.headers["Location"] == second.headers["Location"] == f"/experiments/{experiment.public_id}/"
    assert stage.play(experiment).state == ExperimentState.DONE


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"workflows": []}, "This field is required."),
        ({"aliases": ["oracle"]}, "Select a valid choice"),
        ({"source": "set:none"}, "Select a valid choice"),
        ({"problems": "P9"}, "at least one matching script"),
    ],
)
def test_an_invalid_form_starts_nothing(alice: User, client_for: ClientFor, changes: dict[str, object], why: str) -> None:
    data = form_data(**{"source": f"set:{make_set(2).public_id}"} | changes)
    response = client_for(alice).post(reverse("experiments:new"), data)
    assert response.status_code == 422
    assert why in response.content.decode()
    assert not Experiment.objects.exists()


def test_the_table_shows_points_of_graders_and_people(
    alice: User, client_for: ClientFor, stage: Stage, answers: Answers
) -> None:
    answers["*"] = mixed
    graded_set = make_set(4)
    graded_set.scripts.get(name="S3").human_scores.update(points=Decimal("3.5"))
    experiment = stage.play(make_experiment(alice, graded_set))
    client = client_for(alice)
    text = page(client, experiment)
    assert "4 of 4" in text
    assert "3.5 of 7" in text
    assert 'data-label="grader">Single turn ' in text
    assert "single_turn" not in text
    assert "every 3s" not in text
    run = experiment.cells.get(position=2).run
    assert run is not None
    row = text[text.index(reverse("graders:detail", args=[run.public_id])) :]
    row = row[: row.index("</tr>")]
    assert "7 of 7" in row
    assert "1 of 7" in row
    assert "+6" in row
    assert "far" in row


@pytest.mark.parametrize(
    ("query", "there", "not_there"),
    [
        ("?show=unscored", ["S1"], ["S2", "S3", "S4"]),
        ("?show=scored", ["S2", "S3", "S4"], ["S1"]),
        ("?show=far", ["S2"], ["S1", "S3", "S4"]),
        ("?q=S3", ["S3"], ["S1", "S2", "S4"]),
        ("?show=failed", [], ["S1", "S2", "S3", "S4"]),
        ("?show=nonsense&sort=nonsense", ["S1", "S2", "S3", "S4"], []),
    ],
)
def test_the_table_can_be_filtered(
    alice: User, client_for: ClientFor, stage: Stage, answers: Answers, query: str, there: list[str], not_there: list[str]
) -> None:
    answers["*"] = mixed
    text = page(client_for(alice), stage.play(make_experiment(alice, make_set(4))), query)
    body = text[text.index("<tbody>") :] if "<tbody>" in text else ""
    assert [name for name in (*there, *not_there) if f">{name}</a>" in body] == there


def test_the_table_can_be_sorted_in_both_directions(alice: User, client_for: ClientFor, stage: Stage, answers: Answers) -> None:
    answers["*"] = mixed
    experiment = stage.play(make_experiment(alice, make_set(4)))
    client = client_for(alice)
    upwards, downwards = page(client, experiment, "?sort=apart"), page(client, experiment, "?sort=-apart")
    assert upwards.index(">S4</a>") < upwards.index(">S3</a>") < upwards.index(">S2</a>") < upwards.index(">S1</a>")
    assert downwards.index(">S2</a>") < downwards.index(">S3</a>") < downwards.index(">S4</a>") < downwards.index(">S1</a>")
    assert 'aria-sort="descending"' in downwards


def test_downloads_contain_the_filtered_results(alice: User, client_for: ClientFor, stage: Stage, answers: Answers) -> None:
    answers["*"] = mixed
    experiment = stage.play(make_experiment(alice, make_set(3)))
    client = client_for(alice)
    table = client.get(reverse("experiments:csv", args=[experiment.public_id])).getvalue().decode()
    rows = list(csv.DictReader(io.StringIO(table)))
    assert [(row["paper"], row["state"], row["points"], row["human"]) for row in rows] == [
        ("S1", "unscored", "", "0.0"), ("S2", "scored", "7.0", "1.0"), ("S3", "scored", "3.0", "2.0"),
    ]  # fmt: skip
    lines = client.get(reverse("experiments:jsonl", args=[experiment.public_id]) + "?show=scored").getvalue().decode()
    found = [json.loads(line) for line in lines.splitlines()]
    assert [row["paper"] for row in found] == ["S2", "S3"]
    assert found[0]["grading"]["findings"][0]["step"] == 2


def test_the_command_of_the_manual_compares_results_of_one_grader_and_refuses_several(
    alice: User, client_for: ClientFor, stage: Stage, tmp_path: Path
) -> None:
    manual = (Path(__file__).resolve().parents[2] / "docs" / "experiments.md").read_text()
    found = re.search(r"`manage\.py agreement results\.jsonl ([^`]+)`", manual)
    assert found is not None
    experiment = stage.play(make_experiment(alice, make_set(4, problems=2), "single_turn", "single_turn+neutral"))
    client, address = client_for(alice), reverse("experiments:jsonl", args=[experiment.public_id])
    path, out = tmp_path / "results.jsonl", io.StringIO()
    path.write_bytes(client.get(f"{address}?workflow=single_turn").getvalue())
    call_command("agreement", str(path), *found[1].split(), stdout=out)
    assert re.search(r"with points on both sides +│ +4 ", out.getvalue())
    assert re.search(r"problems +│ +2 ", out.getvalue())
    path.write_bytes(client.get(address).getvalue())
    with pytest.raises(CommandError, match="duplicate paper “S1”"):
        call_command("agreement", str(path), *found[1].split(), stdout=out)


def test_the_page_of_a_running_experiment_refreshes_and_shows_progress(
    alice: User, client_for: ClientFor, stage: Stage
) -> None:
    experiment = make_experiment(alice, make_set(4), at_once=2)
    conduct_once()
    stage.drive_sent(at_most=1)
    client = client_for(alice)
    page_text = page(client, experiment)
    assert "1 of 4" in page_text
    assert "left</span>" in page_text
    part = client.get(
        reverse("experiments:detail", args=[experiment.public_id]), headers={"HX-Request": "true", "HX-Target": "experiment"}
    ).content.decode()
    assert part.lstrip().startswith('<div id="experiment"')
    assert "every 3s" in part
    experiment_pause(experiment=experiment)
    paused = page(client, experiment)
    assert "1 of 4" in paused
    assert "left</span>" not in paused, "the time left is unknown"
    for text in (page_text, part):
        assert re.search(r'<form id="experiment-filters"[^>]* hx-preserve="true"', text), "typed text stays"


def test_commands_are_for_the_owner_and_researchers(alice: User, bob: User, client_for: ClientFor, stage: Stage) -> None:
    experiment = make_experiment(alice, make_set(2))
    address = reverse("experiments:command", args=[experiment.public_id, "pause"])
    assert client_for(bob).post(address).status_code == 404
    assert client_for(alice).post(address).status_code == 302
    experiment.refresh_from_db()
    assert experiment.state == ExperimentState.PAUSED
    assert "Pause</button>" not in page(client_for(bob), experiment)
    assert client_for(alice).post(address.replace("pause", "explode")).status_code == 404
    client_for(alice).post(address.replace("pause", "cancel"))
    assert set(experiment.cells.values_list("state", flat=True)) == {CellState.CANCELLED}


def test_students_cannot_open_experiments_or_sets(alice: User, charlie: User, client_for: ClientFor, stage: Stage) -> None:
    graded_set = make_set(1)
    experiment = stage.play(make_experiment(alice, graded_set))
    client = client_for(charlie)
    for name in ("detail", "csv", "jsonl"):
        assert client.get(reverse(f"experiments:{name}", args=[experiment.public_id])).status_code == 404
    assert client.get(reverse("graded_sets:detail", args=[graded_set.public_id])).status_code == 404
    script = graded_set.scripts.get()
    assert client.get(reverse("graded_sets:script", args=[graded_set.public_id, script.public_id])).status_code == 404
