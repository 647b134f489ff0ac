"""Tables that name tests name tests that exist."""

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
TABLES = sorted(TESTS.rglob("README.md"))
_NAMED = re.compile(r"`([\w/]+\.py)::(\w+)`")


@pytest.mark.parametrize("table", TABLES, ids=lambda path: str(path.relative_to(TESTS)))
def test_every_test_that_is_named_is_there(table: Path) -> None:
    named = _NAMED.findall(table.read_text(encoding="utf-8"))
    assert [f"{file}::{name}" for file, name in named if name not in _tests_of(TESTS / file)] == []


def test_there_is_a_table_and_it_names_many() -> None:
    assert TABLES
    assert sum(len(_NAMED.findall(table.read_text(encoding="utf-8"))) for table in TABLES) > 20


def _tests_of(path: Path) -> set[str]:
    """The names of the test functions of a file, none where there is no such file."""
    if not path.exists():
        return set()
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
