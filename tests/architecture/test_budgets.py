"""Sizes: the tail of long modules and functions is what people fear in a codebase, so it is bounded."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULE_SOFT, MODULE_HARD = 300, 500
FUNCTION_SOFT, FUNCTION_HARD = 40, 80
CONSUMER, TEMPLATE = 120, 150
#: Modules and functions over the soft limit, with the reason. Nothing may be over the hard one.
LONG_MODULES = {
    "tests/access/rules.py": "who may see which page is one table",
    "tests/inference/test_backend_contract.py": "what every backend promises is one suite",
}
LONG_FUNCTIONS: dict[str, str] = {}


def modules() -> list[Path]:
    return [
        path
        for folder in ("apps", "workers", "benchmarks", "clients", "tests")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if "migrations" not in path.parts
    ]


def functions(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{path.relative_to(ROOT)}::{node.name}", (node.end_lineno or node.lineno) - node.lineno + 1


def test_no_module_is_long_without_a_reason() -> None:
    sizes = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in modules()}
    assert {name: size for name, size in sizes.items() if size > MODULE_HARD} == {}
    over = {name for name, size in sizes.items() if size > MODULE_SOFT}
    assert over == set(LONG_MODULES)


def test_no_function_is_long_without_a_reason() -> None:
    sizes = dict(pair for path in modules() for pair in functions(path))
    assert {name: size for name, size in sizes.items() if size > FUNCTION_HARD} == {}
    over = {name: size for name, size in sizes.items() if size > FUNCTION_SOFT and not name.startswith("tests/")}
    assert set(over) == set(LONG_FUNCTIONS), over


def test_consumers_and_templates_stay_small() -> None:
    consumers = [path for path in modules() if path.name == "consumers.py"]
    assert consumers
    assert {path.name: len(path.read_text().splitlines()) for path in consumers if lines(path) > CONSUMER} == {}
    templates = sorted((ROOT / "templates").rglob("*.html"))
    assert {str(path.relative_to(ROOT)): lines(path) for path in templates if lines(path) > TEMPLATE} == {}


def lines(path: Path) -> int:
    return len(path.read_text().splitlines())


@pytest.mark.parametrize("name", ["utils.py", "helpers.py", "common.py", "misc.py"])
def test_no_module_is_named_for_nothing(name: str) -> None:
    assert [path for path in modules() if path.name == name] == []
