"""Prints the documentation of this interpreter's libraries, one JSON object a line.

The interpreter of the sandbox's environment runs it, so it imports nothing of ours. Arguments: the names of libraries.
"""

import importlib
import inspect
import json
import pkgutil
import sys
import types
import warnings
from collections.abc import Iterator
from typing import IO

_INTERNAL = {"tests", "testing", "conftest", "benchmarks", "f2py", "distutils", "core", "deprecated", "typing", "compat"}
_SHORTEST = 15
_SHORTEST_OF_A_METHOD = 150
_LONGEST_SIGNATURE = 200


def main(libraries: list[str]) -> None:
    """Import every public module and print its definitions. Skip modules that cannot be imported."""
    warnings.simplefilter("ignore")
    ours, sys.stdout = sys.stdout, sys.stderr  # Some modules print when they are imported.
    seen: dict[int, str] = {}
    found: dict[str, tuple[str, object]] = {}
    for library in libraries:
        for module in _modules(library):
            for name, thing in _public(module):
                dotted = f"{module.__name__}.{name}"
                known = seen.get(id(thing))
                if known is None or len(dotted) < len(known):
                    if known is not None:
                        found.pop(known, None)
                    seen[id(thing)] = dotted
                    found[dotted] = (library, thing)
    for dotted, (library, thing) in sorted(found.items()):
        _print(ours, library, dotted, thing, _SHORTEST)
        if inspect.isclass(thing):
            for name, method in sorted(vars(thing).items()):
                if not name.startswith("_") and callable(method):
                    _print(ours, library, f"{dotted}.{name}", method, _SHORTEST_OF_A_METHOD)


def _modules(library: str) -> Iterator[types.ModuleType]:
    try:
        root = importlib.import_module(library)
    except ImportError:
        return
    yield root
    for info in pkgutil.walk_packages(getattr(root, "__path__", []), f"{library}.", onerror=lambda _: None):
        parts = info.name.split(".")
        if _INTERNAL & set(parts) or any(part.startswith("_") for part in parts):
            continue
        try:
            yield importlib.import_module(info.name)
        except BaseException:  # noqa: S112 - a module that cannot be imported here has no documentation here
            continue


def _public(module: types.ModuleType) -> Iterator[tuple[str, object]]:
    library = module.__name__.partition(".")[0]
    for name in getattr(module, "__all__", None) or dir(module):
        thing = getattr(module, name, None)
        if not isinstance(name, str) or name.startswith("_") or inspect.ismodule(thing) or not callable(thing):
            continue
        owner = getattr(thing, "__module__", None) or library
        if owner.partition(".")[0] == library or library == "numpy":
            yield name, thing


def _print(to: IO[str], library: str, name: str, thing: object, shortest: int) -> None:
    text = inspect.getdoc(thing) or ""
    if len(text) < shortest:
        return
    try:
        signature = str(inspect.signature(thing))[:_LONGEST_SIGNATURE]  # type: ignore[arg-type]
    except (TypeError, ValueError):
        signature = ""
    to.write(json.dumps({"library": library, "name": name, "signature": signature, "text": text}) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
