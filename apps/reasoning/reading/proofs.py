"""Read a final proof, a refusal to write one, and the reasoner's claim."""

import re
import string
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.reading.answers import answer_part, plain, read_json, tag_pattern, whole_answer
from apps.reasoning.reading.closings import Closing, json_within, text_around_json
from apps.reasoning.reading.echoes import SHORTEST_WHOLE, has_mathematics, is_of_instructions, is_of_problem, own_text
from apps.reasoning.reading.layouts import LaidOut, laid_out

Claim = Literal["complete", "partial"]

_CLAIMS: dict[str, Claim] = {"complete": "complete", "partial": "partial"}
#: How a proof was found: by its tags, under a heading, in the copied layout of its prompt, or as all that the answer holds,
#: whole or up to its token limit; `unchanged`: the writer handed in what it was given.
Way = Literal["tags", "heading", "layout", "whole", "cut", "unchanged"]
#: The same in words, for answers without the requested form.
WAY_WORDS = {
    "heading": "read from under its heading",
    "layout": "read from a copy of the prompt with another text in place of the given solution",
    "whole": "read as a whole",
    "cut": "cut off at its token limit, read as far as it goes",
    "unchanged": "handed in unchanged",
}

_PROOF = tag_pattern("proof")
_NO_PROOF = tag_pattern("no-proof")
_OPENED = re.compile(r"<proof(?:\s[^<>]{0,200})?>", re.IGNORECASE)
#: What belongs to the proof, in tags that say what is missing.
_ONLY_ANSWER = re.compile(r"\s*(?:final\s+)?answer\s*[:：][^\n]*\S\s*\Z", re.IGNORECASE)
_STEP_TAG = re.compile(r"</?step(?:\s[^<>]{0,200})?>", re.IGNORECASE)
_TAGS = re.compile(r"</?(?:proof|step|solution|no-proof|claim|own-score)\b[^<>]{0,200}>", re.IGNORECASE)
_HEADING = re.compile(
    r"^[ \t]*(?:(?P<marks>#{1,6})[ \t]*\**|\*\*)[ \t]*"
    r"(?:(?:(?P<revised>improved|corrected|revised|final)|complete|full|detailed)[ \t]+)?(?:proof|solution)\b"
    r"(?:[ \t]*[.:]?[ \t]*\*\*[ \t]*[.:]?|(?(marks)(?:[ \t]*[.:]+|(?![ \t]+of\b)[^\n.:]{0,60}$)|(?!)))",
    re.IGNORECASE | re.MULTILINE,
)
#: Definitions that a proof needs may precede its heading.
_SETS_UP = re.compile(
    r"^\W*(?:lemma|claim|theorem|proposition|corollary|definition|notation|set-?up|preliminar\w+)\b",
    re.IGNORECASE | re.MULTILINE,
)
#: "The solution provided is correct": words about a solution, not a solution.
_ABOUT = re.compile(
    r"\b(?:the|this|your) (?:(?:provided|given|original|first|above|improved|corrected) )*(?:solution|proof)"
    r"(?: provided| above)? (?:is|has|was|does|contains?|maintains|remains|provides)\b|\bverifier['’]s report\b",
    re.IGNORECASE,
)
#: Delimiters of the prompt's texts, which small models copy.
_MARKS = re.compile(r"^[ \t]*<<<(?:CONTENT|END)\b[^\n]*>>>[ \t]*$", re.MULTILINE)
#: Fields of JSON with the steps of a proof; the form asks for the first one.
_STEPS_FIELDS = ("steps", "proof", "solution")
_STEPS_OPENED = re.compile(r"^\s*(?:\{|\{[^{}]{0,400},)\s*\"steps\"\s*:\s*\[", re.MULTILINE)
_JSON_STRING = re.compile(r"\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_PARAGRAPHS = re.compile(r"\n\s*\n")
_SUBSTANCE = re.compile(r"\w")
_NOTHING = re.compile(
    r"(?:none|nothing|n/?a|no|(?:none|nothing)\b[^.\n]{0,60}\bis missing"
    r"|(?:the (?:proof|solution|problem) is (?:now )?(?:complete|solved|proved)\W{0,9})+)?\Z",
    re.IGNORECASE,
)
_SIGNS = f"{string.punctuation}{string.whitespace}…–—"


class ReadProof(Value):
    """A proof in steps. `text` is the steps as one text, a blank line between them; `way` how it was found."""

    steps: tuple[str, ...]
    way: Way = "tags"

    @property
    def text(self) -> str:
        return "\n\n".join(self.steps)


class StepsJson(Value):
    """The structured form of a proof."""

    steps: Annotated[tuple[str, ...], Field(min_length=1)]


STEPS_SCHEMA: dict[str, Any] = StepsJson.model_json_schema()


class NoProof(Value):
    """The writer's statement that there is no complete solution, with what is missing."""

    reason: str


def read_proof(final: Final, prompt: str = "") -> ReadProof | NoProof | Unscored:
    """The last proof by its tags; else the text under a heading; else the whole answer. A refusal counts without a whole proof.

    `prompt`: what was asked. An answer of which half or more repeats it is an echo, and no proof, unless it has another
    solution in place of the given one. Nor is an example of the prompt a proof. A text that was cut off is read as far as it
    goes.
    """
    answer = answer_part(final.text)
    if isinstance(answer, Unscored):
        return answer
    found = _read(answer, prompt, is_cut=final.finish_reason != "stop")
    if isinstance(found, ReadProof) and all(is_of_instructions(step, prompt) for step in found.steps):
        return Unscored(reason="it copies the example of what was asked")
    if isinstance(found, ReadProof) and all(is_of_problem(step, prompt) for step in found.steps):
        return Unscored(reason="it only repeats the problem")
    return found


def _read(answer: str, prompt: str, *, is_cut: bool) -> ReadProof | NoProof | Unscored:
    value = json_within(answer, *_STEPS_FIELDS)
    if (
        value is not None
        and not _PROOF.search(text_around_json(answer, *_STEPS_FIELDS))
        and isinstance(found := _json_steps(value), ReadProof)
    ):
        return found
    if is_cut and (opened_json := _STEPS_OPENED.search(answer)):
        return _cut_steps(answer[opened_json.end() :])
    answer = _after_a_refusal(_NO_PROOF.sub(lambda found: found[1] if _ONLY_ANSWER.match(found[1]) else found[0], answer))
    proofs, refusals = list(_PROOF.finditer(answer)), list(_NO_PROOF.finditer(answer))
    if any(_is_whole(one[1], prompt) for one in proofs):
        refusals = []  # It is judged as it is, whatever is said about it below.
    if refusals and (not proofs or refusals[-1].start() > proofs[-1].start()):
        reason, rest = refusals[-1][1].strip(), _NO_PROOF.sub("", answer).strip()
        # "None" after a proof means that nothing is missing.
        if not (_NOTHING.match(reason.strip(_SIGNS)) and (proofs or len(rest) >= SHORTEST_WHOLE)):
            return NoProof(reason=reason) if _SUBSTANCE.search(reason) else Unscored(reason="it declines without a reason")
        answer = rest
    if proofs:
        # `<proof>...</proof>` below a proof is a copy of the form.
        said = [one for one in proofs if _SUBSTANCE.search(one[1])] or proofs
        return read_steps(_NO_PROOF.sub("\n\n", said[-1][1]))
    starts = (one.end() for one in reversed(list(_OPENED.finditer(answer))))
    opened = next((start for start in starts if _SUBSTANCE.search(answer, start)), None)
    return _without_form(answer[opened or 0 :], prompt, is_cut=is_cut, is_opened=opened is not None)


def _is_whole(body: str, prompt: str) -> bool:
    """Whether a text in the tags of a proof is more than a few words, and no copy of the prompt."""
    text = _TAGS.sub("", body).strip()
    return len(text) >= SHORTEST_WHOLE and not is_of_instructions(text, prompt) and not is_of_problem(text, prompt)


def _after_a_refusal(answer: str) -> str:
    """The proof that was opened after the last refusal, if there is one; else all."""
    for refusal in list(_NO_PROOF.finditer(answer))[-1:]:
        rest = answer[refusal.end() :]
        if (opened := _OPENED.search(rest)) and len(rest) - opened.end() >= SHORTEST_WHOLE:
            return rest
    return answer


def _cut_steps(written: str) -> ReadProof | Unscored:
    """The steps that were finished before the token limit cut off their list."""
    whole = "[" + ", ".join(match[0] for match in _JSON_STRING.finditer(written)) + "]"
    value = read_json('{"steps": ' + whole + "}")
    found = _json_steps(value) if value is not None else Unscored(reason="its steps cannot be read")
    return found.model_copy(update={"way": "cut"}) if isinstance(found, ReadProof) else found


def _json_steps(value: dict[str, Any]) -> ReadProof | Unscored:
    named = [value[name] for name in _STEPS_FIELDS if isinstance(value.get(name), list)]
    try:
        steps = StepsJson.model_validate({"steps": named[0]} if len(named) == 1 else value).steps
    except ValidationError:
        return Unscored(reason="the JSON object does not have the steps asked for")
    cleaned = (_TAGS.sub("", step).strip() for step in steps)
    kept = tuple(step for step in cleaned if _SUBSTANCE.search(step))
    return ReadProof(steps=kept) if kept else Unscored(reason="the proof is empty")


def _without_form(answer: str, prompt: str, *, is_cut: bool, is_opened: bool) -> ReadProof | Unscored:
    """A proof that no tag closes: what was opened, what is in place of the given solution or under a heading, or all of it."""
    answer = _TAGS.sub("\n\n", answer)
    copied = laid_out(answer, prompt, is_cut=is_cut)
    if isinstance(copied, LaidOut):
        found = read_steps(copied.text)
        way: Way = "cut" if is_cut and copied.is_last else "layout"
        return found.model_copy(update={"way": way}) if isinstance(found, ReadProof) else found
    own = own_text(answer, prompt, in_fences=copied is None, heading=_HEADING)
    if isinstance(own, Unscored):
        return copied or Unscored(reason=f"there is no <proof>, and {own.reason}")
    body = own if is_opened else _under_heading(own)
    if _ABOUT.search(body) and not has_mathematics(body):
        return Unscored(reason="there is no <proof>, and it talks about a solution without handing one in")
    found = read_steps(body)
    if isinstance(found, Unscored):
        return found
    way = "cut" if is_cut else "tags" if is_opened else "heading" if body is not own else "whole"
    return found.model_copy(update={"way": way})


def _under_heading(text: str) -> str:
    """The text after the heading of its proof, the last one if that is a revised proof. All of it where there is no heading, or
    what the proof uses comes before it.
    """
    headings = [match for match in _HEADING.finditer(text) if len(text) - match.end() >= SHORTEST_WHOLE]
    if not headings or _SETS_UP.search(text, 0, headings[0].start()):
        return text
    return text[headings[-1 if headings[-1]["revised"] else 0].end() :]


def read_steps(body: str) -> ReadProof | Unscored:
    """The steps of a proof: the texts in and between its step tags; its paragraphs if it has no tags."""
    pieces = _STEP_TAG.split(body) if _STEP_TAG.search(body) else _PARAGRAPHS.split(body)
    cleaned = (_MARKS.sub("", _TAGS.sub("", piece)).strip() for piece in pieces)
    steps = tuple(piece for piece in cleaned if _SUBSTANCE.search(piece))
    return ReadProof(steps=steps) if steps else Unscored(reason="the proof is empty")


def read_claim(final: Final) -> Claim | Unscored:
    """What the reasoner's last claim says, word for word."""
    answer = whole_answer(final)
    if isinstance(answer, Unscored):
        return answer
    said = CLAIM.read(answer)
    return said if isinstance(said, Unscored) else said.value


def read_claim_again(second: Final, first: str) -> Claim | Unscored:
    """The claim from a second question."""
    answer = whole_answer(second)
    return answer if isinstance(answer, Unscored) else CLAIM.again(answer)


def _claimed(written: str) -> Claim | None:
    return _CLAIMS.get(plain(written).lower())


CLAIM: Closing[Claim] = Closing("claim", "claim", _claimed, ("claim", "status"))
