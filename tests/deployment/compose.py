"""Reads the compose files, the Dockerfile and the example of docker/.env for the deployment tests."""

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
#: Values for all required variables of docker/.env.
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
    """A compose file with YAML merges applied and variables unchanged."""
    found: dict[str, Any] = yaml.safe_load(path.read_text())
    return found


def services() -> dict[str, dict[str, Any]]:
    """All services of the main and the GPU file, by name."""
    return {**read(MAIN)["services"], **read(GPU)["services"]}


def ours() -> dict[str, dict[str, Any]]:
    """The services that run our code."""
    return {name: service for name, service in services().items() if "build" in service and name != "proxy"}


def docker_compose() -> list[str] | None:
    """The command of Docker Compose v2: Docker's plugin, or the program that `.ci/compose` installs next to Python."""
    program = Path(sys.executable).with_name("docker-compose")
    if program.exists():
        return [str(program)]
    if (
        shutil.which("docker")
        and subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode == 0
    ):
        return ["docker", "compose"]
    return None


def resolved(*files: Path, without: str = "") -> "subprocess.CompletedProcess[str]":
    """`docker compose config` of these files together, with all profiles, and with `FILLED` minus one variable."""
    command = docker_compose()
    assert command is not None
    given = [part for path in files for part in ("-f", str(path))]
    env = {"PATH": os.environ["PATH"], **{name: value for name, value in FILLED.items() if name != without}}
    return subprocess.run(
        [*command, "--profile=*", "--env-file", os.devnull, *given, "config", "--format", "json"],
        env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip


def resolved_services(*files: Path) -> dict[str, dict[str, Any]]:
    """The services as Docker Compose resolves them."""
    done = resolved(*files)
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)["services"]
    return found


def dockerfile() -> dict[str, list[str]]:
    """The instructions of docker/Dockerfile by stage, with continued lines joined and without comments."""
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
