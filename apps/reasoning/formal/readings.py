"""Let a model read a claim formally, and let a second call compare the reading with the text.

The reading is one JSON object. Its strict reader is the caller's, so a reading that the reader refuses is requested once more
with the reason. The second call sees only the text and the sentence that says the reading.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, TypeVar

from apps.reasoning.domain.generation import Final, Place
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.formal.asking import FAILED, JUDGE, READER, FormalModel, Unread
from apps.reasoning.prompts.loader import load
from apps.reasoning.reading.answers import plain_word, whole_answer
from apps.reasoning.reading.closings import Closing, json_within
from apps.reasoning.reading.schemas import TEXT, object_schema
from apps.reasoning.scaffolds.candidates.desk import Desk
from apps.reasoning.scaffolds.running.hearing import SHORT, Reading

Choice = Literal["same", "different", "unsure"]
CHOICES: dict[str, Choice] = {"same": "same", "different": "different", "unsure": "unsure"}
#: Names, TeX and lists are short, and a backslash begins a command: a weak model would else repeat it up to the limit.
_TEX = {"type": "string", "pattern": r'^([^"\\$\n]|\\\\[A-Za-z{},;!]){1,120}$'}
_NAME = {"type": "string", "pattern": r"^([A-Za-z]|\\\\[a-z]{2,7})(_[A-Za-z0-9])?$"}
MOST_LISTED = 6


def _choice(said: str) -> str | None:
    return CHOICES.get(str(plain_word(said)))


_COMPARED = Closing("verdict", "verdict", _choice, ("verdict", "final verdict"))


class Sentenced(Protocol):
    """A reading with the sentence that says it."""

    @property
    def sentence(self) -> str: ...


S = TypeVar("S", bound=Sentenced)


class Claimed(Value):
    """A claim in its surroundings: the problem, the statement it belongs to, what precedes it, its sentence and its formula."""

    problem: str
    statement: str
    before: str
    sentence: str
    formula: str


@dataclass(frozen=True)
class ModelReading(Generic[S]):
    """What came of a claim. `verdict` is the second call's; without it or a reading, `reason` says why."""

    reading: S | None
    verdict: Choice | None = None
    reason: str = ""

    @property
    def counts(self) -> bool:
        return self.reading is not None and self.verdict == "same"


@dataclass(frozen=True)
class _Declined:
    """The model says that the claim has no such form."""


def reading_schema(domains: Sequence[str]) -> dict[str, Any]:
    """The JSON Schema of a reading whose names have one of the domains."""
    named = object_schema({"name": _NAME, "domain": {"enum": list(domains)}})
    return object_schema(
        {
            "names": {"type": "array", "items": named, "maxItems": MOST_LISTED},
            "conditions": {"type": "array", "items": _TEX, "maxItems": MOST_LISTED},
            "claim": _TEX,
        }
    )


async def read_claim(
    model: FormalModel,
    key: str,
    claimed: Claimed,
    domains: Sequence[str],
    strictly: Callable[[Mapping[str, Any]], S | None],
) -> ModelReading[S]:
    """Read a claim, and compare the reading with the text. Raises `Unread` if a call was not answered.

    `strictly` gives the reading in an object, None for a claim that the model declines, and raises `ValueError` with the
    reason for an object that does not count.
    """
    desk = model.desk(claimed.problem)
    said = await _written(desk, key, claimed, domains, strictly)
    if isinstance(said, Unscored):
        return ModelReading(None, reason=_reason(said))
    if isinstance(said, _Declined):
        return ModelReading(None, reason="the model says that the claim has no such form")
    verdict = await _compared(desk, key, claimed, said.sentence)
    if isinstance(verdict, Unscored):
        return ModelReading(said, reason=_reason(verdict))
    return ModelReading(said, verdict)


def _reason(unscored: Unscored) -> str:
    if unscored.reason.startswith(FAILED):
        raise Unread(unscored.reason.removeprefix(FAILED))
    return unscored.reason


async def _written(
    desk: Desk, key: str, claimed: Claimed, domains: Sequence[str], strictly: Callable[[Mapping[str, Any]], S | None]
) -> S | _Declined | Unscored:
    schema = reading_schema(domains)

    def read(final: Final, _: str = "") -> S | _Declined | Unscored:
        answer = whole_answer(final)
        if isinstance(answer, Unscored):
            return answer
        value = json_within(answer, "claim")
        if value is None:
            return Unscored(reason="there is no JSON object with a claim")
        try:
            found = strictly(value)
        except ValueError as error:
            return Unscored(reason=str(error))
        return _Declined() if found is None else found

    form = load("formal/forms/reading").system.replace("DOMAINS", ", ".join(f"`{one}`" for one in domains))
    again = {"answer_form": form, "answer_form_json": form}
    reading = Reading[S | _Declined](read, "form", read, schema, asks_json="form_json", values=again)
    heard = await desk.hear(
        f"{key}/read",
        role=READER,
        prompt="formal/reader",
        values={"answer_form": form, **_values(desk, claimed), "formula": desk.content(f"${claimed.formula}$")},
        place=Place(subject="reading"),
        reading=reading,
        schema=schema,
    )
    return heard.value


async def _compared(desk: Desk, key: str, claimed: Claimed, sentence: str) -> Choice | Unscored:
    schema = object_schema({"comparison": TEXT, "verdict": {"enum": list(CHOICES)}})

    def read(final: Final, _: str = "") -> Choice | Unscored:
        answer = whole_answer(final)
        if isinstance(answer, Unscored):
            return answer
        said = _COMPARED.again(answer)
        return said if isinstance(said, Unscored) else CHOICES[said]

    form = load("formal/forms/comparison").system
    again = {"answer_form": form, "answer_form_json": form}
    reading = Reading[Choice](read, "form", read, schema, tokens=SHORT, asks_json="form_json", values=again)
    marked = claimed.sentence.replace(claimed.formula, f"[[{claimed.formula}]]", 1)
    heard = await desk.hear(
        f"{key}/compare",
        role=JUDGE,
        prompt="formal/judge",
        values={
            "answer_form": form,
            **_values(desk, claimed.model_copy(update={"sentence": marked})),
            "reading": desk.content(sentence),
        },
        place=Place(subject="comparison"),
        reading=reading,
        schema=schema,
    )
    return heard.value


def _values(desk: Desk, claimed: Claimed) -> dict[str, Any]:
    """The surroundings of a claim. What precedes it may be shortened."""
    return {
        "problem": desk.growing("the problem", claimed.problem),
        "statement": desk.growing("the statement", claimed.statement),
        "before": desk.growing("the text before", claimed.before),
        "sentence": desk.content(claimed.sentence),
    }
