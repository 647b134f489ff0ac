"""A document for `press`: parts with steps, remarks, prose and pictures, in the format of `document.typ`."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from apps.ui.typeset.prose import prose_nodes

Block = dict[str, Any]


@dataclass
class Part:
    """A section: heading, lines of facts in monospace, and blocks, whose `prose` is the original text."""

    heading: str
    facts: list[str] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)

    def step(self, number: int, text: str) -> None:
        """Add a numbered step of a text."""
        self.blocks.append({"kind": "step", "number": str(number), "prose": text})

    def remark(self, title: str, text: str) -> None:
        """Add a remark about an error in the preceding text; title or text may be empty."""
        self.blocks.append({"kind": "remark", "title": title, "prose": text, "is_error": True})

    def comment(self, title: str, text: str) -> None:
        """Add a remark on the preceding text that is about no error; title or text may be empty."""
        self.blocks.append({"kind": "remark", "title": title, "prose": text, "is_error": False})

    def prose(self, text: str) -> None:
        """Add a separate text."""
        self.blocks.append({"kind": "prose", "prose": text})


@dataclass(frozen=True)
class Pin:
    """A numbered place on a picture, in its pixels: the upper left corner of a rectangle, which may be empty.

    `is_error`: of a remark about an error. It has another colour.
    """

    number: int
    x: int
    y: int
    w: int
    h: int
    is_error: bool


@dataclass
class Document:
    """A document for `press`. `note`: small print at the end; `pictures`: JPEG files by file name of their block."""

    title: str
    subtitle: str
    note: str = ""
    parts: list[Part] = field(default_factory=list)
    pictures: dict[str, bytes] = field(default_factory=dict)

    def part(self, heading: str, *facts: str) -> Part:
        """Append a part and return it; empty facts are left out."""
        self.parts.append(Part(heading, [fact for fact in facts if fact]))
        return self.parts[-1]

    def picture(self, part: Part, jpeg: bytes, *, size: tuple[int, int] = (1, 1), pins: Sequence[Pin] = ()) -> None:
        """Append a picture to a part. `pins`: numbered places on it, in pixels of its `size`."""
        name = f"picture-{len(self.pictures)}.jpg"
        self.pictures[name] = jpeg
        drawn = [asdict(pin) for pin in pins]
        part.blocks.append({"kind": "picture", "file": name, "width": size[0], "height": size[1], "pins": drawn})

    @property
    def letters(self) -> int:
        """Number of characters in it: a lower bound of its JSON's size that needs no parsing."""
        return sum(len(block.get("prose", "")) for part in self.parts for block in part.blocks)

    @property
    def value(self) -> dict[str, Any]:
        """The document as JSON values."""
        parts = [{"heading": part.heading, "facts": part.facts, "blocks": [*map(_read, part.blocks)]} for part in self.parts]
        return {"title": self.title, "subtitle": self.subtitle, "note": self.note, "unset": 0, "parts": parts}


def _read(block: Block) -> Block:
    return block | {"prose": prose_nodes(block["prose"])} if "prose" in block else block
