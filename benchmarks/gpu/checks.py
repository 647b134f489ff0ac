"""The checks by name, and how a process runs a group of them: one line of JSON for each result, as soon as it is known."""

import asyncio
import inspect
import json
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, TextIO

State = Literal["passed", "failed", "missing"]
Where = Literal["anywhere", "trainer", "engine"]
Figures = dict[str, float | str]


class Missing(Exception):
    """The machine lacks what a check needs; the message says what."""


class Failed(Exception):
    """The check ran, and a figure is not what it must be."""


@dataclass(frozen=True)
class Check:
    """A check. The checks of one `group` share a process."""

    name: str
    title: str
    where: Where
    group: str
    seconds: float
    run: Callable[[Any], Any]


@dataclass(frozen=True)
class Result:
    """How a check ended."""

    name: str
    state: State
    why: str = ""
    figures: Figures = field(default_factory=dict)


@dataclass
class Place:
    """What the checks of a group share: the device, a folder for all groups, and what the group itself has started."""

    device: str
    folder: Path
    shared: dict[str, Any] = field(default_factory=dict)


def expect(right: bool, sentence: str) -> None:
    """Raise `Failed` with a sentence unless `right`."""
    if not right:
        raise Failed(sentence)


async def run_group(checks: Iterable[Check], place: Place, out: TextIO) -> None:
    """Run checks in their order in this process, and write each result to `out`."""
    for check in checks:
        out.write(json.dumps(asdict(await result_of(check, place))) + "\n")
        out.flush()


async def result_of(check: Check, place: Place) -> Result:
    """Run one check; never raises. A coroutine is ended at its deadline, everything else by the parent process."""
    try:
        found = check.run(place)
        if inspect.isawaitable(found):
            async with asyncio.timeout(check.seconds):
                found = await found
    except Missing as missing:
        return Result(check.name, "missing", str(missing))
    except TimeoutError:
        return Result(check.name, "failed", f"It took longer than {check.seconds:g} s.")
    except (Exception, SystemExit) as error:
        said = str(error).strip().splitlines() or [""]
        return Result(check.name, "failed", said[-1] if isinstance(error, Failed) else f"{type(error).__name__}: {said[-1]}")
    return Result(check.name, "passed", figures=found or {})


def needs_cuda(place: Place) -> None:
    """Raise `Missing` unless the checks run on the CPU, or torch sees a GPU."""
    if place.device == "cpu":
        return
    import torch

    if not torch.cuda.is_available():
        built = f"built for CUDA {torch.version.cuda}" if torch.version.cuda else "built for the CPU only"
        raise Missing(f"torch {torch.__version__}, {built}, finds no GPU.")


def temporary(place: Place) -> Path:
    """A new folder below the shared one."""
    return Path(tempfile.mkdtemp(dir=place.folder))
