"""`python -m benchmarks.gpu`: check a machine with a GPU. Exit status 1 if a check failed."""

import argparse
import asyncio
import datetime
import os
import sys
import tempfile
from pathlib import Path

from benchmarks.gpu import engine, training
from benchmarks.gpu.checks import Check, Place, Result, Where, run_group
from benchmarks.gpu.processes import ROOT, results
from benchmarks.gpu.report import DOCUMENT, line_of, page

#: The engine's checks come before the trainer's, which compare log-probabilities with the engine's.
CHECKS: tuple[Check, ...] = (
    *[one for one in training.CHECKS if one.name in ("compiler", "cuda", "triton")],
    *engine.CHECKS,
    *[one for one in training.CHECKS if one.name not in ("compiler", "cuda", "triton")],
)


def main() -> int:
    """Run the checks in their environments, or with `--child` in this process."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=main.__doc__)
    parser.add_argument(
        "--device", choices=["cuda", "cpu"], default="cuda", help="cpu: small models, never written to the page"
    )
    parser.add_argument("--trainer", type=Path, default=ROOT / ".venv-train" / "bin" / "python", help="the trainer's Python")
    parser.add_argument("--engine", type=Path, default=ROOT / ".venv-vllm" / "bin" / "python", help="the engine's Python")
    parser.add_argument("--only", nargs="+", choices=[check.name for check in CHECKS], help="names of checks")
    parser.add_argument("--seconds", type=float, default=600.0, help="of all checks together")
    parser.add_argument("--no-write", action="store_true", help="leave docs/gpu.md as it is")
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        return _child(given.child, Place(given.device, given.folder))
    return asyncio.run(_parent(given))


async def _parent(given: argparse.Namespace) -> int:
    chosen = [check for check in CHECKS if not given.only or check.name in given.only]
    pythons: dict[Where, Path] = {"anywhere": Path(sys.executable), "trainer": given.trainer, "engine": given.engine}
    found: dict[str, Result] = {}
    with tempfile.TemporaryDirectory(prefix="ls-gpu-") as folder:
        async for result in results(chosen, pythons, given.device, Path(folder), given.seconds):
            found[result.name] = result
            print(line_of(result), flush=True)
    _write(found, may=not given.no_write and given.device == "cuda" and not given.only)
    return int(any(result.state == "failed" for result in found.values()))


def _write(found: dict[str, Result], *, may: bool) -> None:
    """Write docs/gpu.md if it may be written and torch has seen a GPU."""
    cuda = found.get("cuda")
    if cuda is None or cuda.state != "passed" or not may:
        print("docs/gpu.md is unchanged" + (": no GPU was found." if may else "."))
        return
    hardware = f"{cuda.figures['devices']} × {cuda.figures['device']}, torch {cuda.figures['torch']}"
    DOCUMENT.write_text(page(CHECKS, found, datetime.datetime.now(tz=datetime.UTC).date().isoformat(), hardware), "utf-8")
    print(f"Written: {DOCUMENT.relative_to(ROOT)}")


def _child(names: list[str], place: Place) -> int:
    """Run checks in this process. Results go to standard output, and everything that libraries print goes to the log."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as out:
        os.dup2(2, 1)
        asyncio.run(run_group([check for check in CHECKS if check.name in names], place, out))
        out.flush()
        os._exit(0)  # Engines and threads that a failed check left behind end with the process.


if __name__ == "__main__":
    sys.exit(main())
