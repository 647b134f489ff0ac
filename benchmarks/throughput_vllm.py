"""throughput.py with SmolLM2 on vLLM's CPU build, in the environment that `make setup-vllm` makes."""

from benchmarks import engine_vllm
from benchmarks.figures import Figure
from benchmarks.throughput import Engine, measure


def figures(quick: bool = False) -> list[Figure]:
    """Raises `Skipped` where vLLM is not set up."""
    toml = engine_vllm.models_toml()
    return measure(Engine(engine_vllm.ALIAS, toml, engine_vllm.raw_command(toml), str(engine_vllm.PYTHON)), quick)
