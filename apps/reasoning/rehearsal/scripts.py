"""Scripts of people whose points are known: a simulated grader finds them in its prompt, and no grader's program sees them."""

import hashlib
import re
from dataclasses import dataclass

from apps.reasoning.graders.judging.suspicion import answers_inert
from apps.reasoning.texts.source import source_of

#: The scale of the graders that are simulated, in whole points.
MOST = 7
#: What a grader says of a script whose points it does not know: it is unscored.
CANNOT_JUDGE = 'I know no points of this script, so I cannot judge it.\n{"score": null}'
_FENCED = re.compile(r"<<<CONTENT (\w+)>>>\n(.*?)\n<<<END \1>>>", re.DOTALL)
_NUMBERS = re.compile(r"^(?:Step \d+\.\s*)+", re.MULTILINE)
_SIGNS = re.compile(r"\W+")
_ITEM = re.compile(r"^(M\d), (\d) points\. ", re.MULTILINE)


@dataclass(frozen=True)
class Script:
    """A script by the digest of its text. `points`: what people gave, of 7."""

    name: str
    points: float


class Scripts:
    """Scripts with the points that people gave them."""

    def __init__(self) -> None:
        self._known: dict[str, Script] = {}

    def know(self, text: str, points: float, out_of: float = MOST) -> Script:
        """Remember what people gave to a text, of `out_of`."""
        name = _digest(answers_inert(source_of(text)))
        self._known[name] = Script(name, MOST * points / out_of)
        return self._known[name]

    def found_in(self, prompt: str) -> Script | None:
        """The known script that a prompt shows, with or without numbers of steps; the last one if it shows several."""
        found = (self._known.get(_digest(text)) for _, text in reversed(_FENCED.findall(prompt)))
        return next((one for one in found if one is not None), None)


def points_form(prompt: str, points: float) -> str:
    """A grading with this total. The items of a rubric in the prompt are filled in their order."""
    rubric = prompt.rpartition("## Rubric\n")[2].partition("## Script to examine")[0] if "## Rubric\n" in prompt else ""
    left, items = points, []
    for code, worth in _ITEM.findall(rubric):
        given = min(left, float(worth))
        left -= given
        items.append(f'<item code="{code}" points="{given:g}">So much of it is there.</item>\n')
    feedback = "<feedback>I went through it.</feedback>"
    return f"I went through it.\n<grading>\n{''.join(items)}{feedback}<points>{points:g}</points>\n</grading>"


def _digest(text: str) -> str:
    """The same for a text with and without numbers of its steps."""
    return hashlib.blake2b(_SIGNS.sub("", _NUMBERS.sub("", text)).encode(), digest_size=8).hexdigest()
