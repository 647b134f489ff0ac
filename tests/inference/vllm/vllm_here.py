"""vLLM on this machine's CPU with SmolLM2, as `make setup-vllm` installs it, and LoRA adapters made for it."""

import asyncio
import contextlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path

import pytest

from apps.reasoning.domain.generation import Final
from apps.reasoning.inference.aliases import Alias, parse_aliases
from workers.engines.dequantise import model_folder

ROOT = Path(__file__).resolve().parents[3]
#: Tests that share one process with its engine and server.
VLLM = (pytest.mark.vllm, pytest.mark.xdist_group("vllm"))
#: Tests that start engines of their own run in the other process.
OWN_VLLM = (pytest.mark.vllm, pytest.mark.xdist_group("vllm that fails"))
#: The longest time to load an engine: 45 s alone on two cores, much more on a busy machine.
LOADED_WITHIN_S = 480.0
# Processors without bfloat16 instructions read prompts five times faster with 32 bits.
TOML = """
[{name}]
backend = "vllm"
title = "SmolLM2 in vLLM"
model = "{model}"
revision = "SmolLM2-135M"
context_tokens = 2048
concurrency = 32

[{name}.options]
dtype = "float32"
enforce_eager = true
cache_gb = 1
tool_parser = "hermes"
"""

_ADAPTERS = """
max_lora_rank = 8

[tuned]
adapter_of = "{name}"
adapter = "{folder}/tuned"
revision = "step 100"

[missing]
adapter_of = "{name}"
adapter = "{folder}/missing"

[broken]
adapter_of = "{name}"
adapter = "{folder}/broken"

[learner]
adapter_of = "{name}"
adapter = "{folder}/job/policy/*"
"""


def vllm_toml(name: str) -> str:
    """The table of an alias of the vLLM backend for the model of this machine; more option keys may be appended."""
    return TOML.format(name=name, model=model_folder())


def alias_with_adapters(name: str, folder: Path) -> Alias:
    """The alias with four adapters: one changes every answer, one is missing, one is not an adapter, and one follows a job
    that has not written a version yet.
    """
    if importlib.util.find_spec("vllm") is not None:
        write_adapter(folder / "tuned")
    (folder / "broken").mkdir()
    (folder / "broken" / "adapter_config.json").write_text('{"peft_type": "LORA", "r": 8}')
    return parse_aliases(vllm_toml(name) + _ADAPTERS.format(name=name, folder=folder))[name]


def job_folder(alias: Alias) -> Path:
    """The folder for the versions of the job that `learner` follows."""
    return next(Path(one.path).parent for one in alias.adapters if one.name == "learner")


def write_adapter(folder: Path, seed: int = 1) -> None:
    """Write random weights for the queries of all layers in PEFT format."""
    import torch
    from safetensors.torch import save_file

    folder.mkdir(parents=True)
    model = json.loads((model_folder() / "config.json").read_text())
    size, layers, rank = model["hidden_size"], model["num_hidden_layers"], 8
    generator = torch.Generator().manual_seed(seed)
    weights = {}
    for layer in range(layers):
        place = f"base_model.model.model.layers.{layer}.self_attn.q_proj"
        weights[f"{place}.lora_A.weight"] = torch.randn(rank, size, generator=generator) * 0.2
        weights[f"{place}.lora_B.weight"] = torch.randn(size, rank, generator=generator) * 0.2
    save_file(weights, folder / "adapter_model.safetensors")
    config = {"peft_type": "LORA", "r": rank, "lora_alpha": 16, "target_modules": ["q_proj"], "bias": "none"}
    (folder / "adapter_config.json").write_text(json.dumps(config))


def policy_folder(folder: Path) -> Path:
    """The folder with the versions of the job `job` in a folder of tests."""
    return folder / "job" / "policy"


def write_llama(folder: Path, seed: int, wrong: str = "") -> None:
    """Write a tiny Llama with random weights and SmolLM2's tokenizer, as a trainer does: under its name when it is whole.

    `wrong` names a weight that gets another shape. vLLM's CPU build needs heads of at least 32 numbers.
    """
    import torch
    from safetensors.torch import load_file, save_file
    from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    sizes = {"hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2, "max_position_embeddings": 512}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 1, "tie_word_embeddings": True, "initializer_range": 0.3}
    temporary = folder.with_name(f".{folder.name}")
    LlamaForCausalLM(LlamaConfig(vocab_size=49152, **sizes, **heads)).save_pretrained(temporary)
    AutoTokenizer.from_pretrained(model_folder()).save_pretrained(temporary)
    if wrong:
        weights = load_file(temporary / "model.safetensors")
        weights[wrong] = weights[wrong][:, :7].contiguous()
        save_file(weights, temporary / "model.safetensors")
    temporary.rename(folder)


# `vllm serve` with processes that always end together with the process that started it. The command itself looks for a package
# named vllm, and the CPU build has another name.
_SERVE = """
import ctypes, pathlib, runpy, sys
ctypes.CDLL(None).prctl(1, 9, 0, 0, 0)
from workers.engines.tied_children import tied_children
with tied_children(pathlib.Path(sys.argv.pop(1))):
    runpy.run_module("vllm.entrypoints.openai.api_server", run_name="__main__", alter_sys=True)
"""


@contextlib.contextmanager
def vllm_server(folder: Path, port: int) -> Iterator[str]:
    """Run `vllm serve` with the same model and give its address without `/v1`. Its log is `folder/serve.log`."""
    command = [sys.executable, "-c", _SERVE, str(folder), "--model", str(model_folder()), "--served-model-name", "smollm2",
               "--host", "127.0.0.1", "--port", str(port), "--max-model-len", "2048", "--max-num-seqs", "16", "--enforce-eager",
               "--dtype", "float32", "--no-enable-chunked-prefill", "--max-num-batched-tokens", "2048",
               "--enable-prompt-tokens-details"]  # fmt: skip
    env = os.environ | {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind", "OMP_WAIT_POLICY": "PASSIVE"}
    with (folder / "serve.log").open("wb") as log:
        server = subprocess.Popen(command, env=env, cwd=ROOT, stdout=log, stderr=log, start_new_session=True)
    try:
        _wait_for(f"http://127.0.0.1:{port}/health", server, folder / "serve.log")
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(timeout=30)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)


def running_on(server: str) -> int:
    """The number of running and waiting calls that the server reports."""
    with urllib.request.urlopen(f"{server}/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    names = ("vllm:num_requests_running", "vllm:num_requests_waiting{")
    return round(sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(names)))


def _wait_for(url: str, server: "subprocess.Popen[bytes]", log: Path) -> None:
    end = time.monotonic() + LOADED_WITHIN_S
    while time.monotonic() < end:
        assert server.poll() is None, log.read_text(errors="replace")[-4000:]
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=2):
            return
        time.sleep(0.1)
    raise AssertionError(
        f"vLLM's server did not answer within {LOADED_WITHIN_S:g} s\n{log.read_text(errors='replace')[-4000:]}"
    )


async def until(condition: Callable[[], Awaitable[bool]], what: str, calls: Sequence["asyncio.Task[Final]"] = ()) -> None:
    """Wait for `condition`, at most a minute; the error of one of `calls` that fails meanwhile is raised."""
    end = time.monotonic() + 60.0
    while not await condition():
        for call in calls:
            if call.done() and not call.cancelled() and (error := call.exception()):
                raise error
        assert time.monotonic() < end, f"this did not happen within a minute: {what}"
        await asyncio.sleep(0.02)
