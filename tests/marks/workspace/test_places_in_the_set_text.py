"""The place of a note in the rendered text: exactly its words despite hidden Markdown signs, or nothing."""

import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.node import _run

WORDS = ("Similarly", "for", "y", "we", "find", "Similarly", "for", "z", "𝔽", "é", "n", "odd,", "hence", "n", "1", "👩‍🚀")
FORMULAS = (r"p \equiv 1 \pmod 4", "n", "x^2", r"\frac{a}{b}", r"\{n\}")


@dataclass
class Text:
    """A source with its visible text; `spans` gives the span of each word in both, in code points."""

    source: str = ""
    shown: str = ""
    spans: list[tuple[int, int, int, int]] = field(default_factory=list)

    def add(self, before: str, word: str, after: str) -> None:
        """Add a word between signs that are not visible."""
        start, seen = len(self.source) + len(before), len(self.shown)
        self.source += f"{before}{word}{after}"
        self.shown += word
        self.spans.append((start, start + len(word), seen, seen + len(word)))

    def space(self, source: str) -> None:
        """Add white space, which may differ in the source."""
        self.source += source
        self.shown += " "


def drawn_text(drawn: random.Random) -> Text:
    """Generate sentences with emphasis, code and formulas, in which words and sentences repeat."""
    text = Text()
    for _ in range(drawn.randint(5, 40)):
        kind = drawn.random()
        if kind < 0.25:
            sign = drawn.choice(("$", "$$"))
            text.add(sign, drawn.choice(FORMULAS), sign)
        else:
            sign = drawn.choice(("", "", "", "**", "*", "`", "~~"))
            text.add(sign, drawn.choice(WORDS), sign)
        text.space(drawn.choice((" ", " ", "\n", "  ")))
    return text


def cases(count: int = 300) -> list[dict[str, Any]]:
    """Generate texts, each with the place of some of its words and their visible form."""
    drawn, made = random.Random(7), []
    for _ in range(count):
        text = drawn_text(drawn)
        first = drawn.randrange(len(text.spans))
        last = drawn.randrange(first, min(len(text.spans), first + 6))
        start, end = text.spans[first][0], text.spans[last][1]
        shown = text.shown[text.spans[first][2] : text.spans[last][3]]
        made.append({"shown": text.shown, "source": text.source, "start": start, "end": end, "wanted": shown})
    return made


@pytest.fixture(scope="module")
def seen() -> list[str | None]:
    lone = [
        {"shown": "Then p is odd", "source": "Then $p$ is *odd*", "start": 5, "end": 8},
        {"shown": "Then p is odd", "source": "Then $p$ is *odd*", "start": 12, "end": 13},
        {"shown": "see here now", "source": "see [here](https://example.org/a/long/address) now", "start": 4, "end": 49},
        {"shown": "quite another text", "source": "Nothing of this is shown as it is.", "start": 0, "end": 34},
    ]
    answers = _run(Path(__file__).parents[1] / "check_workspace.mjs", (), json.dumps({"seen": [*lone, *cases()]}))
    found: list[str | None] = answers["seen"]
    return found


def test_a_formula_is_marked_without_its_delimiters_and_delimiters_alone_are_not(seen: list[str | None]) -> None:
    assert seen[:2] == ["p", None]


def test_nothing_is_marked_when_source_and_text_cannot_be_aligned(seen: list[str | None]) -> None:
    assert seen[3] is None
    assert seen[2] in (None, "here")


def test_the_words_of_a_place_are_found_and_no_equal_words_elsewhere(seen: list[str | None]) -> None:
    exact = 0
    for one, found in zip(cases(), seen[4:], strict=True):
        if found is None:
            continue
        exact += found == one["wanted"]
        assert "".join(found.split()) == "".join(one["wanted"].split()), one
    assert exact > 280, "too few places are found"
