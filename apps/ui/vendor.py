"""Copies what the browser needs of the front-end packages from node_modules/ to static/vendor/. Nothing is built.

The packages are fetched by `npm ci`, which checks them against package-lock.json; neither folder is committed.
"""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

SOURCE_MAP = re.compile(rb"\n?(//# sourceMappingURL=\S+|/\*# sourceMappingURL=[^*]+\*/)\s*$")


class VendorError(Exception):
    """The packages are not there; the message says what to do."""


@dataclass(frozen=True)
class Asset:
    """A file or folder inside node_modules and its place inside static/vendor."""

    source: str
    target: str


ASSETS = (
    Asset("htmx.org/dist/htmx.min.js", "htmx/htmx.min.js"),
    Asset("katex/dist/katex.mjs", "katex/katex.mjs"),
    Asset("katex/dist/katex.min.css", "katex/katex.min.css"),
    Asset("katex/dist/fonts", "katex/fonts"),
    Asset("cytoscape/dist/cytoscape.esm.min.mjs", "cytoscape/cytoscape.esm.min.mjs"),
    Asset("diff/libesm", "diff/libesm"),
    Asset("plotly.js-basic-dist-min/plotly-basic.min.js", "plotly/plotly-basic.min.js"),
    Asset("uplot/dist/uPlot.esm.js", "uplot/uPlot.esm.js"),
    Asset("uplot/dist/uPlot.min.css", "uplot/uPlot.min.css"),
)
LICENCES = tuple(
    Asset(f"{package}/LICENSE", f"{folder}/LICENSE")
    for package, folder in (
        ("htmx.org", "htmx"),
        ("katex", "katex"),
        ("cytoscape", "cytoscape"),
        ("diff", "diff"),
        ("plotly.js-basic-dist-min", "plotly"),
        ("uplot", "uplot"),
    )
)
# jsdiff ships its ES modules as a folder; pages import one name.
WRITTEN = {"diff/diff.mjs": b'export * from "./libesm/index.js";\n'}
# Type declarations and maps are for editors; a browser never asks for them.
SKIPPED_ENDINGS = (".d.ts", ".map")
TEXT_ENDINGS = (".js", ".mjs", ".css")


def vendor_copy(packages: Path, target: Path) -> tuple[int, int]:
    """Bring `target` up to date with `packages`; give the numbers of files written and of files kept.

    Raises `VendorError` where a package or a file of it is missing.
    """
    if not packages.is_dir():
        raise VendorError(f"{packages} is missing: the front-end packages are not installed. Run `make setup` first.")
    written = kept = 0
    for asset in (*ASSETS, *LICENCES):
        for source, place in _files(packages, asset):
            if _write(target / place, _content(source)):
                written += 1
            else:
                kept += 1
    for name, content in WRITTEN.items():
        if _write(target / name, content):
            written += 1
        else:
            kept += 1
    return written, kept


def vendor_is_complete(target: Path) -> bool:
    """Whether every named asset lies in `target`; its content is not compared."""
    return all((target / asset.target).exists() for asset in ASSETS) and all((target / name).exists() for name in WRITTEN)


def vendor_clear(target: Path) -> None:
    """Remove `target`, so that the next copy holds nothing of an older version."""
    shutil.rmtree(target, ignore_errors=True)


def _files(packages: Path, asset: Asset) -> list[tuple[Path, str]]:
    source = packages / asset.source
    if source.is_file():
        return [(source, asset.target)]
    if not source.is_dir():
        raise VendorError(f"{source} is missing: run `npm ci` again; package-lock.json says which versions are meant.")
    return [
        (path, f"{asset.target}/{path.relative_to(source).as_posix()}")
        for path in sorted(source.rglob("*"))
        if path.is_file() and not path.name.endswith(SKIPPED_ENDINGS)
    ]


def _content(source: Path) -> bytes:
    """The file's bytes, without a pointer to a source map that is not copied (static file storages would look for it)."""
    content = source.read_bytes()
    return SOURCE_MAP.sub(b"\n", content) if source.name.endswith(TEXT_ENDINGS) else content


def _write(path: Path, content: bytes) -> bool:
    if path.exists() and path.read_bytes() == content:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return True
