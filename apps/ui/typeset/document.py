"""A document for the press: parts with steps, remarks, prose and pictures, as `document.typ` reads them."""

from dataclasses import dataclass, field
from typing import Any

from apps.ui.typeset.prose import prose_nodes

Block = dict[str, Any]


@dataclass
class Part:
    """A section: its heading, lines of facts in a fixed-width type, and blocks, whose `prose` is as it was written."""

    heading: str
    facts: list[str] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)

    def step(self, number: int, text: str) -> None:
        """A numbered step of a text."""
        self.blocks.append({"kind": "step", "number": str(number), "prose": text})

    def remark(self, title: str, text: str) -> None:
        """What is said about the text before it; either may be empty."""
        self.blocks.append({"kind": "remark", "title": title, "prose": text})

    def prose(self, text: str) -> None:
        """A text of its own."""
        self.blocks.append({"kind": "prose", "prose": text})


@dataclass
class Document:
    """What goes to the press. `note` stands at the end, in small; `pictures` are JPEG files by the names of their blocks."""

    title: str
    subtitle: str
    note: str = ""
    parts: list[Part] = field(default_factory=list)
    pictures: dict[str, bytes] = field(default_factory=dict)

    def part(self, heading: str, *facts: str) -> Part:
        """A new part at the end; empty facts are left out."""
        self.parts.append(Part(heading, [fact for fact in facts if fact]))
        return self.parts[-1]

    def picture(self, part: Part, jpeg: bytes) -> None:
        """A picture at the end of a part."""
        name = f"picture-{len(self.pictures)}.jpg"
        self.pictures[name] = jpeg
        part.blocks.append({"kind": "picture", "file": name})

    @property
    def letters(self) -> int:
        """How much was written in it: less than its JSON has, and known without reading any of it."""
        return sum(len(block.get("prose", "")) for part in self.parts for block in part.blocks)

    @property
    def value(self) -> dict[str, Any]:
        """As JSON."""
        parts = [{"heading": part.heading, "facts": part.facts, "blocks": [*map(_read, part.blocks)]} for part in self.parts]
        return {"title": self.title, "subtitle": self.subtitle, "note": self.note, "unset": 0, "parts": parts}


def _read(block: Block) -> Block:
    return block | {"prose": prose_nodes(block["prose"])} if "prose" in block else block
