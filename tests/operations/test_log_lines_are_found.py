"""Bounded search for the log lines of a run or a call."""

import json
from pathlib import Path

import pytest

from apps.operations import log_lines
from apps.operations.log_lines import lines_about

RUN = "7f3c1d1e-0000-4000-8000-000000000001"
OTHER = "7f3c1d1e-0000-4000-8000-000000000002"
AT = "2026-01-01 10:00:{:02},000 INFO    workers.worker: "


def write(folder: Path, name: str, *lines: str) -> None:
    (folder / name).write_text("\n".join(lines) + "\n")


def test_lines_of_all_processes_are_sorted_by_time(tmp_path: Path) -> None:
    write(tmp_path, "inference.log", AT.format(2) + f"began {RUN}/s0#1", AT.format(3) + f"began {OTHER}/s0#1")
    write(tmp_path, "inference.log.1", AT.format(0) + f"began {RUN}/first#1")
    write(tmp_path, "orchestrator.log", AT.format(1) + f"run {RUN}: driving it")
    found = lines_about(tmp_path, RUN)
    assert [line.text for line in found.lines] == [f"began {RUN}/first#1", f"run {RUN}: driving it", f"began {RUN}/s0#1"]
    assert [line.file for line in found.lines] == ["inference", "orchestrator", "inference"]
    assert [line.step for line in found.lines] == ["first", "", "s0"]
    assert not found.is_cut


def test_a_step_is_found_as_a_whole_word(tmp_path: Path) -> None:
    calls = [f"began {RUN}/s0/r1#1", f"began {RUN}/s0/r12#1", f"began {RUN}/s0/r1/vote#1", f"run {RUN}: call s0/r1 was lost"]
    write(tmp_path, "a.log", *(AT.format(second) + call for second, call in enumerate(calls)))
    assert [line.text for line in lines_about(tmp_path, RUN, "s0/r1").lines] == [calls[0], calls[3]]


def test_a_traceback_belongs_to_its_line(tmp_path: Path) -> None:
    write(
        tmp_path, "a.log", AT.format(1) + f"call {RUN}/s0#1 failed", "Traceback (most recent call last):",
        f"ValueError: in {RUN}/s0#1", AT.format(2) + "something else",
    )  # fmt: skip
    found = lines_about(tmp_path, RUN, "s0").lines
    assert len(found) == 1
    assert found[0].text.endswith(f"ValueError: in {RUN}/s0#1")


def test_json_lines_are_parsed(tmp_path: Path) -> None:
    line = {
        "at": "2026-01-01T10:00:00.000+00:00",
        "level": "WARNING",
        "logger": "x",
        "message": "slow",
        "run": RUN,
        "step": "s0",
    }
    write(tmp_path, "a.log", json.dumps(line), "written by no logger")
    found = lines_about(tmp_path, RUN, "s0").lines
    assert [(line.level, line.text, line.step) for line in found] == [("WARNING", "slow [s0]", "s0")]


def test_text_of_no_logger_belongs_to_no_line(tmp_path: Path) -> None:
    write(tmp_path, "a.log", AT.format(1) + f"answered {RUN}/s0#1", " -------------- inference@host v5", "--- ***** -----")
    assert [line.text for line in lines_about(tmp_path, RUN).lines] == [f"answered {RUN}/s0#1"]


def test_the_newest_lines_are_kept_and_the_cut_is_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_lines, "MOST_LINES", 3)
    write(tmp_path, "a.log", *(AT.format(second) + f"began {RUN}/{second}#1" for second in range(9)))
    found = lines_about(tmp_path, RUN)
    assert [line.text[-3:] for line in found.lines] == ["6#1", "7#1", "8#1"]
    assert found.is_cut


def test_an_empty_file_or_a_missing_folder_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "a.log").touch()
    assert lines_about(tmp_path, RUN) == log_lines.Found([], 1, False)
    assert lines_about(tmp_path / "none", RUN) == log_lines.Found([], 0, False)
