"""Links in the documents lead somewhere, and no document is long."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 250
GENERATED = ROOT / "docs/benchmarks.md"
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_relative_link_leads_to_a_file(document: Path) -> None:
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", document.read_text())
    assert [link for link in links if not (document.parent / link).exists()] == []


def test_no_document_is_long() -> None:
    long = {path.name: lines for path in DOCUMENTS if (lines := len(path.read_text().splitlines())) > LONGEST}
    assert [name for name in long if name != GENERATED.name] == []
