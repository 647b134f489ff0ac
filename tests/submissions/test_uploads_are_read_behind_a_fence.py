"""A compromised reader of uploads can neither open files nor send data."""

import json
import logging
from pathlib import Path

import pytest

from apps.submissions.intake import FENCED, UploadWrong, child_run, modules, pages_read
from tests.submissions.test_scans_and_photos import pdf, photo
from workers.sandbox import landlock

needs_landlock = pytest.mark.skipif(landlock.version() < landlock.OLDEST, reason="this kernel offers no Landlock")

#: A compromised parser that replaces the reader and reports its successful attempts.
COMPROMISED = """
import json, os, socket, subprocess, sys
child = sys.modules["intake_child"]
def attempts():
    yield "file", lambda: open({secret!r}).read()
    yield "passwords", lambda: open("/etc/passwd").read()
    yield "folder", lambda: os.listdir({folder!r})
    yield "environment", lambda: open("/proc/self/environ").read()
    yield "writing", lambda: open({secret!r} + ".new", "w").close()
    yield "appending", lambda: open({secret!r}, "a").close()
    yield "removing", lambda: os.unlink({secret!r})
    yield "internet", lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    yield "datagrams", lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    yield "neighbour", lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    yield "program", lambda: subprocess.run(["/bin/true"], check=True)
    yield "process", os.fork
    yield "signal", lambda: os.kill(os.getppid(), 0)
def photo(data):
    done = []
    for name, attempt in attempts():
        try:
            attempt()
            done.append(name)
        except OSError:
            pass
    raise child.Refused("succeeded: " + " ".join(done))
    yield
def main():
    child._photo = photo
    child.main()
"""


def compromised(sources: list[tuple[str, str]], secret: Path) -> tuple[str, str]:
    """Successful attempts of a compromised reader, and its fence."""
    hostile = COMPROMISED.format(secret=str(secret), folder=str(secret.parent))
    result = json.loads(child_run([*sources, ("hostile", hostile)], "image", photo()).partition(b"\n")[0])
    return result["error"], result["fence"]


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret"
    path.write_text("a key")
    path.chmod(0o666)
    return path


@needs_landlock
def test_a_compromised_reader_opens_no_file_socket_or_process(secret: Path) -> None:
    succeeded, fence = compromised(modules(), secret)
    assert (succeeded, fence) == ("succeeded: ", FENCED)
    assert secret.read_text() == "a key"


def test_the_attempts_succeed_without_a_fence(secret: Path) -> None:
    unfenced = [(name, source) for name, source in modules() if name == "intake_child"]
    succeeded, fence = compromised(unfenced, secret)
    assert fence == "limits only"
    assert {"file", "passwords", "folder", "internet", "writing"} <= set(succeeded.removeprefix("succeeded: ").split())


@needs_landlock
@pytest.mark.parametrize("data", [photo(), photo("PNG"), photo("HEIF"), pdf(2)], ids=["jpeg", "png", "heic", "pdf"])
def test_the_fenced_reader_reads_every_file_type(data: bytes, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="apps.submissions.intake"):
        assert pages_read(data)
    assert caplog.records == []


def test_reading_without_a_fence_logs_a_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    monkeypatch.setattr("apps.submissions.intake._SANDBOX", tmp_path)
    with caplog.at_level(logging.WARNING, logger="apps.submissions.intake"):
        assert len(pages_read(photo())) == 1
    assert "without the sandbox's fence (limits only)" in caplog.text


def test_a_crash_of_the_reader_is_a_refusal() -> None:
    with pytest.raises(UploadWrong, match="more time or memory"):
        child_run([("crash", "def main():\n import os\n os.abort()")], "image", b"")
