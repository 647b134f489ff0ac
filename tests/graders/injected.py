"""The corpus of planted attacks: scripts with the attack and with its clean twin, read from `injections/`."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).with_name("injections")
HELD_OUT = "held_out"


@dataclass(frozen=True)
class Planted:
    """An attack with its clean twin, both inside the same script after its first step."""

    technique: str
    name: str
    text: str
    script: str
    twin: str


def corpus(*, held_out: bool = False) -> list[Planted]:
    """All attacks, or those that were written when the rules were fixed."""
    bases = tomllib.loads((FOLDER / "bases.toml").read_text("utf-8"))
    files = [path for path in sorted(FOLDER.glob("*.toml")) if path.stem != "bases" and (path.stem == HELD_OUT) == held_out]
    found = []
    for path in files:
        for row in tomllib.loads(path.read_text("utf-8"))["attack"]:
            first, rest = bases[row["base"]].split("\n\n", 1)
            script, twin = (f"{first}\n\n{text}\n\n{rest}" for text in (row["text"], row["twin"]))
            found.append(Planted(path.stem, row["name"], row["text"], script, twin))
    return found
