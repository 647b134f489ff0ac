"""Checks in the trainer's environment: torch, Triton, jobs with all weights and with an adapter, long rows, two devices."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.gpu.checks import Check, Figures, Missing, Place, expect, needs_cuda, temporary
from benchmarks.gpu.models import make_model

ROOT = Path(__file__).resolve().parents[2]
CONTEXT = 34_000
CAPTURES = "captures.json"


def compiler(place: Place) -> Figures:
    """A C compiler, which Triton calls when it builds a kernel's launcher."""
    found = next(
        (path for name in (os.environ.get("CC", ""), "gcc", "cc", "clang") if name and (path := shutil.which(name))), ""
    )
    if not found:
        raise Missing("There is no C compiler in PATH; Triton's kernels need one (for example the package gcc).")
    return {"compiler": found}


def cuda(place: Place) -> Figures:
    """Whether torch computes on the GPU, and what it is."""
    import torch

    needs_cuda(place)
    ones = torch.ones(256, 256, device=place.device)
    expect(float((ones @ ones).sum()) == 256**3, "The product of two matrices is wrong.")
    if place.device == "cpu":
        return {"torch": torch.__version__}
    free, total = torch.cuda.mem_get_info()
    known: Figures = {"torch": torch.__version__, "device": torch.cuda.get_device_name(), "devices": torch.cuda.device_count()}
    return known | {"memory_gib": round(total / 2**30, 1), "free_gib": round(free / 2**30, 1)}


def triton_kernel(place: Place) -> Figures:
    """A Triton kernel, compiled and run by torch.compile."""
    import torch

    needs_cuda(place)
    if place.device == "cpu":
        raise Missing("Triton builds kernels for GPUs only.")
    added = torch.compile(lambda one, other: torch.sin(one) + other)
    one, other = torch.randn(2, 4096, device="cuda")
    expect(torch.allclose(added(one, other), torch.sin(one) + other, atol=1e-5), "The compiled kernel is wrong.")
    return {}


def full_weights(place: Place) -> Figures:
    """Twenty steps at 1e-6: more than half of the weights must change (bfloat16 weights would not)."""
    folder = _trained(place, [200, 400, 600, 800] * 4, steps=20, learning_rate=1e-6, last_learning_rate=1e-6)
    moved = _moved(make_model(place.folder / "model", place.device, CONTEXT), _checkpoint(folder))
    expect(moved > 0.5, f"Only {moved:.1%} of the weights changed.")
    return {"weights_moved": round(moved, 3)} | _measured(folder)


def adapter(place: Place) -> Figures:
    """A job that trains a LoRA adapter."""
    folder = _trained(place, [200, 400, 600, 800] * 2, steps=5, learning_rate=1e-4, lora={"rank": 8, "alpha": 16})
    expect((_checkpoint(folder) / "adapter_model.safetensors").is_file(), "The checkpoint has no adapter.")
    return _measured(folder)


def learning(place: Place) -> Figures:
    """The toy `copy` is learned, in bfloat16 on a GPU."""
    from benchmarks.learning.toys import job

    needs_cuda(place)
    settings: dict[str, Any] = {"rows_per_step": 256, "learning_rate": 2e-3, "last_learning_rate": 2e-3, "loss": {"beta": 0.0}}
    dtype = "float32" if place.device == "cpu" else "bfloat16"
    folder = job(temporary(place) / "copy", "turn_grpo", {"toy": "copy"}, 60, device=place.device, dtype=dtype, **settings)
    solved = [line["toy/solved"] for line in _lines(folder)]
    expect(sum(solved[-10:]) / 10 >= 0.85, f"It ended at {solved[-1]:.2f}; 0.85 is expected.")
    return {"solved": round(sum(solved[-10:]) / 10, 3)}


def long_rows(length: int) -> Any:
    """The check of two packed rows of `length` tokens."""

    def check(place: Place) -> Figures:
        import torch

        needs_cuda(place)
        if place.device != "cpu":
            torch.cuda.reset_peak_memory_stats()
        most = length if place.device != "cpu" else 256  # The square of attention is too much for a CPU.
        return _measured(_trained(place, [most - 100] * 2, steps=2, learning_rate=1e-6, micro_tokens=length))

    return check


def logprobs(place: Place) -> Figures:
    """The engine's captured log-probabilities against the trainer's model, for each temperature."""
    import torch

    from workers.training.models import load_model

    needs_cuda(place)
    if not (place.folder / CAPTURES).exists():
        raise Missing("The engine captured no answers (see its checks).")
    model = load_model(place.folder / "model").to(place.device).eval()
    found: Figures = {}
    for temperature, captures in json.loads((place.folder / CAPTURES).read_text()).items():
        away = []
        for one in captures:
            ids = torch.tensor([one["prompt_ids"] + one["completion_ids"]], device=place.device)
            with torch.no_grad(), torch.autocast(place.device, torch.bfloat16, enabled=place.device != "cpu"):
                logits = model(input_ids=ids).logits[0, len(one["prompt_ids"]) - 1 : -1].float() / float(temperature)
            own = logits.log_softmax(-1).gather(1, ids[0, len(one["prompt_ids"]) :, None])[:, 0].cpu()
            away.append((own - torch.tensor(one["logprobs"])).abs())
        mean = float(torch.cat(away).mean())
        expect(mean < 0.02, f"At temperature {temperature} they differ by {mean:.4f} on average; less than 0.02 is expected.")
        found[f"difference_at_{temperature}"] = round(mean, 5)
    return found


def two_devices(place: Place) -> Figures:
    """Two processes, each on a device of its own, get the weights of one process, also with the weights divided (FSDP2)."""
    import torch

    needs_cuda(place)
    if place.device != "cpu" and torch.cuda.device_count() < 2:
        raise Missing("The machine has one GPU; this needs two.")
    rows = [100 + 10 * number for number in range(8)]
    alone = _checkpoint(_trained(place, rows, steps=3, learning_rate=1e-4, dtype="float32"))
    found: Figures = {}
    for name, shard in (("largest_difference", None), ("largest_difference_fsdp", "fsdp")):
        folder = _written(place, rows, steps=3, learning_rate=1e-4, dtype="float32", shard=shard)
        command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
        done = subprocess.run(
            [*command, "-m", "workers.training", "--job", str(folder)], cwd=ROOT, capture_output=True, text=True, check=False
        )
        expect(done.returncode == 0, f"The two processes ended with {done.returncode}: {done.stderr.strip()[-300:]}")
        away = max(float((one - other).abs().max()) for one, other in _pairs(alone, _checkpoint(folder)))
        expect(away < 1e-4, f"A weight differs by {away:g} from that of one process ({name}).")
        found[name] = float(f"{away:.2g}")
    return found


def _written(place: Place, lengths: Sequence[int], **settings: Any) -> Path:
    """A job's folder with a row for each length."""
    from apps.recipes.mathematics.rows import Row
    from workers.training.rows.tables import write_rows

    folder, random = temporary(place), Random(0)
    rows = [
        Row(
            prompt_ids=[random.randrange(4, 40) for _ in range(100)],
            completion_ids=[random.randrange(4, 40) for _ in range(length)],
            loss_mask=[1] * length,
            logprobs=[-4.0] * length,
            group_id=str(number // 2),
            advantage=1.0 if number % 2 else -1.0,
            reward=float(number % 2),
        )
        for number, length in enumerate(lengths)
    ]
    write_rows(folder / "rows" / "000.parquet", rows)
    model = make_model(place.folder / "model", place.device, CONTEXT)
    job = {"recipe": "turn_grpo", "base": str(model), "source": {"kind": "rows"}, "rows_per_step": len(rows), "micro_rows": 4}
    config = job | {"loss": {"beta": 0.0}, "samples": 0, "device": place.device, "save_every": 1000, "threads": 1} | settings
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def _trained(place: Place, lengths: Sequence[int], **settings: Any) -> Path:
    from workers.training.running import run_job

    needs_cuda(place)
    folder = _written(place, lengths, **settings)
    status = run_job(folder)
    expect(not status, f"The job failed: {json.loads((folder / 'state.json').read_text())['message']}")
    return folder


def _lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def _checkpoint(folder: Path) -> Path:
    return folder / str(json.loads((folder / "state.json").read_text())["checkpoint"])


def _measured(folder: Path) -> Figures:
    """Tokens a second of the last step, and the most memory that torch held on a GPU."""
    import torch

    found: Figures = {"tokens_per_second": round(_lines(folder)[-1]["tokens_per_second"])}
    if torch.cuda.is_available():
        found["memory_gib"] = round(torch.cuda.max_memory_allocated() / 2**30, 1)
    return found


def _pairs(one: Path, other: Path) -> list[tuple[Any, Any]]:
    """The weights of two models of one file each, by pairs, in float32."""
    from safetensors.torch import load_file

    first, second = (load_file(folder / "model.safetensors") for folder in (one, other))
    return [(first[name].float(), second[name].float()) for name in first]


def _moved(base: Path, trained: Path) -> float:
    """The share of weights that changed."""
    pairs = _pairs(base, trained)
    changed = sum(int((one != other).sum()) for one, other in pairs)
    return changed / sum(int(one.numel()) for one, _ in pairs)


CHECKS = (
    Check("compiler", "there is a C compiler", "anywhere", "machine", 5, compiler),
    Check("cuda", "torch computes on the GPU", "trainer", "trainer", 30, cuda),
    Check("triton", "a Triton kernel in the trainer's environment", "trainer", "trainer", 40, triton_kernel),
    Check(
        "logprobs", "captured log-probabilities at T = 1 and 0.8: mean difference < 0.02", "trainer", "trainer", 20, logprobs
    ),
    Check("full_weights", "20 steps at 1e-6 move more than half of the weights", "trainer", "trainer", 60, full_weights),
    Check("adapter", "a LoRA job", "trainer", "trainer", 30, adapter),
    Check("learning", "a toy is learned in bfloat16", "trainer", "trainer", 40, learning),
    Check("memory_8k", "most memory with rows of 8,192 tokens", "trainer", "trainer", 20, long_rows(8_192)),
    Check("memory_32k", "most memory with rows of 32,768 tokens", "trainer", "trainer", 30, long_rows(32_768)),
    Check("two_devices", "two GPUs get the weights of one process, also with FSDP2", "trainer", "trainer", 90, two_devices),
)
