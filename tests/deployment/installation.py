"""A deployment without containers: the commands and environments of docker/compose.yml, run as processes of this machine.

It consists of PostgreSQL, Valkey with a password, Caddy with TLS, and the code of the web image: only the files that
docker/Dockerfile copies, with collected static files. Hosts, ports and folders are replaced.
"""

import functools
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import redis

from apps.config.stack import valkey_binary
from tests.browser.screenshot import free_port
from tests.deployment.compose import DOCKER, FILLED, ROOT, dockerfile, services
from tests.flows.database import PostgresServer

#: In the order of their start; they stop in reverse order.
PROCESSES = ("valkey", "orchestrator", "inference", "trainer", "web", "proxy")


class Installation:
    """All processes of one installation under one folder. Use as a context manager."""

    def __init__(self, folder: Path, database: PostgresServer) -> None:
        self.folder = folder
        self.app = folder / "app"
        self.ports = {"web": free_port(), "valkey": free_port(), "http": free_port(), "https": free_port()}
        self.address = f"https://localhost:{self.ports['https']}"
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self._values = {**FILLED, "SITE_NAME": "localhost"}
        self._places = {
            "redis://:a-broker-password@valkey:6379/0": f"redis://:a-broker-password@127.0.0.1:{self.ports['valkey']}/0",
            "postgres://lemmascope:a-database-password@postgres:5432/lemmascope": database.url,
            "/etc/lemmascope/models.toml": str(ROOT / "apps/config/models.toml"),
            "--host=0.0.0.0": "--host=127.0.0.1",
            "--port=8000": f"--port={self.ports['web']}",
            "exec valkey-server": f"exec {valkey_binary()}",
            " --dir ": f" --bind 127.0.0.1 --port {self.ports['valkey']} --dir ",
            "/tmp/secret.conf": str(folder / "secret.conf"),
            "/data": str(folder / "broker"),
            "/var/lib/lemmascope": str(folder / "shared"),
        }

    def __enter__(self) -> "Installation":
        try:
            self._bring_up()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _bring_up(self) -> None:
        (self.folder / "broker").mkdir()
        (self.folder / "shared").mkdir()
        (self.folder / "tmp").mkdir()
        build_application(self.app)
        self.files = written_files(self.app)
        self.finish("migrate")
        for name in PROCESSES:
            self.start(name)
        for name in ("valkey", "web", "orchestrator", "inference", "trainer"):
            self.wait_until(functools.partial(self.is_healthy, name), f"{name} is not healthy")

    def __exit__(self, *_: object) -> None:
        for process in self.running.values():
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(timeout=20)

    def environment(self, name: str) -> dict[str, str]:
        """The environment of a service, without this machine's own variables."""
        given = {key: self._filled(value) for key, value in services()[name].get("environment", {}).items()}
        image = dict(re.findall(r"([A-Z_]+)=(\S+)", " ".join(dockerfile()["base"])))
        kept = {
            key: image[key] for key in ("PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "DJANGO_SETTINGS_MODULE", "EMBEDDED")
        }
        here = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder / "tmp"),
            "DATA_DIR": str(self.folder / "tmp" / "lemmascope"),
            "PORT": str(self.ports["web"]),
            "WORKED_EXAMPLE_TOKENS_PER_S": "2000",
        }
        if name == "proxy":
            here |= {"WEB_HOST": "127.0.0.1", "WEB_PORT": str(self.ports["web"]), "XDG_DATA_HOME": str(self.folder / "caddy"),
                     "XDG_CONFIG_HOME": str(self.folder / "tmp"), "HTTP_PORT": str(self.ports["http"]),
                     "HTTPS_PORT": str(self.ports["https"])}  # fmt: skip
        return {**kept, **here, **given}

    def command(self, name: str) -> list[str]:
        """The command line of a service in the compose file."""
        if name == "proxy":
            return ["caddy", "run", "--adapter", "caddyfile", "--config", str(DOCKER / "Caddyfile")]
        service = services()[name]
        command = service["command"]
        words = command.split() if isinstance(command, str) and "${" not in command else command
        if isinstance(words, str):
            words = self._filled(words).split()
        return self._runnable([*service.get("entrypoint", []), *words])

    def start(self, name: str) -> None:
        with (self.folder / f"{name}.log").open("ab") as log:
            self.running[name] = subprocess.Popen(
                self.command(name), cwd=self.app, env=self.environment(name), stdout=log, stderr=log, start_new_session=True
            )

    def finish(self, name: str) -> None:
        """Run a service that ends by itself."""
        done = subprocess.run(
            self.command(name), cwd=self.app, env=self.environment(name), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr

    def manage(self, *arguments: str) -> str:
        """`docker compose exec web python manage.py …`."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=self.app, env=self.environment("web"), capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def is_healthy(self, name: str) -> bool:
        """Whether the health check of a service succeeds."""
        kind, *test = services()[name]["healthcheck"]["test"]
        if name == "valkey":  # Its client program is in the server's image; here Python does the same check.
            test = [sys.executable, "-c", "import os,redis; redis.Redis.from_url(os.environ['URL']).ping()"]
        env = {**self.environment(name), "URL": self._places["redis://:a-broker-password@valkey:6379/0"]}
        assert kind in {"CMD", "CMD-SHELL"}
        done = subprocess.run(self._runnable(test), cwd=self.app, env=env, capture_output=True, timeout=30, check=False)
        return done.returncode == 0

    def broker(self) -> "redis.Redis":
        """A client of the broker."""
        return redis.Redis(port=self.ports["valkey"], password=FILLED["VALKEY_PASSWORD"], decode_responses=True)

    def stop(self, name: str) -> int:
        """Stop a service with SIGTERM like `docker stop`. Returns the exit status within the grace period of 30 s."""
        process = self.running[name]
        process.send_signal(signal.SIGTERM)
        return process.wait(timeout=30)

    def wait_until(self, condition: Callable[[], bool], otherwise: str, within_s: float = 60) -> None:
        until = time.monotonic() + within_s
        while not condition():
            assert time.monotonic() < until, f"{otherwise}\n{self.logs()}"
            time.sleep(0.3)

    def logs(self, lines: int = 15) -> str:
        """The ends of all logs, for a failure message."""
        return "\n".join(
            f"--- {path.name}\n" + "\n".join(path.read_text(errors="replace").splitlines()[-lines:])
            for path in sorted(self.folder.glob("*.log"))
        )

    def _runnable(self, words: list[str]) -> list[str]:
        filled = [self._filled(word) for word in words]
        return [sys.executable if word == "python" else word for word in filled]

    def _filled(self, value: Any) -> str:
        """Replace variables like Docker Compose, then places by those of this machine."""
        text = re.sub(r"\$\{([A-Z_]+)(?::[-?]([^}]*))?\}", lambda found: self._values.get(found[1], found[2] or ""), str(value))
        text = text.replace("$$", "$")
        for there, here in self._places.items():
            text = text.replace(there, here)
        return text


def build_application(target: Path) -> None:
    """Build the application like docker/Dockerfile: its copies, the front-end packages, the collected static files."""
    target.mkdir()
    for line in dockerfile()["source"]:
        if line.startswith("COPY "):
            for name in line.split()[1:-1]:
                if (ROOT / name).is_dir():
                    shutil.copytree(ROOT / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
                else:
                    shutil.copy(ROOT / name, target / name)
    subprocess.run(
        [sys.executable, "manage.py", "collectstatic", "--noinput", "--verbosity=0"],
        cwd=target, check=True,
        env={"PATH": os.environ["PATH"], "SECRET_KEY": "only-for-this-step", "EMBEDDED": "0", "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip


def written_files(folder: Path) -> dict[str, int]:
    """Every file below a folder with the time of its last change."""
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
