"""The layout: imports point downwards without cycles, folders stay small, and every package says what it holds."""

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import networkx as nx
from django.conf import settings

ROOT = Path(__file__).resolve().parents[2]
#: Modules of a folder, without `__init__`. A folder with more has packages inside it.
MODULES_AT_MOST = 20
DOORS = {"services", "selectors", "access", "models"}
#: Apps with models or pages. The others are libraries, whose modules are all for use.
APPS = {one.removeprefix("apps.") for one in settings.INSTALLED_APPS if one.startswith("apps.")} - {"config", "ui"}


@cache
def modules() -> dict[str, Path]:
    """Modules of the application and the workers by dotted name, without migrations."""
    paths = [path for folder in ("apps", "workers") for path in (ROOT / folder).rglob("*.py")]
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in paths
        if "migrations" not in path.parts
    }


def imports(name: str) -> Iterator[str]:
    """The modules of ours that a module imports when it runs, also inside functions."""
    tree = ast.parse(modules()[name].read_text())
    typed = {
        id(child)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for child in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and id(node) not in typed:
            source = whole_name(name, node)
            found = (f"{source}.{one.name}" for one in node.names)
            yield from (one if one in modules() else source for one in found)
        elif isinstance(node, ast.Import):
            yield from (one.name for one in node.names)


def whole_name(name: str, node: ast.ImportFrom) -> str:
    """What an import in the module `name` imports from, also of a relative one."""
    package = name if modules()[name].name == "__init__.py" else name.rpartition(".")[0]
    above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
    return ".".join([*above, *([node.module] if node.module else [])])


def test_imports_point_downwards() -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = nx.DiGraph((name, other) for name in modules() for other in imports(name) if other in modules() and other != name)
    assert [sorted(found) for found in nx.strongly_connected_components(graph) if len(found) > 1] == []


def test_no_folder_has_more_than_twenty_modules() -> None:
    paths = [*modules().values(), *(ROOT / "benchmarks").rglob("*.py")]
    sizes = Counter(path.parent.relative_to(ROOT) for path in paths if path.name != "__init__.py")
    assert {str(folder): size for folder, size in sizes.items() if size > MODULES_AT_MOST} == {}


def test_every_package_says_what_it_holds() -> None:
    packages = {name: path for name, path in modules().items() if path.name == "__init__.py"}
    without = [
        name
        for name, path in packages.items()
        if not {"management", "templatetags"} & set(path.parts) and not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert without == []
    bare = {path.parent for path in modules().values() if not (path.parent / "__init__.py").exists()}
    assert bare == set(), "folders with modules and no sign"
    # The sign of an app also says what one looks for there in vain, and the packages that it names exist.
    for name in [one for one in packages if re.fullmatch(r"apps\.\w+", one)]:
        sign = ast.get_docstring(ast.parse(packages[name].read_text())) or ""
        assert "Not here:" in sign, name
        assert len(sign.partition("Not here:")[0].split()) >= 4, name
        assert {found for found in re.findall(r"`((?:apps|workers)\.[\w.]+)`", sign) if found not in modules()} == set(), name


def test_other_apps_enter_by_the_doors() -> None:
    """Services, selectors, access and models, and the modules that the sign of an app lists after "Doors:"."""
    past = [
        f"{name} -> {other}"
        for name in modules()
        for other in imports(name)
        if (door := re.match(r"apps\.(\w+)\.(.+)", other)) and door[1] in APPS and enters(name, door[1])
        if door[2].split(".")[0] not in DOORS and door[2] not in doors_of(door[1])
    ]
    assert past == []
    used = {other for name in modules() for other in imports(name)}
    listed = {app: [one for one in doors_of(app) if f"apps.{app}.{one}" not in used] for app in APPS}
    assert {app: unused for app, unused in listed.items() if unused} == {}


def enters(name: str, app: str) -> bool:
    """Whether a module lies outside an app. `apps.config` wires all apps and the workers run their parts, so both may enter."""
    return name.split(".")[0] == "apps" and name.split(".")[1] not in (app, "config")


@cache
def doors_of(app: str) -> frozenset[str]:
    """The doors that an app lists in its sign."""
    sign = ast.get_docstring(ast.parse(modules()[f"apps.{app}"].read_text())) or ""
    return frozenset(re.findall(r"`([\w.]+)`", sign.partition("Doors:")[2]))


def test_the_rings_of_the_linter_name_every_app_and_are_those_of_the_documents() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(one for one in contracts if one["name"] == "Imports point downwards")["layers"]
    rings = "\n".join(("> " if number else "") + layer for number, layer in enumerate(layers))
    assert rings in (ROOT / "CONTRIBUTING.md").read_text()
    ours = {name for name in settings.INSTALLED_APPS if name.startswith("apps.")}
    named = set(" | ".join(layers).split(" | "))
    assert ours <= named
    assert named - {"workers"} == {f"apps.{path.parent.name}" for path in (ROOT / "apps").glob("*/__init__.py")}
    readme = (ROOT / "README.md").read_text()
    assert [name for name in sorted(named - {"workers"}) if f"{name.replace('.', '/')}/" not in readme] == []
