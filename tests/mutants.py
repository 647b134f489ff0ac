"""`make mutants`: change single lines of the application and count the changes that a test notices.

`python -m tests.mutants --lines 300 --seed 1` samples lines inside functions of apps/ and workers/. Each changed line is
tried by the test files that are nearest in the graph of imports, without browsers, engines and kills. One process imports
everything and makes the database. For each line it forks a child, which replaces the code of the function. So values that are
computed at import keep the old code, and such a line counts as survived.
"""

import argparse
import ast
import contextlib
import copy
import gc
import math
import os
import random
import signal
import sys
import time
import types
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol
from django.db import connections

ROOT = Path(__file__).resolve().parents[1]
#: Test files tried for a line, and the time for them in seconds. A child that takes longer has noticed, as in an endless loop.
FILES, LIMIT_S = 12, 240
WITHOUT = "not browser and not engine and not kill and not vllm and not trainer and not gpu"
_SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Break: ast.Continue, ast.Continue: ast.Break,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """The change number `change` of those that a file offers."""

    path: Path
    line: int
    change: int

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}: {self.path.read_text().splitlines()[self.line - 1].strip()}"

    def code(self) -> types.CodeType:
        """The compiled module with the change."""
        tree = ast.parse(self.path.read_text())
        _change(list(_offers(tree))[self.change])
        return compile(ast.fix_missing_locations(tree), str(self.path), "exec", dont_inherit=True)


def _offers(tree: ast.Module) -> Iterator[ast.AST]:
    """The nodes inside functions that can be changed, in a fixed order."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for statement in function.body:
                yield from (node for node in ast.walk(statement) if _is_offer(node))


def _is_offer(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return type(node.value) in (bool, int)
    if isinstance(node, ast.Compare):
        return type(node.ops[0]) in _SWAPPED
    if isinstance(node, ast.BoolOp | ast.BinOp):
        return type(node.op) in _SWAPPED
    return isinstance(node, ast.If | ast.IfExp | ast.Break | ast.Continue) or (
        isinstance(node, ast.Return) and node.value is not None
    )


def _change(node: ast.AST) -> None:
    if isinstance(node, ast.Constant):
        node.value = not node.value if isinstance(node.value, bool) else node.value + 1  # type: ignore[operator]
    elif isinstance(node, ast.Compare):
        node.ops[0] = _SWAPPED[type(node.ops[0])]()  # type: ignore[call-overload]
    elif isinstance(node, ast.BoolOp | ast.BinOp):
        node.op = _SWAPPED[type(node.op)]()  # type: ignore[assignment]
    elif isinstance(node, ast.If | ast.IfExp):
        node.test = ast.UnaryOp(ast.Not(), copy.copy(node.test))
    elif isinstance(node, ast.Return):
        node.value = ast.Constant(None)
    else:
        node.__class__ = _SWAPPED[type(node)]


def sample(lines: int, seed: int, under: str = "") -> list[Mutant]:
    """As many lines of the application, or of the files whose paths begin with `under`, each with one of its changes."""
    offered: dict[tuple[Path, int], list[int]] = {}
    for path in sorted([*(ROOT / "apps").rglob("*.py"), *(ROOT / "workers").rglob("*.py")]):
        if "migrations" not in path.parts and str(path.relative_to(ROOT)).startswith(under):
            for number, node in enumerate(_offers(ast.parse(path.read_text()))):
                offered.setdefault((path, node.lineno), []).append(number)  # type: ignore[attr-defined]
    rng = random.Random(seed)
    chosen = rng.sample(sorted(offered), min(lines, len(offered)))
    return [Mutant(path, line, rng.choice(offered[path, line])) for path, line in chosen]


def imports() -> dict[Path, set[Path]]:
    """By file of the repository, the files that import it."""
    files = [path for folder in ("apps", "workers", "tests") for path in (ROOT / folder).rglob("*.py")]
    names = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in files}
    found: dict[Path, set[Path]] = {}
    for path in files:
        for node in ast.walk(ast.parse(path.read_text())):
            asked: list[str] = []
            if isinstance(node, ast.Import):
                asked = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                asked = [name for alias in node.names if (name := f"{node.module}.{alias.name}") in names] or [node.module]
            for name in asked:
                if name in names:
                    found.setdefault(names[name], set()).add(path)
    return found


def nearest(path: Path, importers: dict[Path, set[Path]]) -> list[Path]:
    """The nearest test files; of equal distance, those in the folder of the same name first."""
    mirror = ROOT / "tests" / path.parent.relative_to(ROOT / path.relative_to(ROOT).parts[0])
    away, waiting = {path: 0}, deque([path])
    while waiting:
        for importer in sorted(importers.get(here := waiting.popleft(), ())):
            if importer not in away:
                away[importer] = away[here] + 1
                waiting.append(importer)
    tests = [file for file in away if file.name.startswith("test_")]
    return sorted(tests, key=lambda file: (away[file], not file.is_relative_to(mirror), file))[:FILES]


class Trials:
    """A plugin of pytest that runs the collected tests once for each mutant, in a child."""

    def __init__(self, near: dict[Mutant, list[Path]]) -> None:
        self.near = near
        self.survived: list[Mutant] = []
        self._sound: dict[str, bool] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        with_database = [item for item in session.items if item.get_closest_marker("django_db")]
        if with_database:
            runtestprotocol(with_database[0], log=False, nextitem=session.items[-1])  # Makes the database.
            connections.close_all()  # A child must not share a connection, nor wait for a lock of this process.
        for number, (mutant, files) in enumerate(self.near.items(), 1):
            items = [item for file in files for item in session.items if item.path == file]
            began = time.monotonic()
            noticed = self._noticed(mutant, items)
            self.survived += [] if noticed else [mutant]
            say(f"{number}/{len(self.near)} {time.monotonic() - began:4.0f} s {noticed or 'SURVIVED'} — {mutant}")
        return True

    def _noticed(self, mutant: Mutant, items: list[pytest.Item]) -> str:
        """The first test that fails with the mutant and passes without; empty if there is none, or no test is near."""
        while items and (failed := _failing(items, mutant)):
            itself = [item for item in items if item.nodeid == failed]
            if not itself:  # A time-out: noticed, unless the tests take as long without the mutant.
                return failed if _failing(items, None) != failed else ""
            if failed not in self._sound:
                self._sound[failed] = not _failing(itself, None)
            if self._sound[failed]:
                return failed
            items = [item for item in items if item.nodeid != failed]
        return ""


def _failing(items: list[pytest.Item], mutant: Mutant | None) -> str:
    """The first of the tests that fails in a child, or `a time-out`."""
    read, write = os.pipe()
    if not (child := os.fork()):
        os.setsid()
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        _run(items, mutant, write)
        os._exit(0)
    os.close(write)
    signal.signal(signal.SIGALRM, lambda *_: _end(child))
    signal.alarm(LIMIT_S)
    status = os.waitpid(child, 0)[1]
    signal.alarm(0)
    _end(child)  # What the tests started.
    with os.fdopen(read) as pipe:
        return pipe.read() or ("" if status == 0 else "a time-out or a lost process")


def _run(items: list[pytest.Item], mutant: Mutant | None, write: int) -> None:
    try:
        if mutant is not None:
            replace(mutant)
        # The last one also has a successor, so that what all tests share, such as the database, is left to the parent.
        another = next((item for item in items[-1].session.items if item.path != items[-1].path), items[0])
        for item, following in zip(items, [*items[1:], another], strict=True):
            if any(report.failed for report in runtestprotocol(item, log=False, nextitem=following)):
                os.write(write, item.nodeid.encode())
                return
    except BaseException as error:  # Also of pytest's own: the child must not return into the loop of its parent.
        os.write(write, repr(error).encode()[:200])


def _end(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def replace(mutant: Mutant) -> None:
    """Give every function of the module that exists in this process its code with the change."""
    found: dict[tuple[str, int], types.CodeType] = {}
    waiting = [mutant.code()]
    while waiting:
        code = waiting.pop()
        found[code.co_qualname, code.co_firstlineno] = code
        waiting += [const for const in code.co_consts if isinstance(const, types.CodeType)]
    for function in gc.get_objects():
        if type(function) is types.FunctionType and function.__code__.co_filename == str(mutant.path):
            new = found.get((function.__code__.co_qualname, function.__code__.co_firstlineno))
            if new is not None and new.co_freevars == function.__code__.co_freevars:
                function.__code__ = new


def interval(killed: int, of: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's interval of a share at 95 %."""
    share, square = killed / of, z * z / of
    middle, half = share + square / 2, z * math.sqrt(share * (1 - share) / of + square / (4 * of))
    return (middle - half) / (1 + square), (middle + half) / (1 + square)


def say(line: str) -> None:
    sys.__stdout__.write(line + "\n")  # type: ignore[union-attr]
    sys.__stdout__.flush()  # type: ignore[union-attr]


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--lines", type=int, default=300)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--under", default="", help="only files whose paths begin so, for example apps/marks")
    given = asked.parse_args()
    importers = imports()
    near = {mutant: nearest(mutant.path, importers) for mutant in sample(given.lines, given.seed, given.under)}
    trials = Trials(near)
    files = sorted({str(file) for some in near.values() for file in some})
    options = ["-n", "0", "-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:rerunfailures", "--capture", "sys"]
    pytest.main([*options, "-m", WITHOUT, *files], plugins=[trials])
    killed = len(near) - len(trials.survived)
    low, high = interval(killed, len(near))
    say("\n".join(["", "Survived:", *map(str, trials.survived)]))
    say(f"{killed} of {len(near)} killed: {killed / len(near):.0%} (95 % interval {low:.0%} to {high:.0%}), seed {given.seed}")


if __name__ == "__main__":
    main()
