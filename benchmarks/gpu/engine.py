"""Checks in vLLM's environment: the engine as the inference worker runs it, with a model of random weights.

The checks of a group share an engine. `group` engine has the memory of the GPU, `group` crowded has keys and values for a
quarter of its calls, and is killed at the end (`kills`).
"""

import asyncio
import json
import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.gpu.checks import Check, Figures, Missing, Place, expect, temporary
from benchmarks.gpu.kills import memory_back, worker_killed
from benchmarks.gpu.models import make_model, write_adapter
from benchmarks.gpu.parsers import parsers
from benchmarks.gpu.training import CAPTURES, CONTEXT

ADAPTERS = 6
PROMPT = "prove that one is less than two."


def needs_engine(place: Place) -> None:
    """Raise `Missing` without vLLM or without a GPU that its torch sees."""
    import importlib.util

    if importlib.util.find_spec("vllm") is None:
        raise Missing("vLLM is not installed in this environment.")
    import torch

    if place.device != "cpu" and not torch.cuda.is_available():
        raise Missing(f"torch {torch.__version__} of the engine's environment finds no GPU.")


async def starts(place: Place) -> Figures:
    """Start the worker's engine without nvcc in PATH, with empty caches and again with those of the first start."""
    needs_engine(place)
    caches = temporary(place)
    os.environ |= {"VLLM_CACHE_ROOT": str(caches / "vllm"), "TRITON_CACHE_DIR": str(caches / "triton")}
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(caches / "inductor")
    os.environ["PATH"] = os.pathsep.join(
        folder for folder in os.environ["PATH"].split(os.pathsep) if not (Path(folder) / "nvcc").exists()
    )
    expect(shutil.which("nvcc") is None, "nvcc is still in PATH.")
    found: Figures = {}
    for name in ("cold", "warm"):
        began = time.monotonic()
        backend = await started(place, concurrency=64)
        await asyncio.wait_for(_answers(backend, 1, 8), 60)
        found[f"{name}_s"] = round(time.monotonic() - began, 1)
        await backend.close()
    return found


async def calls(place: Place, counts: Sequence[int] = (256, 1024)) -> Figures:
    """Tokens a second of calls through our backend and through AsyncLLM itself, and the longest pause of the loop."""
    backend = await shared_engine(place)
    found: Figures = {}
    await _answers(backend, 8, 64)
    for count in counts:
        began = time.monotonic()
        tokens, lag = await _answers(backend, count, 64)
        ours = tokens / (time.monotonic() - began)
        found |= {f"tokens_per_second_{count}": round(ours), f"loop_lag_ms_{count}": round(1000 * lag, 1)}
        if llm := getattr(getattr(backend, "_engine", None), "llm", None):
            began = time.monotonic()
            bare = sum(await asyncio.gather(*(_bare(llm, f"bare/{count}/{one}", 64) for one in range(count))))
            found[f"share_of_bare_{count}"] = round(ours / (bare / (time.monotonic() - began)), 3)
    return found


async def long_answer(place: Place, size: int = 32_000) -> Figures:
    """An answer of 32,000 tokens; the second half may not take twice the time of the first at our side of the engine."""
    backend = await shared_engine(place)
    spent: list[float] = []
    began, tokens = time.process_time(), 0
    async for item in backend.generate(_request("long", size, temperature=1.0, deadline_s=110.0)):
        tokens += getattr(item, "tokens", 0)
        if tokens >= (len(spent) + 1) * size // 8:
            spent.append(time.process_time() - began)
    if tokens < size // 2:
        raise Missing(f"The random model ended its answer after {tokens} tokens.")
    half = len(spent) // 2
    first, last = spent[half - 1] / half, (spent[-1] - spent[half - 1]) / (len(spent) - half)
    expect(last < 2 * first, f"A token costs {last / first:.1f} times as much in the second half.")
    return {"tokens": tokens, "us_a_token": round(1e6 * spent[-1] / tokens), "second_half_by_first": round(last / first, 2)}


async def captures(place: Place) -> Figures:
    """Answers with their tokens and log-probabilities at two temperatures, for the trainer's check."""
    from apps.reasoning.inference.streaming import read_to_final

    backend = await shared_engine(place)
    found: dict[str, list[Any]] = {}
    for temperature in (1.0, 0.8):
        requests = [_request(f"capture/{temperature}/{one}", 200, temperature=temperature, capture=True) for one in range(16)]
        finals = await asyncio.gather(*(read_to_final(backend, request) for request in requests))
        found[str(temperature)] = [final.capture.model_dump(mode="json") for final in finals if final.capture is not None]
        expect(len(found[str(temperature)]) == 16, "An answer has no captured tokens.")
    (place.folder / CAPTURES).write_text(json.dumps(found))
    return {"tokens": sum(len(one["completion_ids"]) for captured in found.values() for one in captured)}


async def aborts(place: Place) -> Figures:
    """Abort 32 long calls: none runs a second later."""
    from apps.reasoning.inference.streaming import read_to_final

    backend = await shared_engine(place)
    requests = [_request(f"abort/{one}", 8000, temperature=1.0) for one in range(32)]
    tasks = [asyncio.create_task(read_to_final(backend, request)) for request in requests]
    while (await backend.health()).running < len(tasks):
        expect(not any(task.done() for task in tasks), "A call ended before it was aborted.")
        await asyncio.sleep(0.02)
    began = time.monotonic()
    await asyncio.gather(*(backend.abort(request.call_id) for request in requests))
    finals = await asyncio.gather(*tasks)
    took = time.monotonic() - began
    expect({final.finish_reason for final in finals} == {"cancelled"}, "A call was not cancelled.")
    expect((await backend.health()).running == 0 and took < 1.0, f"The calls ended after {took:.1f} s; 1 s is expected.")
    return {"seconds": round(took, 2)}


async def adapters(place: Place) -> Figures:
    """One call to each of six adapters at the same time; their answers differ."""
    from apps.reasoning.inference.streaming import read_to_final

    backend = await shared_engine(place)
    requests = [_request(f"adapter/{one}", 64, alias=f"adapter-{one}", capture=True) for one in range(ADAPTERS)]
    finals = await asyncio.gather(*(read_to_final(backend, request) for request in requests))
    answers = {final.capture.completion_ids for final in finals if final.capture is not None}
    expect(len(answers) > ADAPTERS // 2, f"{ADAPTERS} adapters gave only {len(answers)} different answers.")
    return {"different_answers": len(answers)}


async def crowded(place: Place) -> Figures:
    """Calls that need four times the memory for keys and values: all end, and an urgent one overtakes them."""
    from apps.reasoning.inference.streaming import read_to_final

    backend = await shared_engine(place, crowded=True)
    crowd = [asyncio.create_task(_answers(backend, 1, 512, key=f"crowd/{one}")) for one in range(128)]
    await asyncio.sleep(1.0)
    began = time.monotonic()
    await read_to_final(backend, _request("urgent", 2, priority=0))
    urgent = time.monotonic() - began
    waiting = sum(not task.done() for task in crowd)
    tokens = sum(found for found, _ in await asyncio.gather(*crowd))
    expect(waiting > 0, "The crowd had ended before the urgent call.")
    return {"tokens": tokens, "urgent_s": round(urgent, 2), "calls_that_it_overtook": waiting}


async def shared_engine(place: Place, *, crowded: bool = False) -> Any:
    """The group's backend, started by its first check. An engine that did not start is not tried again."""
    if "backend" not in place.shared:
        needs_engine(place)
        place.shared["backend"] = None
        blocks = 128 * 512 // 16 // 4
        more: dict[str, Any] = {"blocks": blocks} if crowded else {"adapters": True}
        place.shared["backend"] = await started(place, concurrency=1024, **more)
    if place.shared["backend"] is None:
        raise Missing("The engine did not start (see the first check of its group).")
    return place.shared["backend"]


async def started(place: Place, *, concurrency: int, blocks: int = 0, adapters: bool = False) -> Any:
    from apps.reasoning.inference.aliases import parse_aliases
    from workers.engines.vllm import VllmBackend

    folder = make_model(place.folder / "model", place.device, CONTEXT)
    text = models_toml(folder, place, concurrency, blocks=blocks, adapters=ADAPTERS if adapters else 0)
    backend = VllmBackend(parse_aliases(text)["checked"], on_dead=lambda: None)
    await backend.start()
    return backend


def models_toml(model: Path, place: Place, concurrency: int, *, blocks: int = 0, adapters: int = 0) -> str:
    """The alias `checked` with its adapters; `blocks` is the number of blocks of 16 tokens for keys and values."""
    lines = ["[checked]", 'backend = "vllm"', 'title = "Random weights"', f'model = "{model}"', 'revision = "random"']
    lines += ["context_tokens = 33000" if not blocks else "context_tokens = 2048", f"concurrency = {concurrency}"]
    lines += ["[checked.options]", 'logprobs_of = "sampled"', "gpu_memory_utilization = 0.5", "cache_gb = 1"]
    if place.device == "cpu":
        lines += ['dtype = "float32"', "enforce_eager = true"]
    if blocks:
        lines += ["enforce_eager = true"] if place.device != "cpu" else []
        lines += [f"engine_args = {{ num_gpu_blocks_override = {blocks} }}"]
    if adapters:
        lines += [f"max_loras = {adapters}", "max_lora_rank = 8"]
    for one in range(adapters):
        folder = place.folder / "adapters" / str(one)
        if not folder.exists():
            write_adapter(folder, model, one)
        lines += [f"[adapter-{one}]", 'adapter_of = "checked"', f'adapter = "{folder}"', f'revision = "{one}"']
    return "\n".join(lines)


def _request(key: str, size: int, *, alias: str = "checked", temperature: float = 0.0, **fields: Any) -> Any:
    from apps.reasoning.domain.generation import GenerationRequest, Message, Sampling

    body = {"run": "check", "key": key, "role": "checker", "alias": alias, "deadline_s": 110.0, "seed": 1}
    return GenerationRequest.model_validate(
        body
        | {"messages": (Message(role="user", content=PROMPT),)}
        | {"sampling": Sampling.model_validate({"temperature": temperature, "max_new_tokens": size})}
        | {"priority": 9}
        | fields
    )


async def _answers(backend: Any, count: int, size: int, key: str = "call") -> tuple[int, float]:
    """Tokens of `count` answers at the same time, and the longest pause of the event loop meanwhile in seconds."""
    from apps.reasoning.inference.streaming import read_to_final

    lag, ended = 0.0, asyncio.Event()

    async def watch() -> None:
        nonlocal lag
        while not ended.is_set():
            before = time.monotonic()
            await asyncio.sleep(0.01)
            lag = max(lag, time.monotonic() - before - 0.01)

    watcher = asyncio.create_task(watch())
    try:
        requests = [_request(f"{key}/{one}", size, temperature=1.0) for one in range(count)]
        finals = await asyncio.gather(*(read_to_final(backend, request) for request in requests))
    finally:
        ended.set()
        await watcher
    return sum(final.usage.completion for final in finals), lag


async def _bare(llm: Any, name: str, size: int) -> int:
    from vllm import SamplingParams
    from vllm.inputs import tokens_input
    from vllm.sampling_params import RequestOutputKind

    ids = llm.get_tokenizer()(f"user: {PROMPT}\nassistant: ", add_special_tokens=False)["input_ids"]
    params = SamplingParams(temperature=1.0, seed=1, max_tokens=size, output_kind=RequestOutputKind.DELTA)
    return sum([len(output.outputs[0].token_ids) async for output in llm.generate(tokens_input(ids), params, name)])


CHECKS = (
    Check("starts", "the engine starts without nvcc, cold and warm", "engine", "starts", 180, starts),
    Check("calls", "256 and 1,024 calls against bare AsyncLLM, loop lag", "engine", "engine", 150, calls),
    Check("captures", "answers with captured tokens", "engine", "engine", 30, captures),
    Check("aborts", "aborted calls end within 1 s", "engine", "engine", 20, aborts),
    Check("adapters", "six adapters at the same time", "engine", "engine", 30, adapters),
    Check("long_answer", "an answer of 32,000 tokens, flat cost a token", "engine", "engine", 115, long_answer),
    Check("crowded", "memory for keys and values oversubscribed fourfold", "engine", "crowded", 100, crowded),
    Check("memory_back", "kill -9 of the core: memory back within 5 s", "engine", "crowded", 15, memory_back),
    Check("parsers", "32,000 tokens in each reasoning parser, flat cost a token", "engine", "parsers", 90, parsers),
    Check("worker_killed", "kill -9 of the engine's host: core gone within 5 s", "engine", "worker", 90, worker_killed),
)
