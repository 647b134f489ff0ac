"""Twenty simultaneous sign-ins under invented names at a real web process: its memory, and the time of `/healthz`."""

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx

from benchmarks import stage
from benchmarks.figures import Figure, Skipped

AT_ONCE = 20
_WITHIN_S = 60


def figures(quick: bool = False) -> list[Figure]:
    """Growth of the web process, the slowest `/healthz`, and the time of the last answer."""
    stage.set_up()
    port = stage.free_port()
    command = [sys.executable, "-m", "uvicorn", "apps.config.asgi:application", "--host", "127.0.0.1", "--port", str(port),
               "--lifespan", "off", "--no-proxy-headers", "--no-access-log", "--log-level", "error"]  # fmt: skip
    process = subprocess.Popen(command)
    try:
        return _measured(process.pid, f"http://127.0.0.1:{port}")
    finally:
        process.terminate()
        process.wait(timeout=30)


def _measured(pid: int, site: str) -> list[Figure]:
    # One client created before: creating one needs more processor time than the measured response.
    with httpx.Client(base_url=site, timeout=_WITHIN_S, verify=False) as client:
        _wait_for(client)
        for _ in range(3):
            client.get("/accounts/login/")
        token = client.cookies["csrftoken"]
        if _memory_mb(pid, "VmRSS") == 0:
            raise Skipped("This system has no /proc, from which the memory of a process is read.")
        before, is_over, health = _memory_mb(pid, "VmRSS"), threading.Event(), [0.0]
        watcher = threading.Thread(target=_watch, args=(client, is_over, health))
        watcher.start()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            took = list(pool.map(lambda number: _sign_in(client, token, number), range(AT_ONCE)))
        is_over.set()
        watcher.join()
    return [
        Figure(f"{AT_ONCE} sign-ins at once under invented names: growth of the web process at its peak",
               _memory_mb(pid, "VmHWM") - before, "MB", 300, "under"),
        Figure("… the slowest /healthz meanwhile", max(health), "s", 1, "under"),
        Figure("… the last answer", max(took), "s"),
    ]  # fmt: skip


def _sign_in(client: httpx.Client, token: str, number: int) -> float:
    data = {"username": f"invented-{number}", "password": "no password of anyone", "csrfmiddlewaretoken": token}
    began = time.perf_counter()
    answer = client.post("/accounts/login/", data=data)
    if answer.status_code != 200 or "user name or the password is wrong" not in answer.text:
        raise SystemExit(f"a sign-in got the response {answer.status_code}, so nothing was measured")
    return time.perf_counter() - began


def _watch(client: httpx.Client, is_over: threading.Event, slowest: list[float]) -> None:
    while not is_over.wait(0.05):
        began = time.perf_counter()
        client.get("/healthz").raise_for_status()
        slowest.append(time.perf_counter() - began)


def _memory_mb(pid: int, name: str) -> float:
    """A value from the process's status in the kernel: resident memory now (VmRSS) or its peak (VmHWM), in MB."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{name}:")), 0.0)


def _wait_for(client: httpx.Client) -> None:
    until = time.monotonic() + _WITHIN_S
    while time.monotonic() < until:
        try:
            if client.get("/healthz").status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.2)
    raise SystemExit("the web process did not start")
