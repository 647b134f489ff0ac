"""A backup is made while runs are under way and restored later: what happened in between leaves no trace and delays no call."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
import redis

from apps.processes.streams import cancel_key, events_key
from tests.flows.conftest import assert_sound
from tests.flows.stack import Stack

pytestmark = [pytest.mark.kill]
Undisturbed = dict[str, tuple[str, Any]]


def put_aside(stack: Stack) -> None:
    """What docs/backup.md says: the database keeps its rows under another name, and an empty one takes its place."""
    if url := stack.env.get("DATABASE_URL", ""):
        name = urlsplit(url).path.strip("/")
        with psycopg.connect(urlunsplit(urlsplit(url)._replace(path="/template1")), autocommit=True) as server:
            server.execute(f'ALTER DATABASE "{name}" RENAME TO "{name}_aside"')
            server.execute(f'CREATE DATABASE "{name}"')
        return
    (stack.folder / "aside").mkdir()
    for path in stack.folder.glob("lemmascope.sqlite3*"):
        path.rename(stack.folder / "aside" / path.name)


def test_a_run_continues_from_the_backup_and_forgets_what_followed(
    stack: Stack, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    stack.env |= {"WORKED_EXAMPLE_TOKENS_PER_S": "600"}
    # On PostgreSQL the backup is of an older version, in tables that no run needs. Migrating takes longer than all else.
    is_older = "DATABASE_URL" in stack.env
    if is_older:
        stack.agent("manage", "migrate", "contests", "0001", "--verbosity=0")
    stack.start("valkey", "orchestrator", "inference")
    run = stack.agent("start")
    stack.wait_for(run, lambda dump: dump["calls"] >= 3)
    backup = str(tmp_path / "backup.tar.zst")
    stack.agent("manage", "backup", backup)
    stack.agent("start")
    calls = stack.agent("glance", run)[1]
    stack.wait_for(run, lambda dump: dump["status"] != "running" or dump["calls"] >= calls + 8)
    stack.agent("command", run, "cancel")
    lost = stack.wait_until_ended(run)

    # Inference workers continue, as on another machine. Processes that use the database stop.
    stack.running["orchestrator"].terminate()
    stack.running["orchestrator"].wait(timeout=20)
    stack.end_agent()
    put_aside(stack)
    output = stack.agent("manage", "restore", backup)
    assert "at the next start: 1." in output
    assert ("migrations brought it up to date" in output) == is_older

    restored = stack.agent("dump", run)
    assert (restored["status"], restored["owner"]) == ("running", "")
    assert restored["last_seq"] < lost["last_seq"]
    with redis.Redis(unix_socket_path=str(stack.folder / "valkey" / "v.sock"), decode_responses=True) as broker:
        assert not broker.exists(cancel_key(run), events_key(run))
        stack.start("orchestrator")
        dump = stack.wait_until_ended(run)
        published = [int(entry.partition("-")[0]) for entry, _ in broker.xrange(events_key(run))]
    assert_sound(dump, undisturbed)
    assert published == list(range(restored["last_seq"] + 1, dump["last_seq"] + 1))
    assert "was lost" not in stack.log_text("orchestrator"), "a call was delayed"
