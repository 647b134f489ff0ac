"""Tokens a second of a training job with a model of real size and random weights, on a GPU or a CPU.

    .venv-train/bin/python -m benchmarks.learning.training_speed --device cuda --dtype bfloat16

The rows have prompts of 300 tokens and completions with a long tail, as those of provers have (docs/learning.md). Weights are
random, because the time of a step does not depend on them. The first step is left out, because it loads kernels. Prints one
JSON object: `tokens_per_second` without padding, `useful` (the share of these in all that a step computes), `memory_gib` (the
most that torch held) and `utilisation` (6 × parameters × tokens a second, as a share of `--peak`).
"""

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path
from random import Random

PROMPT, MEDIAN, SPREAD = 300, 700, 0.7
VOCABULARY = 32_000


def main() -> int:
    """Print the figures of one configuration. Returns the job's exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learning.training_speed", description=main.__doc__)
    for name, value in {"hidden": 896, "layers": 24, "heads": 14, "rows": 32, "micro": 4, "most": 4096, "steps": 5}.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--dtype", default="bfloat16", choices=["bfloat16", "float32"])
    parser.add_argument("--peak", type=float, default=989.0, help="TFLOP/s of the device; 989 is bf16 on an H100")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measured(Path(folder), given)))
    return 0


def measured(folder: Path, given: argparse.Namespace) -> dict[str, float | str | int]:
    """Train in `folder` and return the figures."""
    import torch

    from workers.training.running import run_job

    parameters, useful = _prepare(folder, given)
    status = run_job(folder)
    if status:
        raise SystemExit((folder / "state.json").read_text())
    steps = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    speed = statistics.median(step["tokens_per_second"] for step in steps[1:])
    return {
        "device": torch.cuda.get_device_name() if given.device == "cuda" else "cpu",
        "dtype": given.dtype,
        "parameters": parameters,
        "micro": given.micro,
        "tokens_per_second": round(speed),
        "useful": round(useful, 3),
        "memory_gib": round(torch.cuda.max_memory_allocated() / 2**30, 1) if given.device == "cuda" else 0.0,
        "utilisation": round(6 * parameters * speed / given.peak / 1e12, 4),
    }


def _prepare(folder: Path, given: argparse.Namespace) -> tuple[int, float]:
    """Write model, rows and config.json. Returns the number of parameters and the share of useful tokens of a step."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    from apps.recipes.mathematics.rows import Row
    from workers.training.rows.tables import write_rows
    from workers.training.tiny import tiny_tokenizer

    shape = {"hidden_size": given.hidden, "intermediate_size": 5 * given.hidden, "num_hidden_layers": given.layers}
    heads = {"num_attention_heads": given.heads, "num_key_value_heads": max(1, given.heads // 7), "vocab_size": VOCABULARY}
    torch.manual_seed(0)
    model = LlamaForCausalLM(LlamaConfig(**shape, **heads, max_position_embeddings=2 * given.most, tie_word_embeddings=True))
    model.save_pretrained(folder / "model")
    tiny_tokenizer().save_pretrained(folder / "model")
    rng = Random(0)
    lengths = [min(given.most, round(MEDIAN * rng.lognormvariate(0, SPREAD))) for _ in range(given.rows)]
    rows = [
        Row(
            prompt_ids=[rng.randrange(4, 40) for _ in range(PROMPT)],
            completion_ids=[rng.randrange(4, 40) for _ in range(length)],
            loss_mask=[1] * length,
            logprobs=[-10.0] * length,
            group_id=str(number // 8),
            advantage=1.0 if number % 2 else -1.0,
            reward=float(number % 2),
        )
        for number, length in enumerate(lengths)
    ]
    write_rows(folder / "rows" / "000.parquet", rows)
    settings = {"rows_per_step": given.rows, "micro_rows": given.micro, "device": given.device, "dtype": given.dtype}
    what = {"format": 1, "recipe": "turn_grpo", "base": "model", "source": {"kind": "rows"}, "loss": {"beta": 0.0}}
    (folder / "config.json").write_text(json.dumps(what | settings | {"steps": given.steps, "samples": 0, "save_every": 1000}))
    longest = PROMPT + max(lengths)
    return model.num_parameters(), (PROMPT * given.rows + sum(lengths)) / (longest * given.rows)


if __name__ == "__main__":
    sys.exit(main())
