"""Starts a rival's server in its own environment, which is created once in the user's cache folder.

The folder's name depends on the pinned requirements (docker/requirements/rivals-*.txt), so another pin gives another folder.
"""

import hashlib
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from benchmarks.figures import Skipped
from benchmarks.stage import free_port

ROOT = Path(__file__).resolve().parents[2]
APPS = Path(__file__).with_name("apps")
INSTALL_WITHIN_S, START_WITHIN_S = 600, 90
COMMANDS = {
    "channels": ["-m", "uvicorn", "channels_app:application", "--host", "127.0.0.1", "--port", "{port}", "--ws",
                 "websockets-sansio", "--ws-per-message-deflate", "false", "--lifespan", "off", "--log-level", "warning",
                 "--app-dir", "."],
    "chainlit": ["-m", "chainlit", "run", "chainlit_app.py", "--headless", "--host", "127.0.0.1", "--port", "{port}"],
    "gradio": ["gradio_app.py"],
}  # fmt: skip


def environment(name: str) -> Path:
    """The interpreter of a rival, installed if it is missing. Raises `Skipped` if it cannot be installed."""
    requirements = ROOT / "docker" / "requirements" / f"rivals-{name}.txt"
    digest = hashlib.sha256(requirements.read_bytes()).hexdigest()[:12]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "lemmascope" / "rivals" / f"{name}-{digest}-{sys.version_info.major}.{sys.version_info.minor}"
    python, done = folder / "bin" / "python", folder / "installed"
    if done.exists():
        return python
    try:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True, capture_output=True, timeout=120)
        install = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", str(requirements)]
        subprocess.run(install, check=True, capture_output=True, timeout=INSTALL_WITHIN_S)
    except (OSError, subprocess.SubprocessError) as error:
        output = getattr(error, "stderr", None) or b""
        reason = output.decode(errors="replace")[-200:].strip() or error
        raise Skipped(f"{name} cannot be installed here ({reason}).") from error
    done.touch()
    return python


class RivalServer:
    """A rival's server on its own port. Use as a context manager. Raises `Skipped` if it does not start.

    `beat`: whether all copies of its model keep "one" beat or each its "own".
    """

    def __init__(
        self,
        name: str,
        *,
        folder: Path,
        tokens: int,
        tokens_per_s: float,
        redis_url: str = "",
        beat: Literal["one", "own"] = "one",
    ) -> None:
        self._python = str(environment(name))
        self._name = name
        self._log = folder / f"{name}.log"
        self._port = free_port()
        self.address = f"127.0.0.1:{self._port}"
        self._env = {key: value for key, value in os.environ.items() if not key.startswith(("DJANGO_", "DATABASE_"))} | {
            "RIVAL_PORT": str(self._port),
            "RIVAL_TOKENS": str(tokens),
            "RIVAL_TOKENS_PER_S": str(tokens_per_s),
            "RIVAL_REDIS": redis_url,
            "RIVAL_BEAT": beat,
            "CHAINLIT_APP_ROOT": str(folder / "chainlit"),
            "GRADIO_ANALYTICS_ENABLED": "False",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        (folder / "chainlit").mkdir(exist_ok=True)
        self._processes: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Self:
        command = [part.format(port=self._port) for part in COMMANDS[self._name]]
        self._start(command)
        until = time.monotonic() + START_WITHIN_S
        while not self._answers():
            if self._processes[0].poll() is not None or time.monotonic() > until:
                self.__exit__(None, None, None)
                raise Skipped(f"{self._name} does not start here: {self._log.read_text()[-300:].strip()}")
            time.sleep(0.1)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for process in reversed(self._processes):
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    @property
    def pid(self) -> int:
        return self._processes[0].pid

    def publisher(self) -> "subprocess.Popen[str]":
        """A ready process that sends the model's tokens to the group."""
        process = self._start(["channels_app.py"], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        return process

    def _start(self, arguments: list[str], stdout: int | None = None) -> "subprocess.Popen[str]":
        with self._log.open("a") as log:
            process = subprocess.Popen(
                [self._python, *arguments],
                cwd=APPS,
                env=self._env,
                stdin=subprocess.PIPE,
                stdout=log if stdout is None else stdout,
                stderr=log,
                text=True,
            )
        self._processes.append(process)
        return process

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://{self.address}/", timeout=5):
                return True
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False
