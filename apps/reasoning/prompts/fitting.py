"""Fit a prompt to the context of the model that reads it.

The rule, for every part of a prompt that grows with a run: what is scored lowest is left out first (of equals the last one);
what remains is shortened from the middle, at paragraph bounds, the longest first. A mark states how much is missing. What is
judged (a proof, a lemma) is never a growing part: a verdict on half of a proof is no verdict.
"""

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from apps.reasoning.prompts.loader import Fit, Prompt, RenderedPrompt, render

#: Tokens that a chat template adds to the messages.
TEMPLATE = 64
#: Characters to which a passage may be shortened, and no further.
SHORTEST = 400
#: Letters in runs of four, every other visible character, line ends, a space before a digit: on papers, prompts and code at
#: least as many pieces as the tokenizer of SmolLM2, whose vocabulary is small, makes tokens; a third more on average.
_PIECE = re.compile(r"[A-Za-z]{1,4}|\s(?=\d)|\n+|[^A-Za-z\s]")
#: The name of a growing ending among the parts.
_ENDING = ""
_PARAGRAPH = re.compile(r"(?<=\n)(?=\S)")


class Passage(NamedTuple):
    """One text of a growing part. Events and pages show its `name`; the lowest `worth` is left out first."""

    name: str
    text: str
    worth: float = 0.0


@dataclass(frozen=True)
class Growing:
    """A part that grows. `show` writes the passages it is given; at least `least` of them are never left out."""

    passages: tuple[Passage, ...]
    show: Callable[[Sequence[Passage]], str]
    least: int = 0


class Last(NamedTuple):
    """A part that follows all others; `instead` replaces it where it does not fit."""

    text: str
    instead: str


Chosen = Mapping[str, Sequence[Passage]]


# The votes of one lemma share a prompt, and a prompt that was fitted is looked at again before it is sent.
@functools.lru_cache(maxsize=64)
def tokens_at_most(text: str) -> int:
    """A bound on the tokens of `text` where no tokenizer is at hand."""
    return len(_PIECE.findall(text)) + len(text) - len(text.encode("ascii", "ignore"))


def prompt_tokens(prompt: RenderedPrompt) -> int:
    """The same of a prompt with what a chat template adds."""
    return TEMPLATE + sum(tokens_at_most(message.content) for message in prompt.messages)


def likely_tokens(bound: int) -> int:
    """What a bound probably comes to: on average it is a third more than the tokens that there are."""
    return bound * 3 // 4


def fits(prompt: RenderedPrompt, room: int) -> bool:
    """Whether the prompt takes at most `room` tokens. No tokenizer makes more tokens than there are bytes."""
    size = sum(len(message.content.encode()) for message in prompt.messages)
    return TEMPLATE + size <= room or prompt_tokens(prompt) <= room


def render_fitted(
    prompt: Prompt,
    values: Mapping[str, str | Growing | Last],
    room: int | None,
    *,
    closing: str = "",
    ending: str | Growing = "",
) -> RenderedPrompt:
    """`render`, with growing parts fitted to `room` tokens; None: as long as it is. The `closing` comes before a last part, and
    the `ending` after all; it may grow too."""
    fixed = {name: value for name, value in values.items() if isinstance(value, str)}
    last = [value.text for value in values.values() if isinstance(value, Last)]
    fixed |= {name: value.instead for name, value in values.items() if isinstance(value, Last)}
    growing = {name: value for name, value in values.items() if isinstance(value, Growing)}
    growing |= {_ENDING: ending} if isinstance(ending, Growing) else {}

    def make(chosen: Chosen) -> RenderedPrompt:
        shown = {name: part.show(chosen[name]) for name, part in growing.items()}
        end = shown.pop(_ENDING, ending)
        ended = "\n\n".join(text for text in (*([closing, *last] if last else ()), end) if text).strip()
        return render(prompt, fixed | shown, closing="" if last else closing, ending=ended)

    return fitted(make, growing, room)


def fitted(make: Callable[[Chosen], RenderedPrompt], growing: Mapping[str, Growing], room: int | None) -> RenderedPrompt:
    """What `make` makes of all passages or, where that is longer than `room`, of those that the rule above leaves.

    `RenderedPrompt.fit` says what is missing. The result may still be too long: then the rest of the prompt is.
    """
    everything = {name: part.passages for name, part in growing.items()}
    whole = make(everything)
    if room is None or fits(whole, room):
        return whole
    chosen = _without_the_lowest(make, growing, prompt_tokens(whole) - room, room)
    made, cut = _shortened(make, chosen, room)
    left_out = tuple(
        passage.name for name, part in everything.items() for passage in part if not any(passage is one for one in chosen[name])
    )
    lengths = {
        one.name: len(one.text) - len(short.text)
        for name, part in chosen.items()
        for one, short in zip(part, cut[name], strict=True)
    }
    missing = {name: length for name, length in lengths.items() if length > 0}
    if not left_out and not missing:
        return whole
    kept = {
        name: tuple(place for place, one in enumerate(part) if any(one is other for other in chosen[name]))
        for name, part in everything.items()
    }
    return made.model_copy(update={"fit": Fit(left_out=left_out, shortened=missing, kept=kept)})


def middle_out(text: str, limit: int) -> str:
    """At most about `limit` characters: the beginning and the end, whole paragraphs where that loses no more than half of
    them, and between them a mark that says how many characters are left out."""
    if len(text) <= limit:
        return text
    half = max(1, limit // 2)
    bounds = [match.start() for match in _PARAGRAPH.finditer(text)]
    head = max((at for at in bounds if half // 2 <= at <= half), default=half)
    tail = min((at for at in bounds if len(text) - half <= at <= len(text) - half // 2), default=len(text) - half)
    return f"{text[:head].rstrip()}\n[… {tail - head:,} characters left out …]\n{text[tail:].lstrip()}"


def _without_the_lowest(
    make: Callable[[Chosen], RenderedPrompt], growing: Mapping[str, Growing], excess: int, room: int
) -> dict[str, list[Passage]]:
    """The passages that stay."""
    chosen = {name: list(part.passages) for name, part in growing.items()}
    order = sorted(
        (
            (passage.worth, -place, name, passage)
            for name, part in growing.items()
            for place, passage in enumerate(part.passages)
        ),
        key=lambda entry: entry[:2],
    )
    for _, _, name, passage in order:
        if excess <= 0:
            excess = prompt_tokens(make(chosen)) - room
            if excess <= 0:
                break
        if len(chosen[name]) > growing[name].least:
            chosen[name] = [one for one in chosen[name] if one is not passage]
            excess -= tokens_at_most(passage.text)
    return chosen


def _shortened(make: Callable[[Chosen], RenderedPrompt], chosen: Chosen, room: int) -> tuple[RenderedPrompt, Chosen]:
    """The prompt with its passages cut to the largest length that fits; the shortest allowed length if none fits."""

    def cut(limit: int) -> dict[str, list[Passage]]:
        return {name: [one._replace(text=middle_out(one.text, limit)) for one in part] for name, part in chosen.items()}

    whole = make(chosen)
    if fits(whole, room):
        return whole, chosen
    low, high = SHORTEST, max((len(one.text) for part in chosen.values() for one in part), default=0)
    while high - low > max(50, low // 50):
        middle = (low + high) // 2
        low, high = (middle, high) if fits(make(cut(middle)), room) else (low, middle)
    return make(cut(low)), cut(low)
