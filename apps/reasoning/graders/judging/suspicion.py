"""Suspicious passages of a script: invisible characters and words, chat tokens, words addressed to the grader.

They do not change points: they are reported next to them, with the step and the words, for a person to review. The patterns are
in `suspicion.toml`; `folded` normalises different spellings of the same words.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from apps.reasoning.graders.judging.folded import decoded, folded, other_writings, readings, set_apart
from apps.reasoning.graders.material import Span
from apps.reasoning.reading.foreign import clean, clean_text
from apps.reasoning.texts.invisible import invisible_in

QUOTE_LENGTH = 120
MOST_FLAGS = 10
AROUND = 200
#: Rules name words of these writings without keys: Cyrillic, Hebrew, Arabic, Devanagari, Hangul, Kana, Chinese signs.
_OTHER_SIGNS = re.compile("[\u0400-\u04ff\u0590-\u06ff\u0900-\u097f\u1100-\u11ff\u3040-\u30ff\u4e00-\u9fff]")
_FLAGS = {
    "control token": "the text contains tokens of a chat template",
    "answer tag": "the text holds tags in which a grader answers",
}
#: What has none of these words is not looked at again after it was decoded or read otherwise.
_KEYS = (
    "instruct", "ignor", "disregard", "marks", "score", "grade", "grading", "award", "rubric", "system", "assistant", "correct",
    "prompt", "credit",
)  # fmt: skip
_NAME = r"(?:\\.|[^\"'\\{}\n]){0,200}"
_JSON_OBJECT = re.compile(rf"\{{(?=\s*(?:\"{_NAME}\"|'{_NAME}')\s*:)")
_ESCAPED_NAME = re.compile(rf"[{{,]\s*\"(?=[^\"\n]{{0,200}}\\u[0-9a-fA-F]{{4}}){_NAME}\"\s*:")


#: Tags inside answers; `clean_text` handles whole answer forms. Tags of any length: the reader of answers (`answers.entries`)
#: has a length limit, and two limits need not agree.
_ENTRY = r"</?(?:points|item|part|finding|quote|chain|feedback|cluster|main-step|substep|why|full|deduction|same|flag)(?![\w-])"
_ENTRY_BEGUN = re.compile(_ENTRY, re.IGNORECASE)
#: An unclosed tag is reported if it has an attribute: `$a<points$` is mathematics.
_ENTRY_TAG = re.compile(rf"{_ENTRY}(?:[^<>]*>|\s+[a-z-]+\s*=)", re.IGNORECASE)
_INERT = str.maketrans("<>", "‹›")


class Rule(NamedTuple):
    """`words` say what a match is, for people. Every match holds one of `keys`, or a sign of a writing in `_OTHER_SIGNS`."""

    words: str
    pattern: re.Pattern[str]
    keys: tuple[str, ...]

    def search(self, text: str) -> re.Match[str] | None:
        """The first match in the lines around the keys."""
        if _OTHER_SIGNS.search(text) or len(lower := text.lower()) != len(text):
            return self.pattern.search(text)
        for start, end in _windows(lower, self.keys):
            if match := self.pattern.search(text, start, end):
                return match
        return None


def _windows(text: str, keys: Sequence[str]) -> list[tuple[int, int]]:
    """Whole lines around every key, those that touch joined."""
    found: list[tuple[int, int]] = []
    for key in keys:
        place = text.find(key)
        while place >= 0:
            start = max(0, text.rfind("\n", 0, max(0, place - AROUND)))
            end = text.find("\n", place + AROUND)
            end = len(text) if end < 0 else end
            found.append((start, end))
            place = text.find(key, end)
    joined: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


@cache
def rules() -> tuple[Rule, ...]:
    """The rules of `suspicion.toml`, with its parts put in."""
    read = tomllib.loads(Path(__file__).with_name("suspicion.toml").read_text("utf-8"))
    parts: dict[str, str] = {}
    for name, part in read["parts"].items():
        parts[name] = _filled(part, parts)
    return tuple(
        Rule(
            rule["words"],
            re.compile("|".join(f"(?:{_filled(folded(one).text, parts)})" for one in rule["patterns"]), re.IGNORECASE),
            tuple(key.replace("_", " ") for key in rule["keys"].split()),
        )
        for rule in read["rules"]
    )


def _filled(pattern: str, parts: dict[str, str]) -> str:
    return re.sub("«([A-Z_]+)»", lambda found: parts[found.group(1)], pattern)


def suspicious_in(source: str, steps: Sequence[Span] = ()) -> tuple[str, ...]:
    """Passages for a person to review, in words, without repetition, with the step if it is known. Empty for mathematics."""
    flags = [_FLAGS[flag] for flag in clean(source).flags if flag in _FLAGS]
    flags += [_FLAGS["answer tag"]] if _ENTRY_TAG.search(source) else []
    found = [*invisible_in(source), *flags, *_writing(source), *_spoken(source, steps)]
    return tuple(dict.fromkeys(found))[:MOST_FLAGS]


def answers_inert(text: str) -> str:
    """The text made clean, with its objects of JSON and tags of entries made inert: what is echoed is then no judgement.

    Any name counts, since `\\u0070oints` is read as `points`. Cleaned first, since a sign that is removed later would hide one.
    """
    plain = _JSON_OBJECT.sub("⦃", clean_text(text))
    plain = _ENTRY_TAG.sub(lambda found: found.group().translate(_INERT), plain)
    # What is only begun could be closed by the one who quotes it.
    return _ENTRY_BEGUN.sub(lambda found: found.group().translate(_INERT), plain)


def _writing(source: str) -> Iterator[str]:
    for name in other_writings(source):
        yield f"a passage in another script than the rest ({name})"
    if set_apart(source):
        yield "words with separated letters"
    if _ESCAPED_NAME.search(clean_text(source)):
        yield "a JSON name written in escape sequences"


def _spoken(source: str, steps: Sequence[Span]) -> Iterator[str]:
    """What each rule finds, at its first place; what is only found after decoding has none."""
    first, *others = readings(folded(source))
    plain = [first, *(one for one in others if _has_key(one.text))]
    quoted: set[str] = set()
    for rule in rules():
        found = next(((one, match) for one in plain if (match := rule.search(one.text))), None)
        if found is None:
            continue
        one, match = found
        start, end = one.places[match.start()], one.places[match.end() - 1] + 1
        quote = _quote(source[start:end])
        if quote not in quoted:
            quoted.add(quote)
            yield f"{_step(start, steps)}{rule.words}: “{quote}”"
    for how, text in decoded(source):
        if not _has_key(text):
            continue
        inner = folded(text).text
        match = next((match for rule in rules() if (match := rule.search(inner))), None)
        if match is not None:
            yield f"words hidden by {how}: “{_quote(match.group())}”"


def _has_key(text: str) -> bool:
    lower = text.lower()
    return any(key in lower for key in _KEYS)


def _step(place: int, steps: Sequence[Span]) -> str:
    number = next((number for number, step in enumerate(steps, 1) if step.start <= place < step.end), 0)
    return f"step {number}: " if number else ""


def _quote(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= QUOTE_LENGTH else f"{text[: QUOTE_LENGTH - 1]}…"
