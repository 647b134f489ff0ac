"""Write-ups of real imported graphs and logs: every formula is typeset, and PDFs are made."""

from pathlib import Path
from typing import Any

import pytest

from apps.explorations.importing.batches import batches
from apps.explorations.importing.imported_run import LogFile
from apps.explorations.importing.recording import batch_import
from apps.explorations.take_away.article import document
from apps.explorations.take_away.written import WrittenProof, written_proof
from apps.ui.latex.formulas import formula_latex
from apps.ui.typeset.formulas import formula_tree
from apps.ui.typeset.press import pdf_made
from apps.ui.typeset.prose import prose_nodes
from tests.importing.files import SHARED, needs_shared

pytestmark = pytest.mark.django_db


def written_from(path: Path) -> WrittenProof:
    (batch,), _ = batches([LogFile(path.name, path.read_bytes())])
    written = written_proof(batch_import(batch=batch, user=None).run)
    assert written is not None
    return written


def formulas(value: Any) -> list[tuple[str, bool]]:
    """All formulas below a tree, each with whether it is displayed."""
    if isinstance(value, list):
        return [one for part in value for one in formulas(part)]
    if not isinstance(value, dict):
        return []
    return [(value["tex"], value["display"])] if value["t"] == "math" else formulas(value["c"])


@needs_shared("lemma-graphs")
@pytest.mark.parametrize("name", ["aime_2025_20", "brumo_2025_5", "cmimc_2025_18", "hmmt_feb_2025_3", "imosl_2025_6"])
def test_every_formula_of_a_real_graph_is_typeset_in_both_files(name: str) -> None:
    written = written_from(SHARED / "lemma-graphs" / f"{name}.json")
    texts = [written.statement, *written.steps, *(one.statement for one in written.lemmas)]
    found = [one for text in texts for one in formulas(prose_nodes(text))]
    assert len(found) > 20
    assert not [tex for tex, display in found if formula_latex(tex, display=display) is None]
    assert not [tex for tex, _ in found if formula_tree(tex) is None]
    assert pdf_made(document(written)).startswith(b"%PDF")
