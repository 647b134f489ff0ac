"""The last line `Answer: …` of solutions of problems with an answer: the prompt asks for it, and again if it is missing."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Generic, Protocol, TypeVar

from apps.reasoning.answers.final import final_answer
from apps.reasoning.domain.errors import BudgetExhausted
from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.domain.values import Unscored
from apps.reasoning.prompts.loader import RenderedPrompt, load
from apps.reasoning.reading.answers import answer_part
from apps.reasoning.reading.proofs import ReadProof
from apps.reasoning.scaffolds.running.hearing import SHORT, Heard, Reading, own

T = TypeVar("T")
#: A separate folder: graders use `shared/` too, but never ask for an answer line.
METHOD = "answers"
MISSING = "it states no final answer"
LONGEST_LINE = 300
#: A bare value has no words outside its formulas.
_WORDS, _FORMULA = re.compile(r"[^\W\d_]{3,}"), re.compile(r"\$[^$]*\$|\\\(.*?\\\)")
_DECLINES = re.compile(
    r"\b(?:cannot|can't|can’t|can not|could not|unable|unknown|undetermined|unclear|n/?a|don['’]t|do not|does not|did not|sorry"
    r"|not (?:been |yet )?(?:determined|known|sure|possible|stated|given|applicable|available|enough|found|reached|clear)"
    r"|no (?:final |definite |single |such |clear )?(?:answer|conclusion|value|result) (?:is|was|can|could|has)"
    r"|no (?:final )?answer)\b",
    re.IGNORECASE,
)


def answer_line(problem: ProblemText) -> str:
    """The request for an answer line; "" for a problem without an answer."""
    return load("answers/forms/answer_line").system if problem.answer.strip() else ""


class Hears(Protocol[T]):
    """Makes a call and reads its answer, as `hearing.heard` does."""

    def __call__(self, *, reading: Reading[T]) -> Awaitable[Heard[T]]: ...


@dataclass
class AnswerAsked(Generic[T]):
    """A reading of solutions whose second question asks for the missing answer line alone; the solution is kept as it is.

    `proof_of`: the solution in what was read, if any. `completed`: the same with another solution.
    """

    reading: Reading[T]
    prompt: RenderedPrompt
    proof_of: Callable[[T], ReadProof | None]
    completed: Callable[[T, ReadProof], T]
    _without: list[tuple[T, ReadProof, Final]] = field(default_factory=list)
    _is_asked: bool = False

    async def hear(self, key: str, problem: ProblemText, ask: "Hears[T]") -> Heard[T]:
        """What `ask` hears by this reading, without that question if the problem has no answer.

        The call is `key`, which wrote the solution, also if a second one wrote the line.
        """
        reading = replace(self.reading, read=self._read, instead=self._instead) if problem.answer.strip() else self.reading
        try:
            found = await ask(reading=reading)
        except BudgetExhausted:  # At the second question: the solution is there, and the next call ends the search.
            if not self._is_asked:
                raise
            found = Heard(Unscored(reason=MISSING), key)
        if not self._is_asked:
            return found
        value, _, first = self._without[-1]
        return Heard(value if isinstance(found.value, Unscored) else found.value, key, first)

    def _read(self, final: Final) -> T | Unscored:
        found = own(self.reading.read(final), final, self.prompt)
        proof = None if isinstance(found, Unscored) else self.proof_of(found)
        if isinstance(found, Unscored) or proof is None or final_answer(proof.text).is_stated:
            return found
        if line := _below(final):
            return self.completed(found, _with_line(proof, line))
        self._without.append((found, proof, final))
        return Unscored(reason=MISSING)

    def _instead(self, final: Final) -> Reading[T]:
        if not self._without:
            return self.reading
        self._is_asked = True
        return Reading(self.reading.read, "answers/forms/answer_again", self._read_line, tokens=SHORT, is_kept=True)

    def _read_line(self, second: Final, first: str) -> T | Unscored:
        value, proof, _ = self._without[-1]
        if not (stated := _stated(second)):
            return Unscored(reason=MISSING)
        return self.completed(value, _with_line(proof, stated))


def _with_line(proof: ReadProof, answer: str) -> ReadProof:
    last = f"{proof.steps[-1]}\n\nAnswer: {answer}"
    return proof.model_copy(update={"steps": (*proof.steps[:-1], last)})


def _below(final: Final) -> str:
    """The answer in a line below the tag that closes the proof; "" if there is none."""
    said = answer_part(final.text)
    _, closed, rest = ("", "", "") if isinstance(said, Unscored) else said.rpartition("</proof>")
    found = final_answer(rest)
    return found.text if closed and found.is_stated and _is_answer(found.text) else ""


def _stated(second: Final) -> str:
    """The answer in a second answer, which may be the bare value; "" if there is none, or words that there is none."""
    said = answer_part(second.text)
    if isinstance(said, Unscored):
        return ""
    found = final_answer(said)
    is_value = "\n" not in said.strip() and not _WORDS.search(_FORMULA.sub("", said))
    return found.text if (found.is_stated or is_value) and _is_answer(found.text) else ""


def _is_answer(said: str) -> bool:
    return bool(re.search(r"\w", said)) and not _DECLINES.search(said) and len(said) <= LONGEST_LINE
