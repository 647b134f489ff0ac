"""Separates a model's reasoning from its answer where both are in one text, between tags such as `<think>` and `</think>`."""

from typing import NamedTuple


class Pieces(NamedTuple):
    """New characters of each channel."""

    text: str
    reasoning: str


class TagSplitter:
    """Splits a streamed text. What follows a closing tag without an opening one is text, as is everything before a tag.

    Some chat templates write the opening tag into the prompt; `opened` starts inside the reasoning. White space right after
    the closing tag is dropped, so that the answer begins with its first word.
    """

    def __init__(self, tags: tuple[str, str], *, opened: bool = False) -> None:
        self._tags = tags
        self._inside = opened
        self._after = False
        self._held = ""

    @property
    def inside(self) -> bool:
        return self._inside

    def push(self, piece: str) -> Pieces:
        seen, self._held = self._held + piece, ""
        text: list[str] = []
        reasoning: list[str] = []
        while seen:
            tag = self._tags[1] if self._inside else self._tags[0]
            place = seen.find(tag)
            if place < 0:
                keep = _open_tail(seen, tag)
                self._held = seen[len(seen) - keep :]
                seen = seen[: len(seen) - keep]
            (reasoning if self._inside else text).append(self._trimmed(seen[:place] if place >= 0 else seen))
            if place < 0:
                break
            self._after = self._inside
            self._inside = not self._inside
            seen = seen[place + len(tag) :]
        return Pieces("".join(text), "".join(reasoning))

    def close(self) -> Pieces:
        """What was held back because it might have become a tag."""
        rest, self._held = self._held, ""
        return Pieces("", rest) if self._inside else Pieces(self._trimmed(rest), "")

    def _trimmed(self, piece: str) -> str:
        if self._inside or not self._after:
            return piece
        piece = piece.lstrip()
        self._after = not piece
        return piece


def _open_tail(seen: str, tag: str) -> int:
    for size in range(min(len(tag) - 1, len(seen)), 0, -1):
        if tag.startswith(seen[len(seen) - size :]):
            return size
    return 0
