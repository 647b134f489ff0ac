"""The export of a run, and the two management commands."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from apps.accounts.models import User
from apps.explorations import driving
from apps.explorations.management.commands import explore
from apps.runs.models import Run
from tests.explorations.factory import make_exploration, make_problem
from tests.explorations.test_start_form import MODELS
from tests.lemmas.factory import make_run


@pytest.fixture
def no_stack(monkeypatch: pytest.MonkeyPatch, settings: Settings, tmp_path: Path) -> None:
    """The broker does not answer."""
    monkeypatch.setattr(explore, "is_stack_up", lambda: False)
    settings.MODELS_FILE = tmp_path / "models.toml"
    settings.MODELS_FILE.write_text(MODELS)


def said(name: str, *args: str) -> str:
    out = io.StringIO()
    call_command(name, *args, stdout=out)
    return out.getvalue()


def test_the_export_holds_run_events_and_calls_with_texts(alice: User, client_for: Callable[[User | None], Client]) -> None:
    run = make_exploration(alice)
    response = client_for(alice).get(reverse("explorations:export", args=[run.public_id]))
    lines = [json.loads(line) for line in response.getvalue().decode().splitlines()]
    assert lines[0]["type"] == "run"
    assert [line["seq"] for line in lines if line["type"] == "event"] == list(range(1, run.last_seq + 1))
    calls = [line for line in lines if line["type"] == "call"]
    assert len(calls) == run.steps.count()
    assert calls[0]["text"].startswith("Text of")
    assert "You work on a problem." in calls[0]["prompt_text"]


def test_the_terminal_exports_every_format(alice: User, tmp_path: Path) -> None:
    run = make_exploration(alice)
    assert len(said("export_run", str(run.public_id), "--no-texts").splitlines()) == 1 + run.last_seq + run.steps.count()
    assert "graphml" in said("export_run", str(run.public_id), "--format", "graphml")
    assert "digraph" in said("export_run", str(run.public_id), "--format", "dot")
    assert "\\begin{namedlemma}" in said("export_run", str(run.public_id), "--format", "latex")
    assert "resourceSpans" in json.loads(said("export_run", str(run.public_id), "--format", "spans"))
    target = tmp_path / "graph.json"
    said("export_run", str(run.public_id), "--format", "json", "--output", str(target))
    assert json.loads(target.read_text())["nodes"]


def test_the_terminal_refuses_an_unknown_run_and_a_file_it_cannot_write(alice: User) -> None:
    with pytest.raises(CommandError, match="There is no run"):
        call_command("export_run", "nonsense")
    run = make_exploration(alice)
    with pytest.raises(CommandError, match="no selected proof"):
        call_command("export_run", str(make_run().public_id), "--format", "latex")
    with pytest.raises(CommandError, match="Could not write"):
        call_command("export_run", str(run.public_id), "--output", "/nowhere/at/all")


@pytest.mark.django_db
@pytest.mark.usefixtures("no_stack")
@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["unknown"], "There is no problem unknown"),
        (["two-squares", "--alias", "gone"], "No enabled model is named gone"),
        (["two-squares", "--set", "rounds"], "NAME=VALUE"),
        (["two-squares", "--set", "rounds=0"], "write a number of at least 1"),
        (["two-squares", "--preset", "contest"], "Add --yes"),
        (["two-squares", "--budget-calls", "0"], "must be more than 0"),
        (["two-squares", "--user", "missing"], "no account missing"),
        (["two-squares", "--no-follow"], "the stack is not running"),
    ],
)
def test_the_terminal_refuses_in_words_and_makes_no_run(args: list[str], words: str) -> None:
    make_problem()
    with pytest.raises(CommandError, match=words):
        call_command("explore", *args)
    assert not Run.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("no_stack")
def test_the_terminal_plays_the_worked_example_in_its_own_process(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [json.loads(line) for line in said("explore", "--example", "--json").splitlines()]
    assert [line["seq"] for line in lines[:-1]] == list(range(1, len(lines)))
    assert lines[-1]["outcome"]["accepted"] is True
    assert lines[-1]["authored"] is True
    assert "finished: " in said("explore", "--example")
    assert "lemma s0.1" in capsys.readouterr().out


@pytest.mark.parametrize("backend", ["openvino", "vllm"])
def test_a_model_of_the_inference_worker_needs_the_stack(backend: str) -> None:
    from apps.reasoning.domain.errors import AliasError
    from apps.reasoning.inference.aliases import parse_aliases

    alias = parse_aliases(f'[a]\nbackend = "{backend}"\nmodel = "x"\n')["a"]
    with pytest.raises(AliasError, match="make up"):
        driving.check_local([alias])
