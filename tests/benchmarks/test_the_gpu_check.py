"""`make gpu-check`: each check has a deadline and a process that may die, and the engine's checks notice a bad engine."""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from apps.reasoning.domain.generation import Capture, Delta, Final, GenerationRequest, Health, Usage
from apps.reasoning.inference.aliases import parse_aliases
from benchmarks.gpu import engine
from benchmarks.gpu.__main__ import CHECKS
from benchmarks.gpu.checks import Check, Missing, Place, Result, Where, result_of
from benchmarks.gpu.processes import results
from benchmarks.gpu.report import DOCUMENT, NEVER, line_of, page

HERE = Path(sys.executable)
FIRST, SECOND = (Check(name, name, "trainer", "together", 0.4, lambda _: {}) for name in ("first", "second"))


def python_that(folder: Path, does: str) -> Path:
    """A program in place of Python that gets the names of checks and prints results."""
    program = folder / "python"
    program.write_text(f"#!{HERE}\nimport json, sys, time\nnames = sys.argv[4:-4]\n{does}\n")
    program.chmod(0o755)
    return program


async def found_by(
    python: Path, folder: Path, checks: tuple[Check, ...] = (FIRST, SECOND), seconds: float = 60
) -> list[Result]:
    pythons: dict[Where, Path] = {"anywhere": HERE, "trainer": python, "engine": folder / "none"}
    return [result async for result in results(checks, pythons, "cuda", folder, seconds)]


async def test_without_an_environment_all_its_checks_are_missing_at_once(tmp_path: Path) -> None:
    found = await found_by(tmp_path / "nowhere" / "python", tmp_path, CHECKS[1:])
    assert [one.name for one in found] == [check.name for check in CHECKS[1:]]
    assert {one.state for one in found} == {"missing"}
    assert {one.why.rpartition("(")[2] for one in found} == {
        "make setup-train).",
        "make setup-vllm).",
    }


async def test_a_check_past_its_deadline_is_ended_and_the_next_still_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.gpu.processes.START_S", 0.6)
    hangs = python_that(
        tmp_path, "if names[0] == 'first': time.sleep(60)\nprint(json.dumps({'name': names[0], 'state': 'passed'}))"
    )
    began = time.monotonic()
    first, second = await found_by(hangs, tmp_path)
    assert (first.state, second.state) == ("failed", "passed")
    assert "took longer than 1 s" in first.why
    assert time.monotonic() - began < 10


async def test_a_check_whose_process_dies_is_failed_with_its_last_words(tmp_path: Path) -> None:
    dies = python_that(tmp_path, "sys.exit('CUDA error: an illegal address') if names[0] == 'first' else print(json.dumps(\n"
                                 "    {'name': 'second', 'state': 'passed'}))")  # fmt: skip
    first, second = await found_by(dies, tmp_path)
    assert (first.state, first.why) == ("failed", "Its process ended: CUDA error: an illegal address")
    assert second.state == "passed"


async def test_after_the_time_of_all_checks_the_rest_is_missing(tmp_path: Path) -> None:
    found = await found_by(python_that(tmp_path, "time.sleep(60)"), tmp_path, seconds=0)
    assert [(one.state, one.why) for one in found] == [("missing", "The time of all checks was over.")] * 2


async def test_an_error_in_a_check_is_a_failure_and_not_the_end(tmp_path: Path) -> None:
    def lacks(_: Place) -> Any:
        raise Missing("There is no GPU.")

    place = Place("cpu", tmp_path)
    assert (await result_of(Check("a", "a", "anywhere", "a", 1, lacks), place)).state == "missing"
    found = await result_of(Check("a", "a", "anywhere", "a", 1, lambda _: 1 / 0), place)
    assert (found.state, found.why) == ("failed", "ZeroDivisionError: division by zero")
    slow = await result_of(Check("a", "a", "anywhere", "a", 0.05, lambda _: asyncio.sleep(9)), place)
    assert slow.why == "It took longer than 0.05 s."


class FakeEngine:
    """A backend that answers at once, as a good engine does, or badly in one way."""

    def __init__(self, bad: str = "") -> None:
        self.bad = bad
        self.running: dict[str, asyncio.Event] = {}

    async def generate(self, request: GenerationRequest) -> AsyncIterator[Delta | Final]:
        size, stopped = request.sampling.max_new_tokens, asyncio.Event()
        self.running[request.call_id] = stopped
        reason: Any = "stop"
        if "crowd" in request.call_id:
            await asyncio.sleep(1.2 if self.bad != "in order" else 0.0)
        if "abort" in request.call_id:
            await stopped.wait()
            await asyncio.sleep(1.1 if self.bad == "slow abort" else 0)
            reason = "cancelled"
        for piece in range(16):
            if self.bad == "slower and slower" and piece >= 8:
                _burn(0.02)
            if "long" in request.call_id or "call/" in request.call_id:
                _burn(0.002)
            yield Delta(text="a", tokens=size // 16)
        self.running.pop(request.call_id)
        number = 0 if self.bad == "one adapter" else int("".join(filter(str.isdigit, request.call_id)) or 0)
        capture = None if self.bad == "nothing captured" else captured(number)
        yield Final(text="a", finish_reason=reason, usage=Usage(completion=size), capture=capture)

    async def abort(self, call_id: str) -> None:
        self.running[call_id].set()

    async def health(self) -> Health:
        return Health(state="ready", running=len(self.running))


def captured(number: int) -> Capture:
    return Capture(prompt_ids=(1,), completion_ids=(number,), logprobs=(-1.0,), logprobs_of="sampled", policy="p",
                   tokenizer="t", chat_template="c")  # fmt: skip


def _burn(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


async def state_of(name: str, folder: Path, bad: str = "") -> Result:
    check = next(one for one in CHECKS if one.name == name)
    return await result_of(check, Place("cpu", folder, {"backend": FakeEngine(bad)}))


@pytest.mark.parametrize("name", ["captures", "aborts", "adapters", "long_answer", "crowded"])
async def test_a_good_engine_passes(tmp_path: Path, name: str) -> None:
    assert (await state_of(name, tmp_path)).state == "passed"


async def test_calls_are_counted_with_the_pause_of_the_loop(tmp_path: Path) -> None:
    found = await engine.calls(Place("cpu", tmp_path, {"backend": FakeEngine()}), counts=(4,))
    assert set(found) == {"tokens_per_second_4", "loop_lag_ms_4"}
    assert float(found["loop_lag_ms_4"]) > 1


@pytest.mark.parametrize(
    ("name", "bad", "why"),
    [
        ("captures", "nothing captured", "no captured tokens"),
        ("aborts", "slow abort", "1 s is expected"),
        ("adapters", "one adapter", "only 1 different"),
        ("long_answer", "slower and slower", "in the second half"),
        ("crowded", "in order", "had ended before"),
    ],
)
async def test_a_bad_engine_fails_with_the_figure(tmp_path: Path, name: str, bad: str, why: str) -> None:
    found = await state_of(name, tmp_path, bad)
    assert found.state == "failed"
    assert why in found.why


async def test_captured_answers_are_handed_to_the_trainers_check(tmp_path: Path) -> None:
    await state_of("captures", tmp_path)
    handed = json.loads((tmp_path / "captures.json").read_text())
    assert {name: len(answers) for name, answers in handed.items()} == {"1.0": 16, "0.8": 16}
    assert set(handed["0.8"][0]) >= {"prompt_ids", "completion_ids", "logprobs"}


async def test_an_engine_that_did_not_start_is_not_started_for_every_check(tmp_path: Path) -> None:
    check = next(one for one in CHECKS if one.name == "aborts")
    found = await result_of(check, Place("cuda", tmp_path, {"backend": None}))
    assert (found.state, found.why[:25]) == ("missing", "The engine did not start ")


def test_the_tables_of_models_are_readable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "write_adapter", lambda folder, *_: folder.mkdir(parents=True))
    place = Place("cuda", tmp_path)
    wide = parse_aliases(engine.models_toml(tmp_path / "model", place, 1024, adapters=6))
    assert len(wide["checked"].adapters) == 6
    narrow = parse_aliases(engine.models_toml(tmp_path / "model", place, 128, blocks=1024))["checked"]
    assert narrow.options.model_dump()["engine_args"] == {"num_gpu_blocks_override": 1024}


def test_the_page_has_every_check_and_says_where_it_never_ran() -> None:
    written = DOCUMENT.read_text("utf-8")
    assert [check.name for check in CHECKS if f"| `{check.name}` |" not in written] == []
    assert written == page(CHECKS, None) or NEVER not in written
    found = {"cuda": Result("cuda", "passed", figures={"device": "H100"})}
    text = page(CHECKS, found, "2026-11-28", "1 × H100, torch 2")
    assert "**2026-11-28**, 1 × H100, torch 2:" in text
    assert "| `cuda` | torch computes on the GPU | passed | device H100 |" in text
    assert line_of(found["cuda"]) == "passed     cuda           device H100"
