"""vLLM on this machine's CPU with SmolLM2, as `make setup-vllm` leaves it, and LoRA adapters made for it."""

import contextlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from apps.reasoning.inference.aliases import Alias, parse_aliases
from workers.engines.dequantise import model_folder

TOML = """
[{name}]
backend = "vllm"
title = "SmolLM2 in vLLM"
model = "{model}"
revision = "SmolLM2-135M"
context_tokens = 2048
concurrency = 32

[{name}.options]
dtype = "bfloat16"
enforce_eager = true
cache_gb = 1
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
"""


def vllm_toml(name: str) -> str:
    """The table of an alias of the backend vllm for the model at hand; keys of its options may follow."""
    return TOML.format(name=name, model=model_folder())


def alias_with_adapters(name: str, folder: Path) -> Alias:
    """The alias with three adapters: one that changes every answer, one that is not there, one that is no adapter."""
    if importlib.util.find_spec("vllm") is not None:
        _write_adapter(folder / "tuned")
    (folder / "broken").mkdir()
    (folder / "broken" / "adapter_config.json").write_text('{"peft_type": "LORA", "r": 8}')
    return parse_aliases(vllm_toml(name) + _ADAPTERS.format(name=name, folder=folder))[name]


def _write_adapter(folder: Path) -> None:
    """Random weights on the queries of all layers, in the format of PEFT."""
    import torch
    from safetensors.torch import save_file

    folder.mkdir()
    model = json.loads((model_folder() / "config.json").read_text())
    size, layers, rank = model["hidden_size"], model["num_hidden_layers"], 8
    generator = torch.Generator().manual_seed(1)
    weights = {}
    for layer in range(layers):
        place = f"base_model.model.model.layers.{layer}.self_attn.q_proj"
        weights[f"{place}.lora_A.weight"] = torch.randn(rank, size, generator=generator) * 0.2
        weights[f"{place}.lora_B.weight"] = torch.randn(size, rank, generator=generator) * 0.2
    save_file(weights, folder / "adapter_model.safetensors")
    config = {"peft_type": "LORA", "r": rank, "lora_alpha": 16, "target_modules": ["q_proj"], "bias": "none"}
    (folder / "adapter_config.json").write_text(json.dumps(config))


@contextlib.contextmanager
def vllm_server(folder: Path, port: int) -> Iterator[str]:
    """`vllm serve` with the same model; its address without `/v1`. Its log is `folder/serve.log`."""
    # As `vllm serve` does; the command itself looks for a package named vllm, and the build for the CPU has another name.
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(model_folder()),
               "--served-model-name", "smollm2",
               "--host", "127.0.0.1", "--port", str(port), "--max-model-len", "2048", "--max-num-seqs", "16", "--enforce-eager",
               "--dtype", "bfloat16", "--enable-prompt-tokens-details"]  # fmt: skip
    env = os.environ | {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind", "OMP_WAIT_POLICY": "PASSIVE"}
    with (folder / "serve.log").open("wb") as log:
        server = subprocess.Popen(command, env=env, stdout=log, stderr=log, start_new_session=True)
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
    """Calls that the server says it is generating or has waiting."""
    with urllib.request.urlopen(f"{server}/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    names = ("vllm:num_requests_running", "vllm:num_requests_waiting{")
    return round(sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(names)))


def _wait_for(url: str, server: "subprocess.Popen[bytes]", log: Path) -> None:
    for _ in range(3000):
        assert server.poll() is None, log.read_text(errors="replace")[-4000:]
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=2):
            return
        time.sleep(0.1)
    raise AssertionError(log.read_text(errors="replace")[-4000:])
