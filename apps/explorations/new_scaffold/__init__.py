"""Writes the files of a new scaffold from the templates in this folder (docs/scaffolds.md)."""

import keyword
import re
from dataclasses import dataclass
from pathlib import Path

from apps.reasoning.programs.registry import PROGRAMS

TEMPLATES = Path(__file__).parent
REGISTRY = Path("apps/reasoning/scaffolds/registry.py")
DOCUMENT = Path("docs/scaffolds.md")
_NAME = re.compile(r"[a-z][a-z0-9_]{2,39}")
_IMPORTS = re.compile(r"(from apps\.reasoning\.scaffolds import \(\n)((?:    \w+,\n)+)")
_TABLE = re.compile(r"(UNGRADED: [^{]*\{\n    scaffold\.name: scaffold\n    for scaffold in \(\n)((?:        [\w.]+,\n)+)")
_ROW = re.compile(r"(?m)^(\| `\w+` \|.*\n)(?=\n)")


class NameRefused(ValueError):
    """The name is not valid for a new scaffold; the message gives the reason and what to do."""


@dataclass(frozen=True)
class Written:
    """The new files and the changed tables, relative to the root of the repository."""

    files: tuple[Path, ...]
    tables: tuple[Path, ...]


def new_scaffold(root: Path, name: str, title: str = "") -> Written:
    """Write the module, its prompt, its test and the registry's lines. Raises `NameRefused` before writing."""
    files = {
        Path(f"apps/reasoning/scaffolds/{name}.py"): "module.py.txt",
        Path(f"apps/reasoning/prompts/{name}/solver.md"): "solver.md",
        Path(f"tests/reasoning/plays/test_{name}.py"): "test.py.txt",
    }
    _require_name(name)
    for path in (*files, Path(f"apps/reasoning/scaffolds/{name}"), Path(f"apps/reasoning/prompts/{name}")):
        if (root / path).exists():
            raise NameRefused(f"{path} exists already, and nothing was written. Choose another name, or remove it first.")
    title = title.strip() or name.replace("_", " ").capitalize()
    if '"' in title or "\\" in title or "|" in title or len(title) > 60 or not title.isprintable():
        raise NameRefused("A title is one line of at most 60 characters, without quotes, backslashes and vertical bars.")
    tables = {
        REGISTRY: _registered((root / REGISTRY).read_text(encoding="utf-8"), name),
        DOCUMENT: _documented((root / DOCUMENT).read_text(encoding="utf-8"), name),
    }
    texts = {path: (TEMPLATES / template).read_text(encoding="utf-8") for path, template in files.items()}
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text.replace("@NAME@", name).replace("@TITLE@", title), encoding="utf-8")
    for path, text in tables.items():
        (root / path).write_text(text, encoding="utf-8")
    return Written(tuple(files), tuple(tables))


def _require_name(name: str) -> None:
    if not _NAME.fullmatch(name) or keyword.iskeyword(name):
        raise NameRefused(
            f"{name!r} cannot name a scaffold. Use 3 to 40 lower-case letters, digits and underscores, with a letter first, "
            f"such as two_drafts."
        )
    if name in PROGRAMS:
        raise NameRefused(f"{name} is already the name of {PROGRAMS[name].title}. Choose another name.")


def _registered(text: str, name: str) -> str:
    """The registry with the sorted import and the new last entry."""
    imports, table = _IMPORTS.search(text), _TABLE.search(text)
    if imports is None or table is None:
        raise NameRefused(
            f"Nothing was written: this command does not recognise the form of {REGISTRY}. Add the lines by hand."
        )
    names = sorted([*imports[2].splitlines(keepends=True), f"    {name},\n"])
    text = text.replace(imports[0], imports[1] + "".join(names))
    return text.replace(table[0], f"{table[0]}        {name}.SCAFFOLD,\n")


def _documented(text: str, name: str) -> str:
    """The table of scaffolds with a new row to complete."""
    row = f"| `{name}` | attempts one after the other | the first solution that could be read, not judged | our own |\n"
    return _ROW.sub(lambda last: last[1] + row, text, count=1)
