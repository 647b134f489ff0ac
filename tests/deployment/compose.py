"""Reads the compose files, the Dockerfile and the example of docker/.env for the tests beside it."""

import json
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
DOCKER = ROOT / "docker"
MAIN, GPU, JOIN = DOCKER / "compose.yml", DOCKER / "compose.gpu.yml", DOCKER / "compose.join.yml"
#: Values for everything that docker/.env must say.
FILLED = {
    "SITE_NAME": "proofs.example.org",
    "SECRET_KEY": "a-secret-key",
    "POSTGRES_PASSWORD": "a-database-password",
    "VALKEY_PASSWORD": "a-broker-password",
    "GPU_ALIASES": "qwen3-32b",
    "PRIVATE_ADDRESS": "10.9.0.1",
}


@cache
def read(path: Path) -> dict[str, Any]:
    """A compose file as it stands, with YAML's own merges done and no variable filled in."""
    found: dict[str, Any] = yaml.safe_load(path.read_text())
    return found


def services() -> dict[str, dict[str, Any]]:
    """All services of the main and the GPU file, by name."""
    return {**read(MAIN)["services"], **read(GPU)["services"]}


def ours() -> dict[str, dict[str, Any]]:
    """The services that run code of this project."""
    return {name: service for name, service in services().items() if "build" in service and name != "proxy"}


def docker_compose() -> list[str] | None:
    """Docker Compose v2 as a command: Docker's plugin, or the program that `.ci/compose` puts beside Python."""
    beside = Path(sys.executable).with_name("docker-compose")
    if beside.exists():
        return [str(beside)]
    if (
        shutil.which("docker")
        and subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode == 0
    ):
        return ["docker", "compose"]
    return None


def resolved(*files: Path, without: str = "") -> "subprocess.CompletedProcess[str]":
    """What `docker compose config` says to these files together, all profiles, with `FILLED` less one variable."""
    command = docker_compose()
    assert command is not None
    given = [part for path in files for part in ("-f", str(path))]
    env = {"PATH": os.environ["PATH"], **{name: value for name, value in FILLED.items() if name != without}}
    return subprocess.run(
        [*command, "--profile=*", "--env-file", os.devnull, *given, "config", "--format", "json"],
        env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip


def resolved_services(*files: Path) -> dict[str, dict[str, Any]]:
    """The services as Docker Compose understands them."""
    done = resolved(*files)
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)["services"]
    return found


def dockerfile() -> dict[str, list[str]]:
    """The instructions of docker/Dockerfile by stage, continued lines joined, comments left out."""
    text = re.sub(
        r"\\\n\s*", "", "\n".join(line for line in (DOCKER / "Dockerfile").read_text().splitlines() if line[:1] != "#")
    )
    stages: dict[str, list[str]] = {}
    for line in text.splitlines():
        if found := re.match(r"FROM (\S+) AS (\S+)", line):
            stages[found[2]] = [line]
        elif line.strip() and stages:
            list(stages.values())[-1].append(line)
    return stages


def seconds(duration: str) -> float:
    """`90s` or `2m` in seconds."""
    found = re.fullmatch(r"(\d+)([sm])", duration)
    assert found, duration
    return int(found[1]) * {"s": 1, "m": 60}[found[2]]
