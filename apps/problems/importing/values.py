"""Convert cell values to fields of a problem; each refusal explains the error in the row."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from apps.files.values import LINE_END, RowWrong, text_of
from apps.problems import drafts
from apps.problems.drafts import ProblemDraft, SolutionDraft
from apps.problems.levels import level_spelled
from apps.problems.models import Topic

_TOPICS = {word.casefold(): value for value, label in Topic.choices for word in (value, label)}
_LONGEST = {
    "title": drafts.TITLE_LENGTH, "subtopic": drafts.SUBTOPIC_LENGTH, "source": drafts.SOURCE_LENGTH,
    "level": drafts.LEVEL_LENGTH, "statement": drafts.STATEMENT_LENGTH, "answer": drafts.ANSWER_LENGTH,
    "scheme_text": drafts.SCHEME_LENGTH, "slug": drafts.SLUG_LENGTH, "origin": drafts.ORIGIN_LENGTH,
    "external_id": drafts.EXTERNAL_ID_LENGTH,
}  # fmt: skip
_WORDS = {"scheme_text": "marking scheme", "external_id": "id"}


def level_of(values: Mapping[str, Any], name: str) -> str:
    """The level in normalised spelling."""
    return level_spelled(text_of(values, name))


def topic_of(values: Mapping[str, Any], name: str) -> str:
    """The letter of a topic, from its letter or name. Raises `RowWrong`."""
    word = text_of(values, name)
    found = _TOPICS.get(word.casefold())
    if found:
        return found
    for other, value in values.items():
        if other != name and isinstance(value, str) and len(value.strip()) > 1 and value.strip().casefold() in _TOPICS:
            raise RowWrong(f"The columns are shifted: {other} contains “{value.strip()}” and {name} contains “{word}”.")
    known = ", ".join(Topic.labels)
    raise RowWrong(f"{f'Unknown topic “{word[:40]}”' if word else 'The topic is missing'}. Use one of: {known}.")


def topic_in(value: Any) -> str:
    """The first topic that a word or a list names, also one printed as text (`['Algebra']`); else `Topic.OTHER`."""
    words = value if isinstance(value, list) else re.findall(r"[A-Za-z][A-Za-z ]+", value if isinstance(value, str) else "")
    return next((_TOPICS[word] for one in words if (word := str(one).strip().casefold()) in _TOPICS), Topic.OTHER)


def parts_text(value: Any) -> str:
    """A scheme given as a list of parts with `title`, `points` and `desc`, one part a line; a text as it is."""
    if isinstance(value, str):
        return value.strip()
    if value is None:
        return ""
    if not isinstance(value, list) or not all(isinstance(part, dict) for part in value):
        raise RowWrong("The grading_scheme is neither text nor a list of parts.")
    lines = (f"{part.get('title', '')} ({part.get('points', '?')}): {part.get('desc', '')}".strip() for part in value)
    return "\n".join(f"- {line}" for line in lines)


def year_of(values: Mapping[str, Any], name: str) -> int | None:
    """The year as a number, if there is one. Raises `RowWrong`."""
    text = text_of(values, name)
    if not text:
        return None
    if not re.fullmatch(r"\d{1,4}(\.0)?", text, re.ASCII) or int(text.removesuffix(".0")) not in drafts.YEARS:
        raise RowWrong(f"“{text[:40]}” is not a year.")
    return int(text.removesuffix(".0"))


def solutions_of(values: Mapping[str, Any], numbered: Sequence[str]) -> tuple[SolutionDraft, ...]:
    """Reference solutions from a list under `solutions` (JSONL) or from the numbered columns (CSV). Raises `RowWrong`."""
    listed = values.get("solutions")
    if listed in (None, ""):
        rows = [(text_of(values, a), text_of(values, s)) for a, s in zip(numbered[::2], numbered[1::2], strict=True)]
    else:
        if not isinstance(listed, list) or not all(isinstance(row, dict) and {*row} <= {"approach", "text"} for row in listed):
            raise RowWrong("The value of solutions must be a list of objects with approach and text.")
        rows = [(text_of(row, "approach"), text_of(row, "text")) for row in listed]
    if any(approach and not text for approach, text in rows):
        raise RowWrong("A reference solution has an approach but no text.")
    return tuple(SolutionDraft(text, LINE_END.sub(" ", approach)) for approach, text in rows if text)


def hints_of(values: Mapping[str, Any], numbered: Sequence[str]) -> tuple[str, ...]:
    """Hints from a list under `hints` (JSONL) or from the numbered columns (CSV). Raises `RowWrong`."""
    listed = values.get("hints")
    if listed in (None, ""):
        texts = [text_of(values, name) for name in numbered]
    elif isinstance(listed, list) and all(isinstance(text, str) for text in listed):
        texts = [text_of({"hint": text}, "hint") for text in listed]
    else:
        raise RowWrong("The value of hints must be a list of texts.")
    while texts and not texts[-1]:
        texts.pop()
    if not all(texts):
        raise RowWrong("A hint is empty, but a later one is not. Hints open in their order.")
    return tuple(texts)


def draft_check(draft: ProblemDraft) -> None:
    """Raise `RowWrong` if a part is missing or too long."""
    for name in ("statement", "title"):
        if not getattr(draft, name):
            raise RowWrong(f"The {name} is empty.")
    sizes = [(_WORDS.get(name, name), len(getattr(draft, name)), most) for name, most in _LONGEST.items()]
    sizes += [("reference solution", len(row.text), drafts.SOLUTION_LENGTH) for row in draft.solutions]
    sizes += [("approach", len(row.approach), drafts.APPROACH_LENGTH) for row in draft.solutions]
    sizes += [("hint", len(text), drafts.HINT_LENGTH) for text in draft.hints]
    for word, size, most in sizes:
        if size > most:
            raise RowWrong(f"The {word} has {size:,} characters; the limit is {most:,}.")
    if len(draft.solutions) > drafts.SOLUTIONS_AT_MOST:
        raise RowWrong(f"The problem has {len(draft.solutions)} reference solutions; the limit is {drafts.SOLUTIONS_AT_MOST}.")
    if len(draft.hints) > drafts.HINTS_AT_MOST:
        raise RowWrong(f"The problem has {len(draft.hints)} hints; the limit is {drafts.HINTS_AT_MOST}.")


def fingerprint(statement: str) -> bytes:
    """A digest of a statement that ignores differences in white space."""
    return hashlib.sha256(" ".join(statement.split()).encode()).digest()
