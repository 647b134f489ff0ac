"""The documents that help shows: the Markdown files of docs/ and of the project's root, each read once per process.

A page is found by its name in a table of the existing files, so no address leads to another file.
"""

import posixpath
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote

from django.conf import settings
from django.templatetags.static import static
from django.urls import reverse

from apps.help.rendering import Page, page_render

_ROOT_FILES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
_IMAGES = "docs/images/"


@lru_cache(maxsize=1)
def sources() -> dict[str, str]:
    """Names of pages with their paths from the project's root. A README has its folder's name; that of docs/ is empty."""
    root: Path = settings.BASE_DIR
    found = {}
    for path in sorted((root / "docs").rglob("*.md")):
        inner = path.relative_to(root / "docs")
        name = inner.parent if inner.stem == "README" else inner.with_suffix("")
        found["" if name == Path() else name.as_posix()] = path.relative_to(root).as_posix()
    return found | {f"project/{Path(name).stem.lower()}": name for name in _ROOT_FILES if (root / name).exists()}


def page_get(name: str) -> Page | None:
    """The page of this name, or None. With DEBUG, a changed file is read again."""
    source = sources().get(name)
    if source is None:
        return None
    return _read(name, (settings.BASE_DIR / source).stat().st_mtime_ns if settings.DEBUG else 0)


def pages() -> list[Page]:
    """All pages."""
    return [page for name in sources() if (page := page_get(name))]


def page_url(name: str, anchor: str = "") -> str:
    """The address of a page or of its section."""
    address = reverse("help:page", args=[name]) if name else reverse("help:contents")
    return f"{address}#{anchor}" if anchor else address


@lru_cache(maxsize=256)
def _read(name: str, _changed: int) -> Page:
    source = sources()[name]
    text = (settings.BASE_DIR / source).read_text(encoding="utf-8")
    return page_render(name, text, lambda link: _address(source, link))


def _address(source: str, link: str) -> str | None:
    """The address of a link in the document at `source`; None for a file that is neither a page nor a picture of docs/."""
    if link.startswith("#") or ":" in link:
        return link
    path, _, anchor = link.partition("#")
    target = posixpath.normpath(posixpath.join(posixpath.dirname(source), unquote(path)))
    if target.startswith(_IMAGES):
        return static(f"help/{target.removeprefix(_IMAGES)}")
    name = next((name for name, path in sources().items() if path == target), None)
    return None if name is None else page_url(name, anchor)
