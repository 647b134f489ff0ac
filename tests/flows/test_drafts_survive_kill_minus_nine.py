"""kill -9 of the web process and of PostgreSQL while students write: every saved draft stays, and every last text arrives.

The students are pages of static/js/draft.js in Node. Some answers are lost on their way, as at a kill after the COMMIT.
"""

import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from benchmarks.stage import free_port
from tests.flows.database import PostgresServer
from tests.flows.stack import Stack

STUDENTS = 20
pytestmark = [
    pytest.mark.kill,
    pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed"),
    pytest.mark.xdist_group("postgres that dies"),
]


class Writers:
    """The students who write, and what they have heard from the server."""

    def __init__(self, process: "subprocess.Popen[str]", heard: Path) -> None:
        self._process = process
        self._heard = heard

    def saved(self) -> dict[str, dict[str, Any]]:
        """The newest saved draft of each student."""
        return {line["path"]: line for line in self._lines() if "path" in line}

    def wait_for_all(self, within_s: float = 40) -> None:
        """Wait until a further draft of every student is saved."""
        until, before = time.monotonic() + within_s, self.saved()
        now = before
        while len(now) < STUDENTS or any(before.get(path) == answer for path, answer in now.items()):
            assert time.monotonic() < until, "no drafts are saved"
            time.sleep(0.1)
            now = self.saved()

    def stop(self) -> list[dict[str, Any]]:
        """Let them stop and save. Returns their last texts."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=40)
        last: list[dict[str, Any]] = self._lines()[-1]["last"]
        return last

    def _lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._heard.read_text().split("\n")[:-1]]


@contextmanager
def writers(stack: Stack) -> Iterator[Writers]:
    heard = stack.folder / "heard"
    with heard.open("w") as output:
        command = ["node", str(Path(__file__).with_name("write_drafts.mjs"))]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=output, text=True)
    assert process.stdin is not None
    students = stack.agent("practise", str(STUDENTS))
    process.stdin.write(json.dumps({"site": f"http://127.0.0.1:{stack.port}", "students": students}) + "\n")
    process.stdin.flush()
    try:
        yield Writers(process, heard)
    finally:
        process.kill()
        process.wait()


def assert_kept(stack: Stack, saved: dict[str, dict[str, Any]]) -> None:
    """Check that the database has what was saved before, or something newer."""
    stored = stack.agent("drafts")
    for path, answer in saved.items():
        version, text = stored[path]
        assert version >= answer["row_version"], path
        assert version > answer["row_version"] or text == answer["text"], path


def test_no_saved_draft_is_lost_and_no_student_is_asked(on_postgres: Stack, server: PostgresServer) -> None:
    stack = on_postgres
    stack.port = free_port()
    stack.start("web")
    stack.wait_for_web()
    with writers(stack) as students:
        students.wait_for_all()
        stack.kill("web")
        assert_kept(stack, students.saved())
        stack.start("web")
        students.wait_for_all()
        server.kill()
        saved = students.saved()
        server.start()
        assert_kept(stack, saved)
        students.wait_for_all()
        last = students.stop()
    stored = stack.agent("drafts")
    assert [one["path"] for one in last if one["asked"]] == []
    assert {one["path"]: one["text"] for one in last} == {path: text for path, (_, text) in stored.items()}
