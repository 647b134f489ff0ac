"""Process that creates a PDF. Argument: a folder with `document.json`, `document.typ` and pictures; it adds `out.pdf`.

It limits its resources before it reads anything. Typst opens only files of that folder, and no packages.
"""

import json
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from apps.ui.typeset.formulas import Tree, formula_tree

CPU_S, MEMORY = 30, 4 * 1024**3


def main(folder: Path) -> None:
    """Set the formulas, then the document. Exits with 0, or with an error on stderr."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    import typst

    path = folder / "document.json"
    document = json.loads(path.read_text())
    for setting in (formula_tree, _none):  # On a formula error, try again with sources instead of formulas.
        document["unset"] = formulas_set(document["parts"], setting)
        path.write_text(json.dumps(document))
        try:
            pdf, warnings = typst.compile_with_warnings(str(folder / "document.typ"), root=str(folder))
            (folder / "out.pdf").write_bytes(pdf)
            for warning in warnings:
                print(warning.message, file=sys.stderr)  # noqa: T201  (logged by the parent)
            return
        except typst.TypstError as error:
            print(error, file=sys.stderr)  # noqa: T201  (logged by the parent)
    sys.exit(1)


def formulas_set(value: Any, tree_of: Callable[[str], Tree | None]) -> int:
    """Add its tree to every formula below `value`; return the number of formulas without a tree."""
    if isinstance(value, list):
        return sum(formulas_set(one, tree_of) for one in value)
    if not isinstance(value, dict):
        return 0
    if value.get("t") == "math":
        value["tree"] = tree_of(value["tex"])
        return value["tree"] is None
    return sum(formulas_set(one, tree_of) for one in value.values())


def _none(_tex: str) -> None:
    return None


if __name__ == "__main__":
    main(Path(sys.argv[1]))
