"""`manage.py up`: start the whole application on this machine, print its address, and stop it cleanly on Ctrl-C."""

import errno
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management import CommandError, call_command
from django.core.management.base import BaseCommand
from django.db import OperationalError
from redis.exceptions import RedisError
from supervisor.xmlrpc import SupervisorTransport

from apps.accounts.services import sample_accounts_ensure
from apps.config.private import ForeignFolder, data_folder_close, own_folder
from apps.config.stack import StackError, supervisor_config
from apps.processes.file_locks import LockHeld, file_lock, up_lock
from apps.processes.streams import sync_client
from apps.reasoning.domain.errors import AliasError
from apps.ui.vendor import vendor_is_complete

START_WITHIN_S = 180
#: Sample accounts have printed passwords, so they are created and shown only if no other machine can connect.
LOOPBACK = {"127.0.0.1", "::1", "localhost"}


class Command(BaseCommand):
    help = "Start every process of Lemmascope on this machine and print the address."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, help="port to listen on (default: the setting PORT)")
        parser.add_argument("--no-samples", action="store_true", help="do not load the sample library and accounts")

    def handle(self, **options: Any) -> None:
        if options["port"]:
            settings.PORT = options["port"]
            os.environ["PORT"] = str(options["port"])
        began = time.monotonic()
        run_dir, log_dir = _folders()
        with _only_one():
            _check_port()
            _check_redis()
            _check_assets()
            self._prepare(samples=not options["no_samples"])
            config = run_dir / "supervisord.conf"
            config.write_text(_config_text(run_dir, log_dir))
            self._supervise(config, run_dir, log_dir, began, samples=not options["no_samples"])

    def _prepare(self, *, samples: bool) -> None:
        try:
            call_command("migrate", verbosity=0, interactive=False)
        except OperationalError as error:
            first = str(error).strip().splitlines()[0]
            raise CommandError(f"Could not open the database ({first}). Check DATABASE_URL, or unset it for SQLite.") from error
        if samples:
            call_command("load_samples", verbosity=0)
            call_command("load_schemes", verbosity=0)

    def _sample_contest(self, samples: bool) -> None:
        """Create the sample contest once everything runs: its marks request suggestions, which need the broker."""
        if samples and settings.EMBEDDED and settings.HOST in LOOPBACK:
            try:
                call_command("load_contest", verbosity=0)
            except Exception as error:  # A failed example must not stop the application.
                self.stderr.write(f"Could not create the sample contest; everything else works: {error}")

    def _supervise(self, config: Path, run_dir: Path, log_dir: Path, began: float, *, samples: bool) -> None:
        """Run supervisord as a child until it ends or a signal arrives."""
        child = subprocess.Popen(
            [sys.executable, "-m", "supervisor.supervisord", "-n", "-c", str(config)],
            start_new_session=True,  # Ctrl-C reaches only this process, which stops the children in order.
        )
        stopping = False

        def stop(number: int, frame: FrameType | None) -> None:
            nonlocal stopping
            if not stopping:
                stopping = True
                self.stdout.write("\nStopping …")
                child.send_signal(signal.SIGTERM)

        signal.signal(signal.SIGINT, stop)
        signal.signal(signal.SIGTERM, stop)
        try:
            if _wait_for_web(child, lambda: stopping):
                self._banner(log_dir, time.monotonic() - began)
                self._sample_contest(samples)
            elif not stopping:
                raise CommandError(
                    f"The web process did not answer within {START_WITHIN_S} s, so everything was stopped. "
                    f"See its log: {log_dir / 'web.log'}."
                )
            reported: set[str] = set()
            while child.poll() is None:
                self._report_failures(run_dir, log_dir, reported)
                time.sleep(1)
        finally:
            if child.poll() is None:
                child.send_signal(signal.SIGTERM)
                child.wait(timeout=60)
        if not stopping:
            raise CommandError(f"The supervisor ended unexpectedly. See its log: {log_dir / 'supervisor.log'}.")
        self.stdout.write("Stopped. Unfinished runs continue at the next start.")

    def _banner(self, log_dir: Path, took_s: float) -> None:
        address = f"http://{settings.HOST}:{settings.PORT}/"
        self.stdout.write(f"\nLemmascope {settings.VERSION} is up after {took_s:.0f} s:  {self.style.SUCCESS(address)}\n")
        if settings.EMBEDDED and settings.HOST in LOOPBACK:
            self.stdout.write("Sample accounts (this machine only):")
            for username, password, role in sample_accounts_ensure():
                self.stdout.write(f"  {username:<12} {password:<22} {role}")
        self.stdout.write(f"Logs: {log_dir}   Stop: Ctrl-C\n")
        self.stdout.flush()

    def _report_failures(self, run_dir: Path, log_dir: Path, reported: set[str]) -> None:
        for process in _processes(run_dir):
            name, state = process["name"], process["statename"]
            if state == "FATAL" and name not in reported:
                reported.add(name)
                self.stderr.write(f"The process {name} keeps failing and was given up. See its log: {log_dir / name}.log.")
            elif state == "RUNNING":
                reported.discard(name)


def _folders() -> tuple[Path, Path]:
    run_dir, log_dir = settings.DATA_DIR / "run", settings.DATA_DIR / "log"
    try:
        for folder in (settings.DATA_DIR, run_dir, log_dir):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        own_folder(settings.VALKEY_SOCKET.parent)  # With a long DATA_DIR the socket is below /tmp, which all users share.
        data_folder_close(settings.DATA_DIR)
        probe = run_dir / "writable"
        probe.touch()
        probe.unlink()
    except ForeignFolder as error:
        raise CommandError(str(error)) from error
    except OSError as error:
        raise CommandError(
            f"Could not write to the data folder {settings.DATA_DIR} ({error.strerror}). Set DATA_DIR to a folder of yours."
        ) from error
    return run_dir, log_dir


@contextmanager
def _only_one() -> Iterator[None]:
    """Hold the lock of this data folder, which only one stack may use."""
    try:
        with file_lock(up_lock(settings.DATA_DIR)):
            yield
    except LockHeld as error:
        raise CommandError(
            f"Lemmascope is already running with the data folder {settings.DATA_DIR}. Stop it, or set DATA_DIR and PORT "
            "for a second one."
        ) from error


def _config_text(run_dir: Path, log_dir: Path) -> str:
    try:
        return supervisor_config(run_dir, log_dir)
    except (StackError, AliasError) as error:
        raise CommandError(str(error)) from error


def _check_redis() -> None:
    """Check that an external Redis answers. The supervisor starts our own."""
    if settings.OWN_REDIS:
        return
    try:
        sync_client().ping()
    except (RedisError, OSError, ValueError) as error:
        raise CommandError(
            f"Redis at REDIS_URL does not answer ({error}). Start it, or unset REDIS_URL to use the built-in one."
        ) from error


def _check_port() -> None:
    if not 0 < settings.PORT < 65_536:
        raise CommandError(f"PORT must be a number from 1 to 65535, not {settings.PORT}.")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.HOST, settings.PORT))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise CommandError(
                    f"Port {settings.PORT} is already in use. Stop the program that uses it, or choose another port: "
                    "make up PORT=8001."
                ) from error
            raise CommandError(f"Cannot listen on {settings.HOST}:{settings.PORT} ({error.strerror}).") from error


def _check_assets() -> None:
    if not vendor_is_complete(settings.BASE_DIR / "static" / "vendor"):
        raise CommandError("Front-end packages are missing from static/vendor. Run `make setup`.")


def _wait_for_web(child: "subprocess.Popen[bytes]", is_stopping: Any) -> bool:
    until = time.monotonic() + START_WITHIN_S
    url = f"http://{settings.HOST}:{settings.PORT}/healthz"
    while time.monotonic() < until and child.poll() is None and not is_stopping():
        try:
            with urllib.request.urlopen(url, timeout=2) as answer:
                return bool(answer.status == 200)
        except OSError:
            time.sleep(0.2)
    return False


def _processes(run_dir: Path) -> list[dict[str, Any]]:
    import xmlrpc.client

    transport = SupervisorTransport(None, None, f"unix://{run_dir / 'supervisor.sock'}")
    proxy = xmlrpc.client.ServerProxy("http://127.0.0.1", transport=transport)
    try:
        return list(proxy.supervisor.getAllProcessInfo())  # type: ignore[arg-type]
    except (OSError, xmlrpc.client.Error):
        return []
    finally:
        transport.close()
