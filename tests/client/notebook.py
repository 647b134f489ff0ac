"""Execute the code cells of a notebook in one namespace, as a kernel would, without Jupyter's thirty packages."""

import ast
import contextlib
import io
import json
from pathlib import Path
from typing import Any, NamedTuple


class Executed(NamedTuple):
    """A code cell: what it printed, the value of its last expression (None without one), and that value as it was shown."""

    printed: str
    value: Any
    shown: dict[str, list[str]]


def notebook_execute(path: Path, namespace: dict[str, Any]) -> list[Executed]:
    """Execute all code cells in order. An exception of a cell is raised."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [_executed("".join(cell["source"]), namespace) for cell in cells if cell["cell_type"] == "code"]


def _executed(source: str, namespace: dict[str, Any]) -> Executed:
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    out, value = io.StringIO(), None
    with contextlib.redirect_stdout(out):
        exec(compile(tree, "cell", "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), namespace)
    return Executed(out.getvalue(), value, _shown(value))


def _shown(value: Any) -> dict[str, list[str]]:
    """A value by media type, as a notebook stores it; empty for None."""
    if value is None:
        return {}
    text = {"text/plain": repr(value).splitlines(keepends=True)}
    return text | ({"text/html": value.to_html(border=0).splitlines(keepends=True)} if hasattr(value, "to_html") else {})


def notebook_write(path: Path, executed: list[Executed]) -> None:
    """Store what the cells printed and gave in the notebook."""
    content = json.loads(path.read_text(encoding="utf-8"))
    cells = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    for number, (cell, one) in enumerate(zip(cells, executed, strict=True), 1):
        cell["execution_count"], cell["outputs"] = number, []
        if one.printed:
            text = one.printed.splitlines(keepends=True)
            cell["outputs"].append({"output_type": "stream", "name": "stdout", "text": text})
        if one.shown:
            result = {"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": one.shown}
            cell["outputs"].append(result)
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
