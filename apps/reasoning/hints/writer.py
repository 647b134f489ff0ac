"""Writing a hint with a model: a rung, its leak tests, and one level less where it tells too much.

Two tests: the comparison of words (`feedback.leaks`), and, where a second model is named, what that model finds of the solution
with the hint and without it (`feedback.guessing`). Neither proves anything; a coach decides.
"""

import secrets
from dataclasses import dataclass, field

from apps.reasoning.domain.errors import BackendError, PromptError
from apps.reasoning.domain.generation import Final, GenerationRequest, Sampling
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.feedback.guessing import gain_limit, nearness
from apps.reasoning.feedback.leaks import Leak, LeakKind, leaks_of
from apps.reasoning.hints.material import (
    NONE,
    HintMaterial,
    Secret,
    notes_text,
    numbered,
    readable,
    rung_text,
    script_text,
    words_text,
)
from apps.reasoning.ports import Dispatcher
from apps.reasoning.prompts.loader import fence, load, render
from apps.reasoning.reading.answers import closing_match, tag_pattern, whole_answer
from apps.reasoning.reading.foreign import clean_text

WRITER, GUESSER = "hints/writer", "hints/guesser"
#: A hint that told too much is written one level lower, so often.
DROPS_AT_MOST = 2
LENGTH_AT_MOST = 2_000

_HINT, _NO_HINT = tag_pattern("hint"), tag_pattern("no-hint")


class Attempt(Value):
    """A text that was written for a level and told too much."""

    level: int
    text: str
    leaks: tuple[Leak, ...]


class HintWritten(Value):
    """A hint that passed its tests. `level`: the rung that it was written for, the asked one or a lower.

    `dropped`: what was written before it and told too much. `gain`: how much nearer a second model came with it, 0 to 1; None
    where none was asked, or could not be read.
    """

    text: str
    level: int
    dropped: tuple[Attempt, ...] = ()
    gain: float | None = None


class HintFailed(Exception):
    """No hint came about; the message says why, for coaches."""


@dataclass
class HintWriter:
    """Asks `writer`, and `guesser` where it is named, through a dispatcher. `tokens`: what a model may write, by alias."""

    dispatcher: Dispatcher
    run: str
    writer: str
    guesser: str = ""
    tokens: dict[str, int] = field(default_factory=dict)
    deadline_s: float = 300.0
    calls: int = 0
    spent: int = 0
    _without: float | None = None

    async def write(self, material: HintMaterial, secret: Secret, asked: int) -> HintWritten:
        """A hint for the rung that was asked for, or for a lower one. Raises `HintFailed`."""
        dropped: list[Attempt] = []
        for level in range(asked, max(asked - DROPS_AT_MOST, 0) - 1, -1):
            text = await self._text(readable(material, level), level)
            found = leaks_of(text, level=level, secrets=secret.texts_at(level), answer=secret.answer, known=secret.known)
            gain = None
            if not found and self.guesser and gain_limit(level) is not None:
                gain, found = await self._guessed(material, secret, level, text)
            if not found:
                return HintWritten(text=text, level=level, dropped=tuple(dropped), gain=gain)
            dropped.append(Attempt(level=level, text=text, leaks=found))
        told = "; ".join(dict.fromkeys(f"{leak.kind.value}: {leak.words}" for one in dropped for leak in one.leaks))
        raise HintFailed(f"Every text that it wrote told too much ({told[:300]}).")

    async def _text(self, material: HintMaterial, level: int) -> str:
        values = {
            "words": self._fenced(words_text(material)),
            "earlier": self._fenced(numbered(material.earlier).replace("Step ", "Hint ")) if material.earlier else NONE,
            "notes": self._fenced(notes_text(material)),
            "rung": rung_text(material, level),
        }
        answer = await self._ask(f"{level}/hint", WRITER, self.writer, material, values)
        refused = closing_match(answer, _NO_HINT, what="hint")
        if not isinstance(refused, Unscored):
            raise HintFailed(f"The model found nothing to say: {refused.group(1).strip()[:300]}")
        match = closing_match(answer, _HINT, what="hint")
        if isinstance(match, Unscored):
            raise HintFailed(f"What the model wrote cannot be read: {match.reason}.")
        text = match.group(1).strip()
        if not text or len(text) > LENGTH_AT_MOST:
            raise HintFailed("What the model wrote cannot be read: the hint is empty." if not text else "The hint is too long.")
        return text

    async def _guessed(
        self, material: HintMaterial, secret: Secret, level: int, text: str
    ) -> tuple[float | None, tuple[Leak, ...]]:
        """What a second model finds with the hint more than without it. A guess that cannot be read tells nothing."""
        try:
            if self._without is None:
                self._without = await self._near(material, secret, "guess/without", NONE)
            gain = await self._near(material, secret, f"guess/{level}", self._fenced(text)) - self._without
        except HintFailed:
            return None, ()
        limit = gain_limit(level)
        if limit is None or gain < limit:
            return gain, ()
        words = f"a second model finds {gain:.0%} more of a step of the solution with it"
        return gain, (Leak(kind=LeakKind.GUESS, words=words),)

    async def _near(self, material: HintMaterial, secret: Secret, key: str, hint: str) -> float:
        guess = await self._ask(key, GUESSER, self.guesser, material, {"hint": hint})
        return nearness(guess, secret.solutions, secret.known)

    async def _ask(self, key: str, prompt: str, alias: str, material: HintMaterial, values: dict[str, str]) -> str:
        shared = {
            "fence_rule": load("shared/forms/fence_rule").system,
            "problem": self._fenced(material.problem),
            "script": self._fenced(script_text(material)),
        }
        try:
            request = GenerationRequest(
                run=self.run,
                key=key,
                role=prompt.split("/")[1],
                alias=alias,
                messages=render(load(prompt), shared | values).messages,
                sampling=Sampling(temperature=0.4, max_new_tokens=self.tokens.get(alias, 2048)),
                seed=len(key),
                deadline_s=self.deadline_s,
                priority=3,
            )
            final = await self.dispatcher.dispatch(request)
        except (BackendError, PromptError) as error:
            raise HintFailed(str(error)) from error
        self._counted(final)
        answer = whole_answer(final)
        if isinstance(answer, Unscored):
            raise HintFailed(f"What the model wrote cannot be read: {answer.reason}.")
        return answer

    def _counted(self, final: Final) -> None:
        self.calls += 1
        self.spent += final.usage.prompt + final.usage.completion

    def _fenced(self, text: str) -> str:
        return fence(clean_text(text), secrets.token_hex(6))
