"""Texts of helper roles: between tags, in a JSON object, or as the whole answer."""

import re
from collections.abc import Callable

from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.values import Unscored
from apps.reasoning.reading.answers import answer_part, tag_pattern
from apps.reasoning.reading.echoes import own_text
from apps.reasoning.reading.turns.turn_forms import read_texts, texts_schema, without_loop
from apps.reasoning.scaffolds.candidates.desk import Desk
from apps.reasoning.scaffolds.running.hearing import Reading

#: Most texts in a helper's second answer.
MOST_TEXTS = 12


def held(desk: Desk, call: str, role: str, final: Final | Unscored, tag: str, prompt: str) -> str:
    """Read an answer with `condensing`, without a second request. If it is unreadable, record that and return ""."""
    found = final if isinstance(final, Unscored) else condensing(tag, prompt)(final)
    if isinstance(found, str):
        return found
    if isinstance(final, Final):
        desk.unread(call, role, found.reason)
    return ""


def condensed(tag: str, prompt: str) -> Reading[str]:
    """The reading of a helper's text; the second request asks for a list of texts if the engine enforces schemas."""
    read = condensing(tag, prompt)
    return Reading[str](read, tag, read, texts_schema(tag, MOST_TEXTS, 20), asks_json=f"{tag}_json")


def condensing(tag: str, prompt: str) -> Callable[..., str | Unscored]:
    """Make a reader of the last such tag, else of a JSON list of texts, else of a whole answer that is not an echo of `prompt`.
    A truncated text counts, because these texts have no verdict at their end."""
    closed, signs = tag_pattern(tag), re.compile(rf"</?{tag}(?:\s[^<>]{{0,200}})?>", re.IGNORECASE)

    def read(final: Final, first: str = "") -> str | Unscored:
        answer = answer_part(final.text)
        if isinstance(answer, Unscored):
            return answer
        if found := closed.findall(answer):
            return str(found[-1]).strip() or Unscored(reason=f"<{tag}> is empty")
        if listed := read_texts(final, tag):
            texts = listed.texts
            return texts[0] if len(texts) == 1 else "\n".join(f"{number}. {text}" for number, text in enumerate(texts, 1))
        own = own_text(signs.sub("", answer), prompt)
        return without_loop(own) if isinstance(own, str) else Unscored(reason=f"there is no <{tag}>, and {own.reason}")

    return read
