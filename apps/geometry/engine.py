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
from dataclasses import dataclass
from pathlib import Path

from apps.geometry.checking import PROVED, REFUTED, Check, Outcome
from apps.geometry.statement import Goal, Statement

SCRIPT = Path(__file__).resolve().parents[2] / "workers" / "prove_geometry.py"
#: Limits of one search. The engine needs 1.5 s to start.
WALL_S, CPU_S, MEMORY_BYTES = 40.0, 30, 3 * 1024**3
#: Longest wait for a search of another reader.
WAIT_S = 10.0
MOST_OUTPUT = 400_000
COMMAND = "make setup-geometry"
_one_at_once = threading.Lock()
_kept: OrderedDict[str, "Proof"] = OrderedDict()


@dataclass(frozen=True)
class GoalProof:
    """The proof of a goal as newclid wrote it. `checks` are conditions that newclid read from its own figure."""

    goal: Goal
    assumptions: tuple[str, ...]
    checks: tuple[str, ...]
    steps: tuple[str, ...]


@dataclass(frozen=True)
class Proof:
    """What the engine answered: proofs of goals. Without any, `reason` says why."""

    reason: str = ""
    found: tuple[GoalProof, ...] = ()
    engine: str = ""
    is_installed: bool = True


def prove(check: Check, python: Path) -> Proof:
    """Search for a proof of the goals that are not refuted. The answer is kept for later calls."""
    goals = tuple(one.goal for one in check.outcomes if one.outcome != REFUTED and not one.goal.predicate.negated)
    if not python.exists():
        return Proof(
            f"No proof was searched: the geometry engine is not installed. On the server, {COMMAND} installs it.",
            is_installed=False,
        )
    if not goals:
        return Proof(
            "No proof was searched: every goal is refuted." if check.outcomes else "No proof was searched: there is no goal."
        )
    asked = Statement(check.statement.clauses, goals)
    key = f"{python} {asked}"
    if key not in _kept:
        if not _one_at_once.acquire(timeout=WAIT_S):
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
    proved = {one.goal for one in proof.found}
    return [
        Outcome(one.goal, PROVED, f"Proved by {proof.engine}; rests on newclid’s rules. {one.words}", one.configurations)
        if one.goal in proved and one.outcome != REFUTED
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
        _end(child)
        child.communicate()
        return Proof(f"No proof found within {WALL_S:.0f} s.")
    _end(child)
    if child.returncode != 0 or len(written) > MOST_OUTPUT:
        return Proof("No proof found within the limits on time and memory.")
    return _read(written, statement)


def _end(child: "subprocess.Popen[str]") -> None:
    """End the engine and the program that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)


def _read(written: str, statement: Statement) -> Proof:
    try:
        answer = json.loads(written)
    except ValueError:
        return Proof("The engine gave no answer that can be read.")
    engine = ", ".join(f"{name} {version}" for name, version in answer["versions"].items())
    found = [
        GoalProof(goal, *(tuple(map(str, one[lines])) for lines in ("assumptions", "checks", "steps")))
        for goal, one in zip(statement.goals, answer["goals"], strict=True)
        if "reason" not in one
    ]
    return Proof("" if len(found) == len(statement.goals) else _without(engine, found), tuple(found), engine)


def _without(engine: str, found: list[GoalProof]) -> str:
    return f"{engine} found no proof{' of the other goals' if found else ''}."
