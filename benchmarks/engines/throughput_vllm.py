"""throughput.py with SmolLM2 on vLLM's CPU build, in the environment of `make setup-vllm`."""

from benchmarks.engines import engine_vllm
from benchmarks.engines.throughput import Engine, measure
from benchmarks.figures import Figure


def figures(quick: bool = False) -> list[Figure]:
    """SmolLM2 on vLLM. Raises `Skipped` if vLLM is not set up."""
    toml = engine_vllm.models_toml()
    return measure(Engine(engine_vllm.ALIAS, toml, engine_vllm.raw_command(toml), str(engine_vllm.PYTHON)), quick)
