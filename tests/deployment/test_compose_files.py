"""The compose files: Docker Compose accepts them, only the proxy is reachable from outside, and all names in them exist."""

import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import get_commands

from apps.learning.queues import TRAIN_QUEUE
from apps.reasoning.inference.aliases import load_aliases
from tests.deployment.compose import (
    DOCKER,
    GPU,
    JOIN,
    MAIN,
    ROOT,
    docker_compose,
    dockerfile,
    ours,
    read,
    resolved,
    resolved_services,
    seconds,
    services,
)

needs_compose = pytest.mark.skipif(docker_compose() is None, reason="Docker Compose v2 is not installed (.ci/compose does it)")
#: Variables of other programs.
FOREIGN = {"NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES", "HF_TOKEN"}


def _settings() -> str:
    return "".join((ROOT / f"apps/config/{name}.py").read_text() for name in ("settings", "settings_rooms"))


EVERY = pytest.mark.parametrize("name", services())


@needs_compose
@pytest.mark.parametrize("files", [(MAIN,), (MAIN, GPU), (GPU,), (MAIN, JOIN), (MAIN, GPU, JOIN)], ids=lambda files: "+".join(
    path.stem for path in files
))  # fmt: skip
def test_docker_compose_accepts_the_files(files: tuple[Path, ...]) -> None:
    assert resolved_services(*files)


@needs_compose
@pytest.mark.parametrize("secret", ["SECRET_KEY", "POSTGRES_PASSWORD", "VALKEY_PASSWORD", "SITE_NAME"])
def test_nothing_starts_without_its_secrets(secret: str) -> None:
    done = resolved(MAIN, without=secret)
    assert done.returncode != 0
    assert secret in done.stderr


@needs_compose
def test_only_the_proxy_is_published() -> None:
    found = resolved_services(MAIN, GPU)
    assert {name for name, service in found.items() if service.get("ports")} == {"proxy"}


@needs_compose
def test_joining_machines_reach_the_broker_at_the_private_address_only() -> None:
    ports = resolved_services(MAIN, JOIN)["valkey"]["ports"]
    assert [(port["host_ip"], port["published"]) for port in ports] == [("10.9.0.1", "6379")]
    assert resolved(MAIN, JOIN, without="PRIVATE_ADDRESS").returncode != 0


@EVERY
def test_no_service_is_root_or_can_become_it(name: str) -> None:
    service = services()[name]
    user, group = service["user"].split(":")
    assert int(user) > 0
    assert int(group) > 0
    assert service["cap_drop"] == ["ALL"]
    assert service.get("cap_add", []) in ([], ["NET_BIND_SERVICE"])
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not service.get("privileged")


@EVERY
def test_every_file_system_is_read_only_and_every_log_is_limited(name: str) -> None:
    service = services()[name]
    assert service["read_only"] is True
    assert service["tmpfs"]
    assert all("size=" in mount for mount in service["tmpfs"])
    assert {"max-size", "max-file"} <= set(service["logging"]["options"])
    assert not any("docker.sock" in str(volume) for volume in service.get("volumes", []))


@EVERY
def test_every_service_has_limits_and_a_health_check(name: str) -> None:
    service = services()[name]
    assert {"memory", "cpus", "pids"} <= set(service["deploy"]["resources"]["limits"])
    if service["restart"] == "no":
        assert service["healthcheck"] == {"disable": True}
    else:
        assert service["healthcheck"]["test"]
        assert service["healthcheck"]["start_period"]


def test_database_and_broker_have_no_outside_network() -> None:
    assert read(MAIN)["networks"]["back"] == {"internal": True}
    for name in ("postgres", "valkey"):
        assert services()[name]["networks"] == ["back"]


def test_the_sandbox_reaches_the_broker_only_and_shares_no_user() -> None:
    sandbox = services()["sandbox"]
    assert sandbox["networks"] == ["back"]
    assert "env_file" not in sandbox
    users = {name: service["user"] for name, service in services().items()}
    assert [name for name, user in users.items() if user == users["sandbox"]] == ["sandbox"]


def test_inference_workers_have_neither_the_database_nor_the_secret_key() -> None:
    for name in ("inference", "inference-gpu", "sandbox"):
        assert not {"DATABASE_URL", "SECRET_KEY"} & set(services()[name]["environment"])


def test_every_setting_in_the_files_exists() -> None:
    known = set(re.findall(r"env\.\w+\(\s*\"([A-Z_]+)\"", _settings()))
    named = {variable for service in ours().values() for variable in service["environment"]}
    assert named - known - FOREIGN == set()


def test_a_deployment_is_not_embedded_and_uses_https() -> None:
    for name, service in ours().items():
        assert service["environment"]["EMBEDDED"] == "0", name
        assert "DEBUG" not in service["environment"]
    assert services()["web"]["environment"]["HTTPS"] == "1"


@needs_compose
def test_settings_env_reaches_all_readers_and_the_compose_files_override_it(tmp_path: Path) -> None:
    for file in (MAIN, GPU):
        shutil.copy(file, tmp_path)
    (tmp_path / "settings.env").write_text("RUN_WINDOW=256\nLOG_URL_TEMPLATE=https://logs/{run}\nEMBEDDED=1\n")
    found = resolved_services(tmp_path / MAIN.name, tmp_path / GPU.name)
    readers = {name for name, service in found.items() if (service.get("environment") or {}).get("RUN_WINDOW") == "256"}
    assert readers == {"web", "orchestrator", "trainer", "inference", "inference-gpu"}
    assert found["web"]["environment"]["LOG_URL_TEMPLATE"] == "https://logs/{run}"
    assert {found[name]["environment"]["EMBEDDED"] for name in readers} == {"0"}


def test_the_broker_refuses_to_write_before_the_kernel_kills_it(tmp_path: Path) -> None:
    """Runs its start command with our own limit file and a `valkey-server` that prints its settings."""
    (tmp_path / "memory.max").write_text("2147483648\n")
    (tmp_path / "valkey-server").write_text('#!/bin/sh\ncat "$1"\n')
    (tmp_path / "valkey-server").chmod(0o755)
    script = services()["valkey"]["command"][0].replace("$$", "$").replace("/tmp/secret.conf", str(tmp_path / "secret.conf"))
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "VALKEY_PASSWORD": "secret"}
    for limit, lines in ((tmp_path / "memory.max", ["maxmemory 1288490184"]), (tmp_path / "none", [])):
        started = script.replace("/sys/fs/cgroup/memory.max", str(limit))
        shown = subprocess.run(["sh", "-c", started], env=env, capture_output=True, text=True, check=True).stdout
        assert shown.splitlines() == ["requirepass secret", *lines]


def test_the_example_has_exactly_the_variables_of_the_files() -> None:
    text = "".join(path.read_text() for path in (MAIN, GPU, JOIN))
    asked = set(re.findall(r"\$\{([A-Z_]+)", text))
    example = set(re.findall(r"^([A-Z_]+)=", (DOCKER / ".env.example").read_text(), re.MULTILINE))
    assert asked == example


def test_the_example_contains_no_secret() -> None:
    lines = (DOCKER / ".env.example").read_text().splitlines()
    assert {"SECRET_KEY=", "POSTGRES_PASSWORD=", "VALKEY_PASSWORD=", "HF_TOKEN="} <= set(lines)


def words(command: Any) -> list[str]:
    return command if isinstance(command, list) else command.split()


@pytest.mark.parametrize("name", ours())
def test_every_command_and_health_check_exists(name: str) -> None:
    service = services()[name]
    for command in [service["command"], service["healthcheck"].get("test", [])[1:]]:
        match words(command):
            case ["python", "-m", module, *_]:
                assert importlib.util.find_spec(module), module
            case ["python", "manage.py", verb, *_]:
                assert verb in get_commands()
            case []:
                assert service["restart"] == "no"
            case other:
                raise AssertionError(other)


def test_queues_and_aliases_exist() -> None:
    orchestrator = services()["orchestrator"]
    assert f"--queues={settings.CELERY_TASK_DEFAULT_QUEUE}" in orchestrator["command"]
    assert f"--concurrency={orchestrator['environment']['ORCHESTRATOR_RUNS']}" in orchestrator["command"]
    found = re.search(r"\$\{CPU_ALIASES:-([^}]+)\}", services()["inference"]["command"])
    assert found
    aliases = load_aliases(ROOT / "apps/config/models.toml")
    assert all(aliases[name].enabled for name in found[1].split())


def test_celery_runs_with_the_designed_options() -> None:
    command = services()["orchestrator"]["command"]
    assert {"--pool=threads", "--without-gossip", "--without-mingle"} <= set(command)


@pytest.mark.parametrize("name", ["inference", "inference-gpu"])
def test_the_grace_period_of_a_worker_is_longer_than_its_drain_time(name: str) -> None:
    service = services()[name]
    drain = int(re.sub(r"\D", "", service["environment"]["DRAIN_S"]))
    assert seconds(service["stop_grace_period"]) >= drain + 20


@needs_compose
def test_writers_share_one_folder_that_engines_only_read() -> None:
    found = resolved_services(MAIN, GPU)
    mounts = {
        name: (volume["target"], volume.get("read_only", False))
        for name, service in found.items()
        for volume in service.get("volumes", ())
        if volume.get("source") == "shared"
    }
    place = "/var/lib/lemmascope"
    writers = dict.fromkeys(("web", "orchestrator", "trainer", "backup"), (place, False))
    assert mounts == writers | {"inference-gpu": (place, True)}
    assert {found[name]["environment"]["DATA_DIR"] for name in mounts} == {place}
    users = {found[name]["user"] for name in mounts}
    assert any(f"install -d -o {user.replace(':', ' -g ')} {place}" in line for user in users for line in dockerfile()["base"])
    assert len(users) == 1


@needs_compose
def test_trainer_and_backup_start_only_with_their_profiles() -> None:
    profiles = {name: service["profiles"] for name, service in services().items() if service.get("profiles")}
    assert profiles == {"trainer": ["training"], "backup": ["backup"]}
    assert resolved_services(MAIN)["trainer"]["runtime"] == "runc"


def test_the_trainer_reads_its_queue_has_no_outside_network_and_has_time_to_save() -> None:
    trainer = services()["trainer"]
    assert f"--queues={TRAIN_QUEUE}" in trainer["command"]
    assert trainer["networks"] == ["back"]
    assert trainer["env_file"] == [{"path": "settings.env", "required": False}]
    assert seconds(trainer["stop_grace_period"]) >= float(trainer["environment"]["TRAIN_GRACE_S"]) + 20
    assert trainer["environment"]["TRAIN_PYTHON"] in "".join(dockerfile()["trainer"])


def test_the_gpu_worker_leaves_no_engine_behind() -> None:
    worker = services()["inference-gpu"]
    assert worker["init"] is True
    assert worker["runtime"] == "nvidia"
    assert "pid" not in worker  # A shared namespace would let an orphaned engine live on.
    assert any("exec" in mount.split(",") for mount in worker["tmpfs"])  # Triton loads what it compiles.
