"""`pip install ./clients/python` brings a typed package that needs httpx only and nothing of the server."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from django.conf import settings

from tests.library.test_the_wheel import _imports, _pip, _setuptools

FOLDER: Path = settings.BASE_DIR / "clients" / "python"
PACKAGE = FOLDER / "lemmascope_client"


@pytest.mark.skipif(_setuptools() < 80, reason="setuptools 80 or newer builds the wheel: docker/requirements/wheel.txt")
def test_the_package_is_installed_from_its_folder(tmp_path: Path) -> None:
    source = shutil.copytree(FOLDER, tmp_path / "source", ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
    site = tmp_path / "site"
    _pip("install", "--no-deps", "--no-build-isolation", "--no-index", "--target", str(site), str(source))
    assert (site / "lemmascope_client" / "py.typed").exists()
    program = f"import sys; sys.path.insert(0, {str(site)!r}); import lemmascope_client as one; print(one.__file__, one.Client)"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.startswith(str(site)), done.stderr


def test_the_package_imports_httpx_and_optionally_pandas() -> None:
    imported = {name for path in PACKAGE.glob("*.py") for name in _imports(ast.parse(path.read_text()))}
    project = tomllib.loads((FOLDER / "pyproject.toml").read_text())["project"]
    needed, extra = project["dependencies"], project["optional-dependencies"]["frames"]
    named = {re.split(r"[<>=]", one)[0] for one in (*needed, *extra)}
    assert imported - set(sys.stdlib_module_names) - {"lemmascope_client"} == named == {"httpx", "pandas"}
    top = [node for path in PACKAGE.glob("*.py") for node in ast.parse(path.read_text()).body if isinstance(node, ast.Import)]
    assert "pandas" not in {one.name for node in top for one in node.names}, "pandas is imported where it is needed"


def test_every_public_function_of_the_package_has_a_docstring() -> None:
    kinds = (ast.FunctionDef, ast.ClassDef)
    nodes = [node for path in PACKAGE.glob("*.py") for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, kinds)]
    assert [node.name for node in nodes if not node.name.startswith("_") and not ast.get_docstring(node)] == []
