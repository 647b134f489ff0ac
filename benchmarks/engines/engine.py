"""Tokens per second of the engine alone and through our own code, measured alternately on the same machine.

    python -m benchmarks.engines.engine [--concurrency 1 8 32 64] [--tokens 64] [--rounds 3] [--json FILE]

"engine" is OpenVINO GenAI without our code: requests added, steps run, tokens read. "host" is the same requests through
`EngineHost.run` from as many threads, with the engine in its process, detokenisation, and deltas collected for a sink. Both
generate the same number of new tokens greedily. They alternate, and the best round of each counts, because other work on the
machine can only make a round slower.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.table import Table

from apps.reasoning.domain.generation import Delta, GenerationRequest, Message, Sampling
from apps.reasoning.inference.aliases import Alias, OpenVinoOptions, load_aliases
from workers.engines.model_files import model_path
from workers.host import EngineHost

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT / "apps" / "config" / "models.toml"
ALIAS = "smollm2"


def prompt(number: int, turn: int) -> str:
    """A unique prompt for each call, so that the prefix cache has no hits."""
    return f"{turn}-{number}: write a very long story about {number} foxes and {turn} crows. Describe every one of them."


class RawEngine:
    """An engine in its own process, driven through standard input and output: one line in, one line out.

    `command` starts the engine: this file's `--raw` mode, or that of engine_vllm.py. Use as a context manager.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed with the process
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True, cwd=ROOT
        )
        self._answer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def measure(self, prompts: Sequence[str], tokens: int) -> tuple[float, float]:
        """New tokens and seconds of calls that start together, each of at most `tokens` tokens."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([prompts, tokens]) + "\n")
        self._process.stdin.flush()
        found = self._answer()
        return float(found["tokens"]), float(found["seconds"])

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=60)
        self._errors.close()

    def _answer(self) -> dict[str, Any]:
        """The next answer, skipping lines that a library prints. Raises `ValueError` at the end."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith('{"'):
                found: dict[str, Any] = json.loads(line)
                return found
        self._errors.seek(0)
        raise ValueError(f"the engine's process ended: {self._errors.read()[-500:].strip()}")


def raw_command(alias: Alias) -> list[str]:
    """The command of an OpenVINO alias's engine without our code."""
    assert isinstance(alias.options, OpenVinoOptions)
    options = alias.options.model_dump() | {"path": str(model_path(alias.model)), "concurrency": alias.concurrency}
    return [sys.executable, "-m", "benchmarks.engines.engine", "--raw", json.dumps(options)]


def serve_raw(options: dict[str, Any]) -> None:
    """The engine process of `RawEngine`."""
    import openvino_genai as genai

    scheduler = genai.SchedulerConfig()
    scheduler.max_num_seqs = options["concurrency"]
    scheduler.cache_size = options["cache_gb"]
    scheduler.max_num_batched_tokens = options["max_batched_tokens"]
    scheduler.enable_prefix_caching = options["prefix_caching"]
    pipeline = genai.ContinuousBatchingPipeline(options["path"], scheduler, options["device"])
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        prompts, tokens = json.loads(line)
        began = time.perf_counter()
        written = _raw_round(genai, pipeline, prompts, tokens, at_once=options["concurrency"])
        print(json.dumps({"tokens": written, "seconds": time.perf_counter() - began}), flush=True)


def _raw_round(genai: Any, pipeline: Any, prompts: list[str], tokens: int, *, at_once: int) -> int:
    """Generate with at most `at_once` calls: with prompts split over steps, the engine itself ignores `max_num_seqs`."""
    tokenizer = pipeline.get_tokenizer()
    running: list[Any] = []
    waiting, written = deque(enumerate(prompts)), 0
    while waiting or running:
        while waiting and len(running) < at_once:
            number, prompt = waiting.popleft()
            config = genai.GenerationConfig()
            config.max_new_tokens = tokens
            config.do_sample = False
            config.eos_token_id = tokenizer.get_eos_token_id()
            history = [{"role": "user", "content": prompt}]
            text = tokenizer.apply_chat_template(history, add_generation_prompt=True)
            ids = tokenizer.encode(text, add_special_tokens=False).input_ids
            running.append(pipeline.add_request(number, ids, config))
        pipeline.step()
        for handle in running:
            while handle.can_read():
                written += sum(len(output.generated_ids) for output in handle.read().values())
        running = [handle for handle in running if handle.get_status() == genai.GenerationStatus.RUNNING]
    return written


class Counted:
    """A sink that counts the pieces it receives."""

    def __init__(self) -> None:
        self.pieces = 0

    def add(self, request: GenerationRequest, delta: Delta, *, text_at: int, reasoning_at: int) -> None:
        self.pieces += 1

    def finish(self, request: GenerationRequest) -> None:
        """Do nothing."""

    async def send(self) -> None:
        """Do nothing."""


def host_round(host: EngineHost, pool: ThreadPoolExecutor, concurrency: int, tokens: int, turn: int) -> float:
    """Tokens per second of `concurrency` calls through the host."""
    requests = [
        GenerationRequest(
            run="benchmark",
            key=f"{turn}/{number}",
            role="writer",
            alias=ALIAS,
            messages=(Message(role="user", content=prompt(number, turn)),),
            sampling=Sampling(temperature=0, max_new_tokens=tokens),
        )
        for number in range(concurrency)
    ]
    began = time.perf_counter()
    written = sum(final.usage.completion for final in pool.map(host.run, requests))
    return written / (time.perf_counter() - began)


def measure(levels: list[int], tokens: int, rounds: int) -> list[dict[str, float]]:
    """One row for each level: the best round of both, and their ratio."""
    aliases = {ALIAS: load_aliases(MODELS)[ALIAS]}
    raw = RawEngine(raw_command(aliases[ALIAS]))
    host = EngineHost(aliases, sink=Counted())
    rows = []
    turn = 0
    with ThreadPoolExecutor(max(levels)) as pool:
        host_round(host, pool, 2, 8, turn)
        for level in levels:
            found: dict[str, list[float]] = {"engine": [], "host": []}
            for _ in range(rounds):
                turn += 1
                written, seconds = raw.measure([prompt(number, turn) for number in range(level)], tokens)
                found["engine"].append(written / seconds)
                found["host"].append(host_round(host, pool, level, tokens, turn))
            engine, ours = max(found["engine"]), max(found["host"])
            rows.append({"concurrency": level, "engine": engine, "host": ours, "ratio": ours / engine})
    host.close()
    raw.close()
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--concurrency", type=int, nargs="+", default=[1, 8, 32, 64])
    parser.add_argument("--tokens", type=int, default=64, help="new tokens of each call")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="file to write the rows to")
    parser.add_argument("--raw", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.raw:
        serve_raw(json.loads(chosen.raw))
        return
    rows = measure(chosen.concurrency, chosen.tokens, chosen.rounds)
    table = Table("calls at once", "engine, tokens/s", "through the host, tokens/s", "ratio", title="SmolLM2 on this machine")
    for row in rows:
        table.add_row(f"{row['concurrency']:.0f}", f"{row['engine']:.0f}", f"{row['host']:.0f}", f"{row['ratio']:.2f}")
    Console().print(table)
    if chosen.json:
        chosen.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
