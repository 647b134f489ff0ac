"""From a clean clone to the first streamed token: the wait of a new user, downloads included.

Clones this repository at its last commit, runs `make up` there, fetches all packages again, and starts a run of SmolLM2 as soon
as the page answers. The machine's pip and npm caches are used if they exist; without them it takes longer.
"""

import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.figures import Figure, Skipped
from benchmarks.stage import free_port
from benchmarks.startup import ROOT, shows_a_page

WITHIN_S = 900
PROBLEM = "nesbitt-inequality"
FIRST_TOKEN = """
import sys, time
import django
django.setup()
from apps.processes.streams import sync_client, tokens_key
while not sync_client().xlen(tokens_key(sys.argv[1])):
    time.sleep(0.05)
"""


def figures(quick: bool = False) -> list[Figure]:
    """Seconds to the first page and to the first token."""
    with tempfile.TemporaryDirectory(prefix="lemmascope-clean-") as folder:
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        address, token = _measured(clone)
    return [
        Figure("clean clone to the first page", address, "s"),
        Figure("clean clone to the first streamed token", token, "s", 240, "under"),
    ]


def _measured(clone: Path) -> tuple[float, float]:
    port = free_port()
    dropped = ("DATABASE_URL", "REDIS_URL", "MODELS_FILE", "DATA_DIR", "VIRTUAL_ENV")
    env = {name: value for name, value in os.environ.items() if name not in dropped} | {"PORT": str(port)}
    log_file = clone.parent / "up.log"
    began = time.perf_counter()
    with log_file.open("ab") as log:
        up = subprocess.Popen(["make", "up"], cwd=clone, env=env, stdout=log, stderr=log, start_new_session=True)
    try:
        while not shows_a_page(port):
            if up.poll() is not None or time.perf_counter() - began > WITHIN_S:
                raise Skipped("`make up` does not start: " + log_file.read_text().strip().rpartition("\n")[2])
            time.sleep(0.2)
        address = time.perf_counter() - began
        _first_token(clone, env)
        return address, time.perf_counter() - began
    finally:
        os.killpg(up.pid, signal.SIGINT)
        try:
            up.wait(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(up.pid, signal.SIGKILL)


def _first_token(clone: Path, env: dict[str, str]) -> None:
    """Start a quick run and wait until its stream has a token."""
    python = str(clone / ".venv" / "bin" / "python")
    start = [python, "manage.py", "explore", PROBLEM, "--alias", "smollm2", "--no-follow"]
    output = subprocess.run(start, cwd=clone, env=env, check=True, capture_output=True, text=True).stdout
    run = output.strip().splitlines()[-1].split()[-1]
    env = env | {"DJANGO_SETTINGS_MODULE": "apps.config.settings"}
    subprocess.run([python, "-c", FIRST_TOKEN, run], cwd=clone, env=env, check=True, timeout=WITHIN_S)
