"""Make text from models and people safe for a prompt.

Covered: characters that hide or reorder text, tokens of chat templates, the tags of our own answer formats, sentences that
address the reader. Not covered: mathematics that is wrong on purpose; that is what verifiers are for.
"""

import functools
import re
from typing import Literal

from apps.reasoning.domain.values import Value

Flag = Literal["control token", "hidden character", "answer tag", "addresses the reader"]

_HIDDEN = re.compile(
    "[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\U000e0000-\U000e0fff\x00-\x08\x0b-\x1f\x7f-\x9f]"
)
_CONTROL_TOKEN = re.compile(
    r"<[|｜][^<>\n]{1,40}[|｜]>|</?(?:s|bos|eos|pad|unk|think|thinking|start_of_turn|end_of_turn|unused\d+)>|\[/?INST\]|<</?SYS>>",
    re.IGNORECASE,
)
#: Tags of answers whose opening counts without an end, too.
_TAGS = (
    "verdict|check|lemma|no-lemmas|statement|step|proof|no-proof|claim|python_code|local_rag|check_formulas|tool_response|answer|report|grading|"
    "no-grading|clusters|matching|analysis|rubric|rewriting|scheme|quality|hint|no-hint|issue|own-score|judgement|checkpoints|"
    "remark|main-step|substep|decision|likeliest|deduction|transcription|unreadable|first_fault|tool_call"
)
#: Words that may follow a "less than" sign too: these are tags only if they end as one.
_WORDS = (
    "score|better|group|quote|state|points|item|key|part|finding|feedback|flag|cluster|summary|same|why|rest|solution|full|"
    "chain|query|title|kind|question|reason"
)
_ANSWER_TAG = re.compile(
    rf"</?(?:{_TAGS})\b[^<>\n]{{0,80}}>?|</?(?:{_WORDS})(?:\s[^<>\n]{{0,80}})?/?>|<<<(?=(?:CONTENT|END)\b)", re.IGNORECASE
)
_ANSWER_BOX = re.compile(r"\\box(?:ed)?(?=\s*\{[\s{]*(?:STEP|LEMMA))", re.IGNORECASE)
_ADDRESS = re.compile(
    r"\b(?:ignore|disregard|forget)\b.{0,40}\b(?:instructions?|rules|prompt|above)\b"
    r"|\b(?:dear|note to the)\s+(?:grader|verifier|marker|judge)\b"
    r"|\byou (?:must|should|are to|will) (?:accept|answer|output|respond|mark|grade)\b"
    r"|\b(?:final )?verdict\s*(?:is|:)",
    re.IGNORECASE | re.DOTALL,
)


class CleanText(Value):
    """Text that is safe inside a fence, with the findings in it."""

    text: str
    flags: tuple[Flag, ...] = ()


def clean(text: str) -> CleanText:
    """Remove hidden characters, make control tokens and answers inert (`<` becomes `‹`), and flag findings."""
    plain, flags = _made_inert(text)
    addresses: tuple[Flag, ...] = ("addresses the reader",) if _ADDRESS.search(plain) else ()
    return CleanText(text=plain, flags=flags + addresses)


def clean_text(text: str) -> str:
    """The text of `clean` without the search for findings, which takes longer than the cleaning."""
    return _made_inert(text)[0]


# A library is part of the prompts of all checks of its round, the problem of every prompt of the run.
@functools.lru_cache(maxsize=512)
def _made_inert(text: str) -> tuple[str, tuple[Flag, ...]]:
    flags: list[Flag] = []
    plain, hidden = text.replace("\r\n", "\n").replace("\r", "\n"), 0
    if not _is_plain(plain):
        plain, hidden = _HIDDEN.subn("", plain)
    tokens = tags = boxes = 0
    if "<" in plain or "[" in plain:  # Beginnings of the two patterns.
        plain, tokens = _CONTROL_TOKEN.subn(_inert, plain)
        plain, tags = _ANSWER_TAG.subn(_inert, plain)
    if "\\box" in plain.lower():
        plain, boxes = _ANSWER_BOX.subn(r"\\fbox", plain)
    if hidden:
        flags.append("hidden character")
    if tokens:
        flags.append("control token")
    if tags or boxes:
        flags.append("answer tag")
    return plain, tuple(flags)


def _is_plain(text: str) -> bool:
    """Is it printable ASCII with line breaks and tabs? Then it hides nothing."""
    return text.isascii() and text.replace("\n", "").replace("\t", "").isprintable()


def _inert(match: re.Match[str]) -> str:
    return match.group().translate(str.maketrans("<>[]", "‹›⁅⁆"))
