"""The last line `Answer: …` of solutions of problems with an answer: the prompt asks for it, and again if it is missing."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Generic, Protocol, TypeVar

from apps.reasoning.answers.final import final_answer
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
_UNKNOWN = ("unknown", "none", "")


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
        found = await ask(reading=reading)
        if not self._is_asked:
            return found
        value, _, first = self._without[-1]
        return Heard(value if isinstance(found.value, Unscored) else found.value, key, first)

    def _read(self, final: Final) -> T | Unscored:
        found = own(self.reading.read(final), final, self.prompt)
        proof = None if isinstance(found, Unscored) else self.proof_of(found)
        if isinstance(found, Unscored) or proof is None or final_answer(proof.text).is_stated:
            return found
        self._without.append((found, proof, final))
        return Unscored(reason=MISSING)

    def _instead(self, final: Final) -> Reading[T]:
        if not self._without:
            return self.reading
        self._is_asked = True
        return Reading(self.reading.read, "answers/forms/answer_again", self._read_line, tokens=SHORT)

    def _read_line(self, second: Final, first: str) -> T | Unscored:
        value, proof, _ = self._without[-1]
        stated = _stated(second)
        if stated.lower().strip("$. ") in _UNKNOWN:
            return Unscored(reason=MISSING)
        last = f"{proof.steps[-1]}\n\nAnswer: {stated}"
        return self.completed(value, proof.model_copy(update={"steps": (*proof.steps[:-1], last)}))


def _stated(second: Final) -> str:
    """The answer in a second answer, which may be the bare value; "" if there is none."""
    said = answer_part(second.text)
    if isinstance(said, Unscored):
        return ""
    found = final_answer(said)
    return found.text if (found.is_stated or "\n" not in said.strip()) and len(found.text) <= LONGEST_LINE else ""
