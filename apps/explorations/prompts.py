"""A recorded prompt as a reader sees it: its sections by the names that its own headings give them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

INSTRUCTIONS = "Instructions"
FIRST_ANSWER, SECOND_QUESTION = "First answer", "Asked once more"
_HEADING = re.compile(r"\s*## ([^\n]{1,80})(?:\n|\Z)")


@dataclass
class Section:
    """A named piece of a prompt; `text` is exactly what was sent."""

    name: str
    text: str


def sections(parts: Sequence[str], *, is_second: bool = False) -> list[Section]:
    """The parts of a prompt with names; joined, their texts are the prompt. The second question of a conversation
    (`is_second`) has the model's first answer and the question itself as its last parts.

    A part of the user text begins with the heading that its prompt file has there, before any text of models or people. A
    part without one, such as the rest of a sentence after a number, goes on with the section before it.
    """
    if is_second and len(parts) > 2:
        *before, answer, question = parts
        return [*sections(before), Section(FIRST_ANSWER, answer), Section(SECOND_QUESTION, question)]
    found = [Section(INSTRUCTIONS, parts[0])] if parts else []
    for number, part in enumerate(parts[1:], start=2):
        heading = _HEADING.match(part)
        if heading:
            found.append(Section(heading.group(1).strip(), part))
        elif number == 2:
            found.append(Section("Request", part))
        else:
            found[-1].text += part
    return found
