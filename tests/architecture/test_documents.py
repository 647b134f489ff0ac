"""Links in the documents lead somewhere, and no document is long."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 250
FIRST = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "clients/python/README.md")]
DOCUMENTS = [*FIRST, *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_relative_link_leads_to_a_file(document: Path) -> None:
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", document.read_text())
    assert [link for link in links if not (document.parent / link).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_document_is_long(document: Path) -> None:
    assert len(document.read_text().splitlines()) <= LONGEST
