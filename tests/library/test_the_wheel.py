"""What `pip install` of a checkout brings: the core with its prompts, under the name `lemmascope`, without Django."""

import ast
import importlib.metadata
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.library.conftest import PROBLEM, SCRIPT, ModelServer

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "apps" / "reasoning"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
FORBIDDEN = ("django", "celery", "channels", "redis", "torch", "vllm", "openvino", "sympy")

_PROGRAM = f"""
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {FORBIDDEN!r}:
            raise ImportError(f"{{name}} is not needed")
sys.meta_path.insert(0, Refuse())
import lemmascope
assert lemmascope.__file__.startswith(sys.argv[1]), lemmascope.__file__
assert len(lemmascope.SCAFFOLDS["intern_s1_mo"].prompts) > 3
result = lemmascope.solve(sys.argv[2], scaffold="self_check", preset="quick", base_url=sys.argv[3], model="fake-model")
points = lemmascope.grade(sys.argv[2], sys.argv[4], base_url=sys.argv[3], model="fake-model").points
print(lemmascope.VERSION, result.accepted, points)
"""


def _copied(into: Path) -> Path:
    """The part of the checkout that the wheel is made of; a build writes next to its sources."""
    for name in ("pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", "apps/__init__.py"):
        (into / name).parent.mkdir(parents=True, exist_ok=True)
        (into / name).write_bytes((ROOT / name).read_bytes())
    for path in CORE.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            copy = into / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    return into


def _pip(*arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def _setuptools() -> int:
    try:
        return int(importlib.metadata.version("setuptools").split(".")[0])
    except importlib.metadata.PackageNotFoundError:
        return 0


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder with the wheel of this checkout, built and unpacked without the network."""
    if _setuptools() < 80:
        pytest.skip("setuptools 80 or newer builds the wheel: pip install -r docker/requirements/wheel.txt")
    _pip("wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", str(tmp_path), str(_copied(tmp_path / "source")))
    (wheel,) = tmp_path.glob("lemmascope-*.whl")
    _pip("install", "--no-deps", "--no-index", "--target", str(tmp_path / "site"), str(wheel))
    return tmp_path / "site"


def _run(program: str, site: Path, cwd: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    code = f"import sys; sys.path.insert(0, {str(site)!r})\n{program}"
    return subprocess.run([sys.executable, "-c", code, *arguments], cwd=cwd, capture_output=True, text=True, check=False)


def test_the_wheel_solves_and_grades_where_django_cannot_be_imported(
    installed: Path, tmp_path: Path, server: ModelServer
) -> None:
    done = _run(_PROGRAM, installed, tmp_path, str(installed), PROBLEM, server.base_url, SCRIPT)
    version = importlib.metadata.Distribution.at(next(installed.glob("*.dist-info"))).version
    assert done.stdout.split() == [version, "True", "2"], done.stderr
    assert not list(installed.rglob("settings.py"))


def test_the_wheel_has_every_prompt_and_the_marks_of_its_types(installed: Path) -> None:
    for pattern in ("**/*.md", "**/*.toml"):
        assert {str(path.relative_to(CORE)) for path in CORE.glob(pattern)} == {
            str(path.relative_to(installed / "apps/reasoning")) for path in (installed / "apps/reasoning").glob(pattern)
        }
    assert (installed / "lemmascope/py.typed").exists()
    assert (installed / "apps/reasoning/py.typed").exists()


def test_another_package_of_the_same_name_is_reported(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere/apps").mkdir(parents=True)
    (tmp_path / "elsewhere/apps/__init__.py").touch()
    hidden = _run(f"sys.path.insert(0, {str(tmp_path / 'elsewhere')!r})\nimport lemmascope", installed, tmp_path)
    assert "Another package named `apps` hides the one that lemmascope brings" in hidden.stderr


def test_the_list_of_packages_is_that_of_the_folders() -> None:
    """A new package of the core needs a line under `[tool.setuptools]` in pyproject.toml."""
    folders = {path.parent.relative_to(ROOT) for path in CORE.rglob("*.py")} - {Path("apps/reasoning/library")}
    assert set(PYPROJECT["tool"]["setuptools"]["packages"]) == {
        "lemmascope", "apps", *(".".join(folder.parts) for folder in folders)
    }  # fmt: skip


def test_the_dependencies_are_what_the_core_imports() -> None:
    own = {"apps", *sys.stdlib_module_names}
    imported = {name for path in CORE.rglob("*.py") for name in _imports(ast.parse(path.read_text()))} - own
    needed = {re.split(r"[<>=\[]", one)[0] for one in PYPROJECT["project"]["dependencies"]}
    # pydantic_core and typing_extensions come with pydantic.
    assert imported - {"pydantic_core", "typing_extensions"} == needed


def _imports(tree: Any) -> set[str]:
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module and not node.level]
    return {name.split(".")[0] for name in names}
