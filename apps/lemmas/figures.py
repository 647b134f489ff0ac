"""Figures of the geometry statements in a lemma or proof: fenced blocks of its text with the word `geometry`."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe

from apps.geometry.showing import Shown, blocks, shown


@dataclass(frozen=True)
class Figure:
    """A statement with its drawing. Without a drawing, `statement` has the error or the reason."""

    statement: Shown
    drawing: SafeString


def figures_of(texts: Iterable[str]) -> list[Figure]:
    """The figures of texts that follow each other; a block may begin in one and end in the next."""
    found = [shown(text, None, f"figure-{number}") for number, text in enumerate(blocks("\n".join(texts)), 1)]
    return [Figure(one, mark_safe(one.drawing)) for one in found]  # noqa: S308  Names in it are letters, digits, _ and '.
