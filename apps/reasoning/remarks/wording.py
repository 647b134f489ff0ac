"""The question and the reason of a remark: their form, their reading and their leak tests."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.feedback.leaks import leaks_of, words_in
from apps.reasoning.graders.judging.answers import structure_in, validated
from apps.reasoning.graders.judging.asked_again import texts
from apps.reasoning.graders.judging.said import slug
from apps.reasoning.hints.material import Secret
from apps.reasoning.marking.sheets.sheet import Fallacy
from apps.reasoning.reading.answers import tag_pattern, whole_answer
from apps.reasoning.reading.schemas import TEXT, object_schema

#: The rungs of hints at which question and reason are tested.
QUESTION_LEVEL, REASON_LEVEL = 2, 3
QUESTION_LENGTH, REASON_LENGTH = 500, 1_000
WRAPPER = "remark"
_KIND = {"enum": [kind.value for kind in Fallacy]}
#: Of the first answer, and of the second one: texts of limited length may end in the middle of a sentence.
SCHEMA = object_schema({"kind": _KIND, "question": {"type": "string"}, "reason": {"type": "string"}})
SHORT_SCHEMA = object_schema({"kind": _KIND, "question": TEXT, "reason": texts(1, 2)})
_TAGS = {name: tag_pattern(name) for name in ("kind", "question", "reason")}


def _joined(said: object) -> object:
    """The text, joined if it is a list of sentences."""
    if isinstance(said, list) and all(isinstance(one, str) for one in said):
        said = " ".join(said)
    return said.strip() if isinstance(said, str) else said


class Wording(Value):
    """The words of a remark as written by a model."""

    kind: Annotated[Fallacy, BeforeValidator(slug)]
    question: Annotated[str, Field(min_length=1, max_length=QUESTION_LENGTH), BeforeValidator(_joined)]
    reason: Annotated[str, Field(min_length=1, max_length=REASON_LENGTH), BeforeValidator(_joined)]


def wording_read(final: Final) -> Wording | Unscored:
    """Read the words from the block, from its tags alone, or from a JSON object."""
    answer = whole_answer(final)
    if isinstance(answer, Unscored):
        return answer
    fields = structure_in(answer, WRAPPER, tuple(_TAGS), _of_tags)
    if isinstance(fields, Unscored) and _TAGS["question"].search(answer):
        fields = _of_tags(answer)
    read = fields if isinstance(fields, Unscored) else validated(fields, WRAPPER, Wording)
    return Unscored(reason="the question asks nothing") if isinstance(read, Wording) and "?" not in read.question else read


def _of_tags(body: str) -> dict[str, Any]:
    found = {name: pattern.findall(body) for name, pattern in _TAGS.items()}
    return {name: said[-1].strip() for name, said in found.items() if said}


def reveals(wording: Wording, secret: Secret) -> bool:
    """Whether the question or the reason reveals too much for its stage, or the question the reason."""
    return (
        leaks(wording.question, secret, QUESTION_LEVEL)
        or leaks(wording.reason, secret, REASON_LEVEL)
        or _contains(wording.question, wording.reason, secret)
    )


def leaks(text: str, secret: Secret, level: int) -> bool:
    """Whether a text reveals more of the secrets than a hint of this level may."""
    return bool(leaks_of(text, level=level, secrets=secret.texts_at(level), answer=secret.answer, known=secret.known))


def _contains(question: str, reason: str, secret: Secret) -> bool:
    """Whether the question contains the whole reason, a run of its words or one of its formulas."""
    asked, said = " ".join(words_in(question)), " ".join(words_in(reason))
    return f" {said} " in f" {asked} " or bool(leaks_of(question, level=QUESTION_LEVEL, secrets=[reason], known=secret.known))
