"""Copy the browser files of the front-end packages from node_modules/ to static/vendor/, without a build step.

`npm ci` downloads the packages and checks them against package-lock.json; neither folder is committed.
"""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

SOURCE_MAP = re.compile(rb"\n?(//# sourceMappingURL=\S+|/\*# sourceMappingURL=[^*]+\*/)\s*$")


class VendorError(Exception):
    """The packages are missing; the message says what to do."""


@dataclass(frozen=True)
class Asset:
    """A file or folder in node_modules and its target in static/vendor."""

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
    Asset("@viz-js/viz/dist/viz.js", "viz/viz.js"),
    Asset("@viz-js/viz/README.md", "viz/README.md"),  # The package has no file LICENSE.
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
# jsdiff ships its ES modules as a folder; pages import a single file.
WRITTEN = {"diff/diff.mjs": b'export * from "./libesm/index.js";\n'}
# Type declarations and source maps are for editors; browsers do not request them.
SKIPPED_ENDINGS = (".d.ts", ".map")
TEXT_ENDINGS = (".js", ".mjs", ".css")


def vendor_copy(packages: Path, target: Path) -> tuple[int, int]:
    """Update `target` from `packages`; return the numbers of written and of unchanged files.

    Raises `VendorError` if a package or one of its files is missing.
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
    """Whether every asset exists in `target`; contents are not compared."""
    return all((target / asset.target).exists() for asset in ASSETS) and all((target / name).exists() for name in WRITTEN)


def vendor_clear(target: Path) -> None:
    """Remove `target`, so that the next copy has no files of an older version."""
    shutil.rmtree(target, ignore_errors=True)


def _files(packages: Path, asset: Asset) -> list[tuple[Path, str]]:
    source = packages / asset.source
    if source.is_file():
        return [(source, asset.target)]
    if not source.is_dir():
        raise VendorError(f"{source} is missing. Run `npm ci` again to install the versions of package-lock.json.")
    return [
        (path, f"{asset.target}/{path.relative_to(source).as_posix()}")
        for path in sorted(source.rglob("*"))
        if path.is_file() and not path.name.endswith(SKIPPED_ENDINGS)
    ]


def _content(source: Path) -> bytes:
    """The file's bytes without a link to its source map, which is not copied but static file storages would look for."""
    content = source.read_bytes()
    return SOURCE_MAP.sub(b"\n", content) if source.name.endswith(TEXT_ENDINGS) else content


def _write(path: Path, content: bytes) -> bool:
    if path.exists() and path.read_bytes() == content:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return True
