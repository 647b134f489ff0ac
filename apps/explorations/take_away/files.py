"""The files of a run by their names in addresses."""

from collections.abc import Callable
from dataclasses import dataclass

from apps.explorations.take_away.article import article
from apps.explorations.take_away.blueprint import blueprint
from apps.explorations.take_away.written import WrittenProof


@dataclass(frozen=True)
class ProofFile:
    """A file of the selected proof: content type, ending of its name, writer."""

    content_type: str
    ending: str
    write: Callable[[WrittenProof], str | bytes]


PROOF_FILES = {
    "latex": ProofFile("application/x-tex; charset=utf-8", "tex", article),
    "blueprint": ProofFile("application/zip", "zip", blueprint),
}
"""By name. The PDF has a writer of its own (`apps.ui.typeset.press`)."""
PDF, SPANS = "pdf", "spans"
