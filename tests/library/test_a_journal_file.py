"""A run with a journal file continues where it stopped: no answered call is repeated, and no other run may use the file."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from apps.reasoning.domain.errors import JournalUnwritable
from apps.reasoning.journal.file import JournalFile
from apps.reasoning.journal.keys import seed_for
from apps.reasoning.library import Event, PlanError, RunHalted, asolve, solve
from apps.reasoning.programs.registry import SCAFFOLDS
from tests.library.conftest import PROBLEM, ModelServer, Served

ROOT = Path(__file__).resolve().parents[2]


def test_a_finished_run_is_replayed_without_a_call_or_a_server(tmp_path: Path, server: ModelServer, served: Served) -> None:
    path = tmp_path / "run.jsonl"
    first_events: list[Any] = []
    again_events: list[Any] = []
    first = solve(PROBLEM, scaffold="self_check", preset="quick", journal=path, on_event=first_events.append, **served)
    asked, listed = len(server.requests), server.lists_asked
    again = solve(PROBLEM, scaffold="self_check", preset="quick", journal=path, on_event=again_events.append, **served)
    assert (len(server.requests), server.lists_asked) == (asked, listed)
    assert again.model_dump(exclude={"seconds"}) == first.model_dump(exclude={"seconds"})
    assert again_events == first_events


@pytest.mark.parametrize("scaffold", SCAFFOLDS)
def test_a_run_stopped_after_any_call_continues_with_the_remaining_calls_only(
    scaffold: str, tmp_path: Path, server: ModelServer, served: Served
) -> None:
    preset = SCAFFOLDS[scaffold].first_preset
    common: dict[str, Any] = {**served, "scaffold": scaffold, "preset": preset, "seed": 3, "calls": 12, "concurrency": 1}
    common["answer"] = "2" if scaffold == "majority_vote" else ""
    whole = solve(PROBLEM, journal=tmp_path / "whole", **common)
    lines = (tmp_path / "whole").read_bytes().splitlines(keepends=True)
    for cut in {1, len(lines) // 2, len(lines) - 1}:
        server.requests.clear()
        (tmp_path / "cut").write_bytes(b"".join(lines[:cut]) + lines[cut][:20])
        records = [json.loads(line)["record"] for line in lines[1:cut]]
        seeds = {seed_for(3, record["key"]) for record in records if record["kind"] == "call"}
        again = solve(PROBLEM, journal=tmp_path / "cut", **common)
        assert {body["seed"] for body in server.requests}.isdisjoint(seeds)
        assert len(server.requests) == whole.calls - len(seeds)
        assert again.outcome.ended_by == whole.outcome.ended_by


def test_a_larger_budget_continues_with_the_same_file(tmp_path: Path, server: ModelServer, served: Served) -> None:
    path = tmp_path / "run.jsonl"
    assert solve(PROBLEM, scaffold="self_check", calls=1, journal=path, **served).outcome.ended_by == "budget"
    result = solve(PROBLEM, scaffold="self_check", journal=path, **served)
    assert (result.accepted, result.calls) == (True, len(server.requests))


def test_a_file_from_before_prompt_sets_continues(tmp_path: Path, served: Served) -> None:
    path = tmp_path / "run.jsonl"
    solve(PROBLEM, scaffold="self_check", calls=1, journal=path, **served)
    path.write_text(path.read_text().replace(',"prompts":"full"', "").replace(', "prompts": "full"', ""))
    assert '"prompts"' not in path.read_text().splitlines()[0]
    assert solve(PROBLEM, scaffold="self_check", journal=path, **served).accepted


def test_a_hint_given_at_the_start_is_not_given_again(tmp_path: Path, server: ModelServer, served: Served) -> None:
    path, hints = tmp_path / "run.jsonl", ["Look at neighbours."]
    solve(PROBLEM, scaffold="self_check", calls=1, hints=hints, journal=path, **served)
    solve(PROBLEM, scaffold="self_check", calls=4, hints=hints, journal=path, **served)
    later = [str(body["messages"]).count(hints[0]) for body in server.requests]
    assert max(later) == 1
    solve(PROBLEM, scaffold="self_check", calls=9, hints=[*hints, "Or at parity."], journal=path, **served)
    read = [command["args"]["text"] for line in path.read_text().splitlines()[1:] for command in _commands(json.loads(line))]
    assert read == hints, "the checks passed, so no later prompt reads the second hint"


def _commands(line: dict[str, Any]) -> list[dict[str, Any]]:
    commands: list[dict[str, Any]] = (line["record"]["value"] or {}).get("commands", [])
    return commands


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"problem": "Prove that 1 = 1."}, "records another problem"),
        ({"scaffold": "rsa"}, "records another program and other parameters and .*"),
        ({"params": {"accept": 3}}, "records other parameters"),
        ({"model": "other-model", "context_tokens": 20_000}, r"records another model \(fake-model\)"),
        ({"temperature": 0.1}, "records other limits of answers or other temperatures"),
        ({"seed": 8}, "records another seed"),
    ],
)
def test_a_file_of_another_run_is_refused_and_left_alone(
    changed: dict[str, Any], said: str, tmp_path: Path, server: ModelServer, served: Served
) -> None:
    path = tmp_path / "run.jsonl"
    arguments: dict[str, Any] = {**served, "problem": PROBLEM, "scaffold": "self_check", "seed": 7, "calls": 1, "journal": path}
    solve(**arguments)
    before = path.read_bytes()
    with pytest.raises(PlanError, match=f"run.jsonl {said}. Name another journal."):
        solve(**arguments | changed)
    assert (path.read_bytes(), len(server.requests)) == (before, 1)


def test_a_file_of_a_version_without_the_option_earlier_lemmas_is_continued(tmp_path: Path, served: Served) -> None:
    path = tmp_path / "run.jsonl"
    arguments: dict[str, Any] = {**served, "scaffold": "alpha_apollo", "preset": "reasoning", "seed": 7, "journal": path}
    first = solve(PROBLEM, **arguments)
    text = path.read_text()
    assert text.count('"earlier_lemmas": "none"') == 1
    path.write_text(text.replace(', "earlier_lemmas": "none"', ""))
    assert solve(PROBLEM, **arguments).calls == first.calls


def test_records_of_another_version_of_the_prompts_are_refused(tmp_path: Path, served: Served) -> None:
    path = tmp_path / "run.jsonl"
    solve(PROBLEM, scaffold="self_check", calls=1, journal=path, **served)
    header, call = (json.loads(line) for line in path.read_text().splitlines())
    call["record"]["request_hash"] = "of other prompts"
    path.write_text(f"{json.dumps(header)}\n{json.dumps(call)}\n")
    with pytest.raises(PlanError, match="recorded by another version of the program"):
        solve(PROBLEM, scaffold="self_check", calls=1, journal=path, **served)


@pytest.mark.parametrize(
    "content", ['{"some": "json"}\n', "a diary\n", "a diary", '{"format": "lemmascope-run/1"}\n', "\xff\n"]
)
def test_a_file_that_is_no_journal_is_refused_and_left_alone(content: str, tmp_path: Path, served: Served) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(content, encoding="latin-1")
    with pytest.raises(PlanError, match="line 1: this is no journal of a run"):
        solve(PROBLEM, scaffold="self_check", journal=path, **served)
    assert path.read_text(encoding="latin-1") == content


@pytest.mark.parametrize("left", [b"", b'{"format": "lemmascope-r'])
def test_a_file_that_a_crash_left_without_its_first_line_is_started_again(left: bytes, tmp_path: Path, served: Served) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(left)
    solve(PROBLEM, scaffold="self_check", calls=1, journal=path, **served)
    assert [list(json.loads(line)) for line in path.read_text().splitlines()] == [
        ["format", "run"],
        ["record", "texts", "seconds"],
    ]


def test_a_file_that_cannot_be_created_is_reported_before_any_call(tmp_path: Path, server: ModelServer, served: Served) -> None:
    with pytest.raises(PlanError, match="No such file or directory"):
        solve(PROBLEM, scaffold="self_check", journal=tmp_path / "absent" / "run.jsonl", **served)
    with pytest.raises(PlanError, match="cannot be opened"):
        solve(PROBLEM, scaffold="self_check", journal=tmp_path, **served)
    assert server.requests == []


@pytest.mark.skipif(sys.platform == "win32", reason="files are not locked there")
def test_two_runs_at_once_cannot_write_one_file(tmp_path: Path, served: Served) -> None:
    path = tmp_path / "run.jsonl"
    solve(PROBLEM, scaffold="self_check", calls=1, journal=path, **served)
    held = JournalFile(path)
    try:
        with pytest.raises(PlanError, match="Another process is writing"):
            solve(PROBLEM, scaffold="self_check", journal=path, **served)
    finally:
        held.close()


async def test_a_full_disk_stops_the_run_and_leaves_whole_lines(
    tmp_path: Path, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.jsonl"
    await asolve(PROBLEM, scaffold="self_check", calls=1, journal=path, **served)
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(JournalUnwritable, match="Make room"):
            await asolve(PROBLEM, scaffold="self_check", journal=path, **served)
    assert path.read_bytes() == before
    assert (await asolve(PROBLEM, scaffold="self_check", journal=path, **served)).accepted


async def test_a_cancelled_run_continues(tmp_path: Path, server: ModelServer, served: Served) -> None:
    path = tmp_path / "run.jsonl"
    async for event in asolve(PROBLEM, scaffold="self_check", preset="quick", journal=path, **served):
        if event.kind == "call.ended":
            break
    await asyncio.sleep(0.05)
    recorded = len(path.read_text().splitlines()) - 1
    server.requests.clear()
    result = await asolve(PROBLEM, scaffold="self_check", preset="quick", journal=path, **served)
    assert recorded >= 1
    assert (result.accepted, result.calls - recorded) == (True, len(server.requests))


_SCRIPT = """
import signal
# A suite in the background of a shell ignores it, and so would this process.
signal.signal(signal.SIGINT, signal.default_int_handler)
import sys
from apps.reasoning.library import solve
solve(sys.argv[1], scaffold="self_check", base_url=sys.argv[2], model="fake-model", journal=sys.argv[3],
      on_event=lambda event: print(event.kind, flush=True))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to a child there")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_process_ended_by_a_signal_leaves_a_file_to_continue_from(
    how: signal.Signals, tmp_path: Path, server: ModelServer, served: Served
) -> None:
    path, server.pause_s = tmp_path / "run.jsonl", 0.02
    child = subprocess.Popen(
        [sys.executable, "-c", _SCRIPT, PROBLEM, server.base_url, str(path)],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stdout is not None
    for line in child.stdout:
        if line.startswith("call.ended"):
            break
    child.send_signal(how)
    _, said = child.communicate(timeout=30)
    assert child.returncode != 0
    assert how is signal.SIGKILL or said.rstrip().endswith("KeyboardInterrupt")
    recorded = len([line for line in path.read_bytes().split(b"\n")[1:] if line.endswith(b"}")])
    server.requests.clear()
    server.pause_s = 0
    result = solve(PROBLEM, scaffold="self_check", journal=path, **served)
    assert recorded >= 1
    assert (result.accepted, len(server.requests)) == (True, result.calls - recorded)


def test_a_refusal_by_the_server_is_reported_with_what_is_kept(tmp_path: Path, server: ModelServer, served: Served) -> None:
    path = tmp_path / "run.jsonl"

    def stop_after_a_call(event: Event) -> None:
        if event.kind == "call.ended":
            server.key = "another"

    with pytest.raises(RunHalted, match=r"1 answers are kept in .*run\.jsonl; repeat the call to continue"):
        solve(PROBLEM, scaffold="self_check", journal=path, on_event=stop_after_a_call, **served)
    server.key = ""
    assert solve(PROBLEM, scaffold="self_check", journal=path, **served).accepted
