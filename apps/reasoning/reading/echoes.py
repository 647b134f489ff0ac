"""Read answers without a form as a whole, without the parts that repeat their prompt."""

import re
from typing import NamedTuple

from apps.reasoning.domain.values import Unscored

_BLOCK = re.compile(r"<<<CONTENT (\w{4,64})>>>(.*?)(?:(<<<END \1>>>)|\Z)", re.DOTALL)
_PROBLEM = re.compile(r"^## Problem\n<<<CONTENT (\w{4,64})>>>(.*?)<<<END \1>>>", re.DOTALL | re.MULTILINE)
#: Changes that models make in copies: spaces, the signs around formulas, punctuation outside of numbers, emphasis.
_INCIDENTAL = re.compile(r"[\s$*?“”\"]|\\[()\[\]]|(?<!\d)[.,:;]|[.,:;](?!\d)")
#: A block ```geometry is kept: it is part of a proof (docs/geometry.md).
_FENCE_LINE = re.compile(
    r"(?P<kept>^[ \t]*```geometry[ \t]*$[^`]*^[ \t]*```[ \t]*$)|^[ \t]*```[a-z]*[ \t]*$", re.IGNORECASE | re.MULTILINE
)
_BROKEN_FENCE = re.compile(r"(?<!<)<{1,4}(?:CONTENT|END)\b[^<>\n]{0,80}>{0,4}\**")
_REFUSES = re.compile(r"\W*(?:i(?:['’]m| am) (?:sorry|unable)|sorry|i can(?:no|['’])t|as an ai)\b", re.IGNORECASE)
#: A text with formulas or numbers is more than a refusal: "Sorry for my first answer. Let $n=2k$".
_MATHEMATICS = re.compile(r"[$=<>≤≥\\\d]")
_DIGITS = re.compile(r"\d+")
_SHORT_LINE = 3
_SHORTEST_COPY = 12
#: A longer line of an example is more than a tag.
_LONGEST_TAG = 30
_EXAMPLE = re.compile(r"^Example of the form\b[^\n]*\n(.*)", re.DOTALL | re.MULTILINE)
#: Shorter texts without a form say nothing: "Yes.", "Let me know if you need more."
SHORTEST_WHOLE = 40


class _Parts(NamedTuple):
    """An answer next to its prompt: its `own` text, its length `beyond` the statement, and the fenced texts it `changed`."""

    own: str
    beyond: int
    changed: list[str]

    @property
    def is_echo(self) -> bool:
        """Is more than half of it from the prompt? All of it, if it is short: "10 is even." examines something."""
        return 2 * len(self.own) < self.beyond and (self.beyond >= 2 * SHORTEST_WHOLE or not self.own)


def own_text(answer: str, prompt: str, *, in_fences: bool = True, heading: re.Pattern[str] | None = None) -> str | Unscored:
    """The answer without code fences and repeated text; Unscored for an echo, a refusal, and almost nothing.

    More than half of an echo is from its prompt; the statement of the problem does not count. Texts in the prompt's fences may
    come again: an improved solution repeats much of the first. An echo with one other text in place of a fenced one hands in
    that text, unless `in_fences` is false. An echo with a `heading` of its own hands in what follows it.
    """
    parts = _parts(answer, prompt)
    own = parts.own
    if parts.is_echo:
        changed = parts.changed if in_fences else []
        found = heading.search(own) if heading else None
        if len(changed) == 1:
            own = changed[0]
        elif found is None or len(own) - found.end() < SHORTEST_WHOLE:
            return Unscored(reason="the answer repeats what was asked")
    if _REFUSES.match(own) and not has_mathematics(own):
        return Unscored(reason="the answer declines")
    if len(own) < SHORTEST_WHOLE:
        return Unscored(reason="it is too short to be read as a whole")
    if _distinct(own) < SHORTEST_WHOLE:
        return Unscored(reason="it repeats a few words")
    return own


def has_mathematics(text: str) -> bool:
    """Does the text have a formula or a number?"""
    return _MATHEMATICS.search(text) is not None


def is_echo(answer: str, prompt: str) -> bool:
    """Is the whole answer from its prompt?"""
    parts = _parts(answer, prompt)
    return bool(answer) and parts.is_echo and len(parts.changed) != 1


def _parts(answer: str, prompt: str) -> _Parts:
    given, problems = {bare(text) for text in shown(prompt)}, [match[2] for match in _PROBLEM.finditer(prompt)]
    blocks = list(_BLOCK.finditer(answer))
    changed = [block for block in blocks if not _is_given(block, given)]
    statements = {bare(problem) for problem in problems}
    beyond = len(answer) - sum(len(block[0]) for block in blocks if bare(block[2]) in statements)
    unwrapped = changed[0].start() if len(changed) == 1 else -1
    lines = _BLOCK.sub(lambda block: block[2] if block.start() == unwrapped else "", answer).splitlines()
    own = _own_lines(lines, prompt)
    # The last line of a proof may be the statement.
    stated = {bare(line) for problem in problems for line in problem.splitlines() if len(line.strip()) > _SHORT_LINE}
    has_more = any(bare(line) not in stated for line in own)
    repeated = [line for line in own[:-1] if bare(line) in stated] if has_more else own
    beyond -= sum(map(len, repeated))
    text = "\n".join(line for line in own if line not in repeated)
    text = _BROKEN_FENCE.sub("", _FENCE_LINE.sub(lambda found: found["kept"] or "", text)).strip()
    return _Parts(text, beyond, [block[2].strip() for block in changed if block[3]])


def _own_lines(lines: list[str], prompt: str) -> list[str]:
    """The lines that the prompt does not have outside its fences, without empty ones at the end."""
    asked = {bare(line) for line in outside(prompt).splitlines()}
    own = [line for line in lines if len(line.strip()) <= _SHORT_LINE or bare(line) not in asked]
    return "\n".join(own).rstrip().splitlines()


def _is_given(block: re.Match[str], given: set[str]) -> bool:
    """Does the prompt show this text in a fence, or begin one as this open text begins?"""
    text = bare(block[2])
    return text in given or (not block[3] and any(one.startswith(text[:SHORTEST_WHOLE]) for one in given))


def _distinct(text: str) -> int:
    """The length of the different lines of a text, whatever numbers they have."""
    return sum(len(line) for line in {_DIGITS.sub("0", line.strip("#* \t")) for line in text.splitlines()})


def bare(text: str) -> str:
    """The text without insubstantial differences: spaces, signs around formulas, punctuation, the case of letters."""
    return _INCIDENTAL.sub("", text).lower()


def shown(prompt: str) -> list[str]:
    """The foreign texts of a prompt: the contents of its fences."""
    return [match[2] for match in _BLOCK.finditer(prompt)]


def outside(prompt: str) -> str:
    """The prompt's own words, without its foreign texts."""
    return _BLOCK.sub("", prompt)


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
