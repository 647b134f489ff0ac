"""`python -m workers.serve ALIAS…`: the only command of a machine that joins."""

from pathlib import Path

import pytest
from pytest_django import Settings

from apps.reasoning.domain.errors import AliasError
from workers.serve import celery_command, chosen_aliases, main, servable

MODELS = """
[one]
backend = "scripted"
concurrency = 8
options = {script = "worked_example"}
[two]
backend = "scripted"
concurrency = 16
options = {script = "worked_example"}
[off]
backend = "scripted"
enabled = false
options = {script = "worked_example"}
"""


@pytest.fixture
def models(tmp_path: Path) -> Path:
    path = tmp_path / "models.toml"
    path.write_text(MODELS)
    return path


def test_the_worker_reads_the_queues_of_its_aliases_only(models: Path) -> None:
    command = celery_command(chosen_aliases(["two"], models))
    assert "--queues=inference.two" in command
    assert "--concurrency=32" in command


def test_several_aliases_share_a_worker_that_has_room_for_all(models: Path) -> None:
    command = celery_command(chosen_aliases(["two", "one", "two"], models))
    assert "--queues=inference.two,inference.one" in command
    assert "--concurrency=48" in command
    assert "--concurrency=5" in celery_command(chosen_aliases(["one"], models), threads=5)


def test_a_single_place_leaves_threads_for_urgent_calls(tmp_path: Path) -> None:
    path = tmp_path / "models.toml"
    path.write_text('[single]\nbackend = "scripted"\nconcurrency = 1\noptions = {script = "worked_example"}\n')
    assert "--concurrency=4" in celery_command(chosen_aliases(["single"], path))


def test_a_worker_takes_no_calls_of_an_engine_that_its_environment_lacks(
    models: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It would fail runs that another worker with that engine could serve."""
    models.write_text(f'{MODELS}[large]\nbackend = "vllm"\nmodel = "/weights"\n')
    monkeypatch.setattr("workers.serve.is_servable_here", lambda alias: alias.backend != "vllm")
    assert [alias.name for alias in servable(chosen_aliases(["large", "one"], models))] == ["one"]
    assert "has no vLLM, so it cannot serve large" in capsys.readouterr().err
    with pytest.raises(AliasError, match="cannot serve large"):
        servable(chosen_aliases(["large"], models))


def test_a_worker_serves_only_the_aliases_of_its_queues(models: Path, settings: Settings) -> None:
    from workers.worker import aliases_of

    settings.MODELS_FILE = models
    assert list(aliases_of({"inference.two": object()})) == ["two"]
    assert list(aliases_of({"runs": object()})) == []


@pytest.mark.parametrize("name", ["three", "off"])
def test_a_missing_or_disabled_alias_is_rejected_with_the_list_of_aliases(models: Path, name: str) -> None:
    with pytest.raises(AliasError, match=f"no enabled alias {name}; it has one, two"):
        chosen_aliases([name], models)


def test_the_command_line_rejects_an_unknown_alias_in_one_sentence(
    capsys: pytest.CaptureFixture[str], settings: Settings
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["nothing-of-the-kind"])
    assert ended.value.code == 2
    assert f"{settings.MODELS_FILE} has no enabled alias nothing-of-the-kind" in capsys.readouterr().err
