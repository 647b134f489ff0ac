"""Asks newclid with py-yuclid for a proof, in a child process of the environment that `make setup-geometry` installs.

The engine gets the canonical text of a statement that we have read, so no other input reaches it. A proof rests on newclid's
rules and on conditions that newclid reads from its own figure, such as the order of points.
"""

import contextlib
import json
import os
import resource
import signal
import subprocess
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path

from apps.geometry.checking import PROVED, REFUTED, Check, Outcome
from apps.geometry.statement import Goal, Statement

SCRIPT = Path(__file__).resolve().parents[2] / "workers" / "prove_geometry.py"
#: Limits of one search. The engine needs 1.5 s to start.
WALL_S, CPU_S, MEMORY_BYTES = 40.0, 30, 3 * 1024**3
MOST_OUTPUT = 400_000
COMMAND = "make setup-geometry"
_one_at_once = threading.Lock()
_kept: OrderedDict[str, "Proof"] = OrderedDict()


@dataclass(frozen=True)
class Proof:
    """What the engine answered. Without an answer, `reason` says why; `goals` are those it proved."""

    reason: str = ""
    goals: frozenset[Goal] = frozenset()
    engine: str = ""
    assumptions: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    chases: tuple[str, ...] = field(default=(), repr=False)
    is_installed: bool = True

    @property
    def is_proof(self) -> bool:
        return bool(self.goals)


def prove(check: Check, python: Path) -> Proof:
    """Search for a proof of the goals that are not refuted. The answer is kept for later calls."""
    goals = tuple(one.goal for one in check.outcomes if one.outcome != REFUTED)
    if not python.exists():
        return Proof(
            f"No proof was searched: the geometry engine is not installed. Install it with `{COMMAND}`.", is_installed=False
        )
    if not goals:
        return Proof(
            "No proof was searched: every goal is refuted." if check.outcomes else "No proof was searched: there is no goal."
        )
    asked = Statement(check.statement.clauses, goals)
    key = f"{python} {asked}"
    if key not in _kept:
        if not _one_at_once.acquire(timeout=WALL_S):
            return Proof("The engine is busy with other statements. Reload the page in a minute.")
        try:
            found = _asked(asked, python)
        finally:
            _one_at_once.release()
        _kept[key] = found
        while len(_kept) > 200:
            _kept.popitem(last=False)
    return _kept[key]


def with_proof(check: Check, proof: Proof) -> list[Outcome]:
    """The outcomes, where goals that the engine proved and the check did not refute are proved."""
    return [
        Outcome(one.goal, PROVED, f"Proved by {proof.engine}; rests on newclid’s rules. {one.words}", one.configurations)
        if one.goal in proof.goals and one.outcome != REFUTED
        else one
        for one in check.outcomes
    ]


def _asked(statement: Statement, python: Path) -> Proof:
    environment = {"PATH": f"{python.parent}:/usr/bin:/bin", "LANG": "C.UTF-8", "MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1"}
    environment |= {"OPENBLAS_NUM_THREADS": "1", "MPLCONFIGDIR": "/tmp", "HOME": "/tmp"}  # noqa: S108  matplotlib wants a folder.
    child = subprocess.Popen(  # noqa: S603  Our own program, its input on a pipe.
        [str(python), "-I", str(SCRIPT)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
        env=environment,
        start_new_session=True,
    )
    resource.prlimit(child.pid, resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.prlimit(child.pid, resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    try:
        written, _ = child.communicate(str(statement), timeout=WALL_S)
    except subprocess.TimeoutExpired:
        return Proof(f"No proof found within {WALL_S:.0f} s.")
    finally:
        _end(child)
    if child.returncode != 0 or len(written) > MOST_OUTPUT:
        return Proof("No proof found within the limits on time and memory.")
    return _read(written, statement)


def _end(child: "subprocess.Popen[str]") -> None:
    """End the engine and the program that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _read(written: str, statement: Statement) -> Proof:
    answer = json.loads(written)
    engine = ", ".join(f"{name} {version}" for name, version in answer["versions"].items())
    if "reason" in answer:
        return Proof(f"{answer['reason']}.", engine=engine)
    proved = frozenset(goal for goal, found in zip(statement.goals, answer["proved"], strict=True) if found)
    if not proved:
        return Proof(f"{engine} found no proof.", engine=engine)
    lines = [tuple(map(str, answer[name])) for name in ("assumptions", "checks", "steps", "chases")]
    return Proof("", proved, engine, *lines)
