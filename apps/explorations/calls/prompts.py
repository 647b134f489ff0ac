"""A recorded prompt in sections, named by its headings."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

INSTRUCTIONS = "Instructions"
FIRST_ANSWER, SECOND_QUESTION = "First answer", "Asked once more"
_HEADING = re.compile(r"\s*## ([^\n]{1,80})(?:\n|\Z)")


@dataclass
class Section:
    """A named part of a prompt; `text` is exactly as sent."""

    name: str
    text: str


def sections(parts: Sequence[str], *, is_second: bool = False) -> list[Section]:
    """Named sections of a prompt; their joined texts are the prompt.

    In a second request (`is_second`), the last two parts are the model's first answer and the request itself. A part of the
    user text begins with the heading of its prompt file, before texts of models or people. A part without a heading, such as
    the rest of a sentence after a number, continues the previous section.
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
