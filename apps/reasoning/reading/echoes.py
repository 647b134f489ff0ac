"""Answers without a form, read as a whole: what is left of one without what it repeats of its prompt."""

import re

from apps.reasoning.domain.values import Unscored

_BLOCK = re.compile(r"<<<CONTENT (\w{4,64})>>>(.*?)(?:(<<<END \1>>>)|\Z)", re.DOTALL)
_PROBLEM = re.compile(r"^## Problem\n<<<CONTENT (\w{4,64})>>>(.*?)<<<END \1>>>", re.DOTALL | re.MULTILINE)
#: What a model changes where it copies: spaces, the signs around formulas, punctuation outside of numbers, emphasis.
_INCIDENTAL = re.compile(r"[\s$*?“”\"]|\\[()\[\]]|(?<!\d)[.,:;]|[.,:;](?!\d)")
_FENCE_LINE = re.compile(r"^[ \t]*```[a-z]*[ \t]*$", re.IGNORECASE | re.MULTILINE)
_REFUSES = re.compile(r"\W*(?:i(?:['’]m| am) (?:sorry|unable)|sorry|i can(?:no|['’])t|as an ai)\b", re.IGNORECASE)
_SHORT_LINE = 3
_SHORTEST_COPY = 12
#: A line of an example that is longer is more than a tag.
_LONGEST_TAG = 30
_EXAMPLE = re.compile(r"^Example of the form\b[^\n]*\n(.*)", re.DOTALL | re.MULTILINE)
_DIGITS = re.compile(r"\d+")
_BROKEN_FENCE = re.compile(r"<+(?:CONTENT|END)\b[^<>\n]*>*\**")
_HEADING_LINE = re.compile(r"^[ \t]*#{1,6}(?:[^\n]{0,40})$", re.MULTILINE)
#: A text that repeats itself says next to nothing where its distinct lines are a tenth of it, and not longer than this.
_FEW_CHARACTERS = 150
#: Shorter texts without a form say nothing: "Yes.", "Let me know if you need more."
SHORTEST_WHOLE = 40


def own_text(answer: str, prompt: str, *, in_fences: bool = True) -> str | Unscored:
    """The answer without fences of code and without what it repeats; Unscored for an echo, a refusal, and next to nothing.

    An echo repeats half of itself or more from its prompt. What stands in a fence of the prompt may come again: an improved
    solution repeats much of the first. Where an echo has one other text in place of a fenced one, that text is its own; not
    without `in_fences`.
    """
    own = _BROKEN_FENCE.sub("", _FENCE_LINE.sub("", _without_echo(answer, prompt))).strip()
    if 2 * len(own) < len(answer):
        changed = _changed(answer, prompt) if in_fences else []
        if len(changed) != 1:
            return Unscored(reason="the answer repeats what was asked")
        own = changed[0]
    if _REFUSES.match(own):
        return Unscored(reason="the answer declines")
    if len(own) < SHORTEST_WHOLE:
        return Unscored(reason="it is too short to be read as a whole")
    distinct = _distinct(own)
    if distinct < SHORTEST_WHOLE or (distinct < _FEW_CHARACTERS and 10 * distinct < len(own)):
        return Unscored(reason="it repeats headings and a few words")
    return own


def _distinct(text: str) -> int:
    """The length of the different lines of a text, without headings."""
    lines = _HEADING_LINE.sub("", text).splitlines()
    return sum(len(line) for line in {line.strip() for line in lines})


def is_echo(answer: str, prompt: str) -> bool:
    """Does the answer hold nothing but what its prompt says?"""
    own = _FENCE_LINE.sub("", _without_echo(answer, prompt)).strip()
    return bool(answer) and 2 * len(own) < len(answer) and len(_changed(answer, prompt)) != 1


def _changed(answer: str, prompt: str) -> list[str]:
    """What stands in whole fences of the answer and in none of the prompt, but for white space and the marks of formulas."""
    given = {bare(text) for text in shown(prompt)}
    return [match[2].strip() for match in _BLOCK.finditer(answer) if match[3] and bare(match[2]) not in given]


def bare(text: str) -> str:
    """The text without what is no difference in substance: spaces, signs around formulas, punctuation, the case of letters."""
    return _INCIDENTAL.sub("", text).lower()


def shown(prompt: str) -> list[str]:
    """The foreign texts of a prompt: what its fences hold."""
    return [match[2] for match in _BLOCK.finditer(prompt)]


def outside(prompt: str) -> str:
    """The prompt without its foreign texts: what it says itself."""
    return _BLOCK.sub("", prompt)


def _without_echo(answer: str, prompt: str) -> str:
    """Without fenced blocks, and without lines of the problem or of what the prompt says, other numbers or not."""
    told = outside(prompt)
    lines = (told + "\n".join(match[2] for match in _PROBLEM.finditer(prompt))).splitlines()
    asked, whole = {bare(line).lstrip("#") for line in lines}, _DIGITS.sub("0", bare(told))

    def is_told(line: str) -> bool:
        written = bare(line).lstrip("#")
        return written in asked or (len(written) >= _SHORTEST_COPY and _DIGITS.sub("0", written) in whole)

    own = (line for line in _BLOCK.sub("", answer).splitlines() if len(line.strip()) <= _SHORT_LINE or not is_told(line))
    return "\n".join(own)


def is_of_instructions(text: str, prompt: str) -> bool:
    """Does the prompt contain the text, outside its foreign texts? An example of a form does; single words may."""
    return len(bare(text)) >= _SHORTEST_COPY and bare(text) in bare(outside(prompt))


def is_of_problem(text: str, prompt: str) -> bool:
    """Is the text a part of the problem's statement?"""
    return len(bare(text)) >= _SHORTEST_COPY and any(bare(text) in bare(match[2]) for match in _PROBLEM.finditer(prompt))


def has_example(answer: str, prompt: str) -> bool:
    """Does the answer repeat a line of the worked example of its prompt, or the beginning of one?"""
    if not (example := _EXAMPLE.search(outside(prompt))):
        return False
    lines = (bare(line) for line in example[1].splitlines() if line.startswith("    "))
    written = bare(answer)
    return any(len(line) >= _LONGEST_TAG and line[:_LONGEST_TAG] in written for line in lines)
