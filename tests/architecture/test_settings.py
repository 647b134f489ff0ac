"""What the documents promise: every setting is described, and the environment is read in one place."""

import re
from pathlib import Path

from django.apps import apps
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState

ROOT = Path(__file__).resolve().parents[2]


def test_every_setting_that_is_read_from_the_environment_is_documented() -> None:
    source = "".join((ROOT / f"apps/config/{name}.py").read_text() for name in ("settings", "settings_rooms"))
    read = set(re.findall(r"env\.\w+\(\s*\"([A-Z_]+)\"", source))
    documented = set(re.findall(r"`([A-Z][A-Z_]+)`", (ROOT / "docs/settings.md").read_text()))
    assert len(read) > 15
    assert read - documented == set()


def test_only_the_settings_read_the_environment() -> None:
    allowed = {
        "apps/config/settings.py",
        "apps/config/celery.py",  # DJANGO_SETTINGS_MODULE, before settings exist
        "apps/config/asgi.py",
        "apps/config/probe.py",
        "apps/learning/jobs/trainers.py",  # hands on to trainers what finds devices, and nothing else
        "apps/mathcheck/kernel/checker.py",  # where a proof assistant is, for commands without settings
        "workers/serve.py",
        "workers/training/checkpoints.py",  # the commit of the code, which the application passes to its trainer
        "workers/training/measuring/machine.py",  # the same commit
        "workers/training/processes/sharding.py",  # the division of weights that the application's settings name
        "workers/training/trackers.py",  # the trackers that the application's settings name; places of trackers' files
        "apps/config/management/commands/up.py",  # hands its own --port on to the processes it starts
        "apps/processes/local.py",  # the same key, for commands that ask a model server without a stack
        "apps/reasoning/library/program_run.py",  # a model server's key, by the name that a caller gives
        "apps/operations/backups/postgres.py",  # hands on to pg_dump and pg_restore what finds programs and certificates
        "workers/backends.py",  # a model server's key, by the name that models.toml gives
        "workers/engines/openvino.py",  # the environment of the engine's own process
        "workers/engines/openvino_child.py",
        "workers/engines/tied_children.py",  # a word to our own children
        "workers/engines/vllm_engine.py",  # vLLM's own variables, which the administrator may have set
        "workers/engines/dequantise.py",  # where the user keeps what can be made again
    }
    readers = {
        str(path.relative_to(ROOT))
        for folder in ("apps", "workers")
        for path in (ROOT / folder).rglob("*.py")
        if re.search(r"os\.environ|getenv", path.read_text())
    }
    assert readers - allowed == set()


def test_every_csv_file_goes_through_the_guarded_writer() -> None:
    writers = [
        str(path.relative_to(ROOT))
        for folder in ("apps", "workers")
        for path in (ROOT / folder).rglob("*.py")
        if re.search(r"csv\.(Dict)?[Ww]riter\b|from csv import|\.to_csv\(|write_csv\(", path.read_text())
    ]
    assert writers == ["apps/files/csv_files.py"]


def test_the_models_have_their_migrations() -> None:
    loader = MigrationLoader(None)
    changes = MigrationAutodetector(loader.project_state(), ProjectState.from_apps(apps)).changes(graph=loader.graph)
    assert changes == {}, "run manage.py makemigrations"


def test_no_business_rule_hides_in_a_signal() -> None:
    hidden = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "apps").rglob("*.py")
        if re.search(r"post_save|pre_save|post_delete|@receiver", path.read_text())
    ]
    assert hidden == []


def test_the_version_is_the_changelogs() -> None:
    from django.conf import settings

    assert re.fullmatch(r"\d+\.\d+\.\d+", settings.VERSION)
    assert f"## {settings.VERSION}" in (ROOT / "CHANGELOG.md").read_text()
