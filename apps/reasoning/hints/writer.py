"""Write a hint with a model, test it for leaks, and try a lower level if it reveals too much.

Two tests: a comparison of words (`feedback.leaks`) and, if a second model is given, how much of the solution that model finds
with the hint and without it (`feedback.guessing`). Neither is proof; a coach decides.
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
#: Most retries at a lower level after a hint that reveals too much.
DROPS_AT_MOST = 2
LENGTH_AT_MOST = 2_000

_HINT, _NO_HINT = tag_pattern("hint"), tag_pattern("no-hint")


class Attempt(Value):
    """A rejected text that reveals too much for its level."""

    level: int
    text: str
    leaks: tuple[Leak, ...]


class HintWritten(Value):
    """A hint that passed its tests. `level`: its rung, the requested one or a lower one.

    `dropped`: earlier texts that reveal too much. `gain`: how much closer a second model came with it, 0 to 1; None without a
    readable second model.
    """

    text: str
    level: int
    dropped: tuple[Attempt, ...] = ()
    gain: float | None = None


class HintFailed(Exception):
    """No hint could be written; the message gives coaches the reason."""


@dataclass
class HintWriter:
    """Call `writer` and, if given, `guesser` through a dispatcher. `tokens`: limit of an answer, by alias."""

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
        """Write a hint for the requested rung or a lower one. Raises `HintFailed`."""
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
        revealed = "; ".join(dict.fromkeys(f"{leak.kind.value}: {leak.words}" for one in dropped for leak in one.leaks))
        raise HintFailed(f"Every hint that the model wrote reveals too much ({revealed[:300]}). Write one yourself.")

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
            raise HintFailed(f"The model declined to write a hint: {refused.group(1).strip()[:300]}")
        match = closing_match(answer, _HINT, what="hint")
        if isinstance(match, Unscored):
            raise HintFailed(f"The model's answer cannot be read: {match.reason}.")
        text = match.group(1).strip()
        if not text or len(text) > LENGTH_AT_MOST:
            raise HintFailed("The model's hint is empty." if not text else "The model's hint is too long.")
        return text

    async def _guessed(
        self, material: HintMaterial, secret: Secret, level: int, text: str
    ) -> tuple[float | None, tuple[Leak, ...]]:
        """How much more a second model finds with the hint than without it. Unreadable guesses are ignored."""
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
            raise HintFailed(f"The model's answer cannot be read: {answer.reason}.")
        return answer

    def _counted(self, final: Final) -> None:
        self.calls += 1
        self.spent += final.usage.prompt + final.usage.completion

    def _fenced(self, text: str) -> str:
        return fence(clean_text(text), secrets.token_hex(6))
