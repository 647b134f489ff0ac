"""The results as text, and docs/gpu.md."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.gpu.checks import Check, Result

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "gpu.md"
NEVER = "never run"
_ABOUT = """# Hardware checks

This page has the results of `make gpu-check`. It is for administrators and contributors with a GPU. The command installs
nothing. It needs at most ten minutes, says what is missing, and writes this page where it finds a GPU. All models have random
weights, so nothing is downloaded.

```sh
make gpu-check                                   # all checks; writes this page
make gpu-check GPU_ARGS="--no-write"             # prints the results only
make gpu-check GPU_ARGS="--only cuda adapter"    # some checks
make gpu-check GPU_ARGS="--device cpu --only full_weights"   # with a small model on the CPU
```

The checks of the trainer run in `.venv-train`, those of the engine in `.venv-vllm`. `--trainer PYTHON` and `--engine PYTHON`
name other environments.

- **passed**, **failed**: the check ran. A failed one says which figure is wrong.
- **missing**: this machine lacks what the check needs.
"""


def line_of(result: Result) -> str:
    """A result in one line."""
    figures = ", ".join(f"{name} {value}" for name, value in result.figures.items())
    return f"{result.state:9}  {result.name:13}  {result.why or figures}".rstrip()


def page(checks: Sequence[Check], found: Mapping[str, Result] | None, date: str = "", hardware: str = "") -> str:
    """The text of docs/gpu.md; without results it says that no GPU ran the checks."""
    when = f"**{date}**, {hardware}:" if found else f"On a GPU: **{NEVER}**."
    rows = ["| check | what | result | figures or reason |", "|---|---|---|---|"]
    for check in checks:
        result = (found or {}).get(check.name)
        state = result.state if result else NEVER
        figures = ", ".join(f"{name} {value}" for name, value in result.figures.items()) if result else ""
        why = (result.why if result else "") or figures
        rows.append(f"| `{check.name}` | {check.title} | {state} | {why} |")
    return "\n".join([_ABOUT, when, "", *rows, ""])
