"""The second start of `manage.py up` on a new data folder: from the command to the first page."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from benchmarks.figures import Figure, Skipped
from benchmarks.stage import free_port

ROOT = Path(__file__).resolve().parents[1]
WITHIN_S = 120


def figures(quick: bool = False) -> list[Figure]:
    """Seconds to the first page, at the second and at the first start."""
    with tempfile.TemporaryDirectory(prefix="lemmascope-bench-") as folder:
        first = _start(Path(folder))
        again = [_start(Path(folder)) for _ in range(1 if quick else 3)]
    return [
        Figure("second start to the first page", sorted(again)[len(again) // 2], "s", 20, "under"),
        Figure("first start with what `make setup` has installed", first, "s"),
    ]


def _start(folder: Path) -> float:
    """Start, wait for the page after the redirect to the sign-in, stop."""
    port = free_port()
    env = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL", "MODELS_FILE")}
    env |= {"DATA_DIR": str(folder / "data"), "DJANGO_SETTINGS_MODULE": "apps.config.settings"}
    command = [sys.executable, "manage.py", "up", "--port", str(port)]
    began = time.perf_counter()
    with (folder / "up.log").open("ab") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=log, stderr=log)
    try:
        while not shows_a_page(port):
            if process.poll() is not None or time.perf_counter() - began > WITHIN_S:
                raise Skipped("`manage.py up` does not start: " + (folder / "up.log").read_text().strip().rpartition("\n")[2])
            time.sleep(0.1)
        return time.perf_counter() - began
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()


def shows_a_page(port: int) -> bool:
    """Whether the address returns a complete page."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5) as answer:
            return answer.status == 200 and b"</html>" in answer.read()
    except (urllib.error.URLError, OSError):
        return False
