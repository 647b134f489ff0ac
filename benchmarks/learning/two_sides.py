"""Log-probabilities of the same tokens on both sides of learning: of the engine that drew them, and of the trainer's scoring.

vLLM and the trainer are in two environments, so one process draws (`--draw FILE`) and one scores (`--score FILE`). Both compute
with 32 bits. A ratio of learning is e to the power of the difference, so it should be 1.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure, Skipped

ROOT = Path(__file__).resolve().parents[2]
DRAWS, SCORES = ROOT / ".venv-vllm" / "bin" / "python", ROOT / ".venv-train" / "bin" / "python"
TEMPERATURES = (0.8, 1.0)
ANSWERS, TOKENS = 16, 128
#: Target of the greatest difference at any temperature.
GREATEST = 1e-4
PROMPT = "Number {}: tell a story about a fox, a crow and a proof that there are infinitely many primes."


def figures(quick: bool = False) -> list[Figure]:
    """SmolLM2 on vLLM's CPU build and in the trainer. Raises `Skipped` if one of both is not set up."""
    for python, how in ((DRAWS, "make setup-vllm"), (SCORES, "make setup-train")):
        if not python.exists():
            raise Skipped(f"{python.parents[1].name} is missing; run `{how}`.")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "drawn.json"
        count = ["--answers", str(4 if quick else ANSWERS)]
        _run(DRAWS, "--draw", str(file), *count)
        found = json.loads(_run(SCORES, "--score", str(file)).splitlines()[-1])
    rows = []
    for temperature, (tokens, mean, greatest) in found.items():
        rows.append(Figure(f"tokens drawn at temperature {temperature}", tokens))
        rows.append(Figure("… mean difference of their log-probabilities", mean))
        rows.append(Figure("… greatest difference", greatest, target=GREATEST))
    return rows


def _run(python: Path, *arguments: str) -> str:
    command = [str(python), "-m", "benchmarks.learning.two_sides", *arguments]
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout


async def draw(file: Path, answers: int) -> None:
    """Write what the worker's engine drew and recorded, by temperature."""
    from apps.reasoning.domain.generation import GenerationRequest, Message, Sampling
    from apps.reasoning.inference.aliases import parse_aliases
    from apps.reasoning.inference.streaming import read_to_final
    from benchmarks.engines.engine_vllm import ALIAS, models_toml
    from workers.engines.vllm import VllmBackend

    def request(temperature: float, number: int) -> GenerationRequest:
        return GenerationRequest(
            run="r", key=f"{temperature}/{number}", role="draws", alias=ALIAS, seed=number, capture=True, deadline_s=1200.0,
            messages=(Message(role="user", content=PROMPT.format(number)),),
            sampling=Sampling(temperature=temperature, top_p=1.0, max_new_tokens=TOKENS),
        )  # fmt: skip

    backend = VllmBackend(parse_aliases(models_toml())[ALIAS])
    found = {}
    for temperature in TEMPERATURES:
        calls = [read_to_final(backend, request(temperature, number)) for number in range(answers)]
        captures = [final.capture for final in await asyncio.gather(*calls) if final.capture is not None]
        found[temperature] = [one.model_dump(mode="json") for one in captures]
    await backend.close()
    file.write_text(json.dumps(found))


def score(file: Path) -> dict[str, tuple[int, float, float]]:
    """By temperature: tokens, mean and greatest difference of the trainer's log-probabilities from the recorded ones."""
    import torch

    from apps.recipes.mathematics.rows import Row
    from workers.training.rows.batches import tensors_of

    found = {}
    for temperature, captures in json.loads(file.read_text()).items():
        rows = [
            Row(one["prompt_ids"], one["completion_ids"], [1] * len(one["completion_ids"]), str(place), advantage=1.0,
                logprobs=one["logprobs"])
            for place, one in enumerate(captures)
        ]  # fmt: skip
        with tempfile.TemporaryDirectory() as folder, torch.no_grad():
            trainer = _trainer(Path(folder), rows, float(temperature))
            batch = tensors_of(rows, pad=0, device=trainer.model.device)
            scores = trainer.in_pieces(trainer.model.eval(), batch)
        away = (scores - batch["old_per_token_logps"]).abs()[batch["completion_mask"].bool()]
        found[temperature] = (away.numel(), float(away.mean()), float(away.max()))
    return found


def _trainer(folder: Path, rows: Any, temperature: float) -> Any:
    from workers.engines.dequantise import model_folder
    from workers.training.config import config_of
    from workers.training.models import load_model, load_tokenizer
    from workers.training.row_trainer import RowTrainer, arguments
    from workers.training.rows.sources import StoredRows

    base = model_folder()
    given = {"recipe": "turn_dapo", "base": str(base), "source": {"kind": "rows"}, "steps": 1, "dtype": "float32"}
    config = config_of(given | {"rows_per_step": len(rows), "temperature": temperature})
    own = arguments(config, folder, bf16=False, cpu=True)
    return RowTrainer(load_model(base), StoredRows(rows, len(rows)), config, own, load_tokenizer(base))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learning.two_sides")
    parser.add_argument("--draw", type=Path)
    parser.add_argument("--score", type=Path)
    parser.add_argument("--answers", type=int, default=ANSWERS)
    chosen = parser.parse_args()
    if chosen.draw:
        asyncio.run(draw(chosen.draw, chosen.answers))
    else:
        sys.stdout.write(json.dumps(score(chosen.score)) + "\n")
