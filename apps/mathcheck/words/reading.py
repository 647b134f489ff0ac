"""A sentence as one line of words with numbered holes for its statements: `let ⟦0⟧, ⟦1⟧ be real, then ⟦2⟧`."""

import re
from dataclasses import dataclass

from apps.mathcheck.tex.relations import Statement, statements
from apps.mathcheck.words.texts import Formula, Sentence

_HOLE = re.compile(r"⟦\d+⟧")
_MARKUP = re.compile(r"[*_#`>]+")
_RUN = re.compile(r"\s+|\S+")


@dataclass(frozen=True, slots=True)
class Line:
    """A flattened sentence. `flat` is the sentence with holes; statement i, from `formulas[i]`, is at `places[i]`.

    `origins[k]` is the place of `flat[k]` in the text; for a hole, the place of its statement's formula.
    """

    flat: str
    statements: tuple[Statement, ...]
    formulas: tuple[Formula, ...]
    places: tuple[int, ...]
    origins: tuple[int, ...]

    def before(self, index: int) -> str:
        """The words before a statement, other statements as ⟦⟧."""
        return _HOLE.sub("⟦⟧", self.flat[: self.places[index]])

    def after(self, index: int) -> str:
        """The words after a statement, other statements as ⟦⟧."""
        return _HOLE.sub("⟦⟧", self.flat[self.places[index] + len(f"⟦{index}⟧") :])

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The place of `flat[start:end]` in the text, with whole formulas."""
        ends = [formula.end for formula, place in zip(self.formulas, self.places, strict=True) if start <= place < end]
        return self.origins[start], max([self.origins[end - 1] + 1, *ends])

    @property
    def words(self) -> str:
        """The words alone."""
        return _HOLE.sub(" ", self.flat)


class _Builder:
    """Collects the flat sentence and the origins of its characters."""

    def __init__(self) -> None:
        self.flat: list[str] = []
        self.origins: list[int] = []

    def add(self, words: str, origin: int) -> None:
        """Add words from one place."""
        self.flat += words
        self.origins += [origin] * len(words)

    def copy(self, words: str, origin: int) -> None:
        """Copy the words written from `origin` on. Runs of spaces become one, because patterns try every space of a run."""
        for piece in _RUN.finditer(words):
            length = 1 if piece[0].isspace() else len(piece[0])
            self.flat += piece[0][:length]
            self.origins += range(origin + piece.start(), origin + piece.start() + length)


def read_line(text: str, sentence: Sentence) -> Line:
    """The sentence flattened. Words inside formulas (`\\text{if }`) become words of the sentence."""
    built, found, where, places = _Builder(), list[Statement](), list[Formula](), list[int]()
    position = sentence.start
    for formula in sentence.formulas:
        built.copy(_plain(text[position : formula.start]), position)
        for statement in statements(formula.tex):
            if statement.words:
                built.add(f" {statement.words.replace('$', ' ')} ", formula.start)
            elif statement.separator in ("comma", "break", "space"):
                built.add(", ", formula.start)
            if statement.empty:
                continue
            places.append(len(built.flat))
            built.add(f"⟦{len(found)}⟧", formula.start)
            found.append(statement)
            where.append(formula)
        position = formula.end
    built.copy(_plain(text[position : sentence.end]), position)
    return Line("".join(built.flat), tuple(found), tuple(where), tuple(places), tuple(built.origins))


def _plain(words: str) -> str:
    """The words with Markdown marks and line breaks as spaces, of the same length."""
    return _MARKUP.sub(lambda mark: " " * len(mark[0]), words).replace("\n", " ")
