"""Read a summary: the new lemmas of a round, from tags, JSON or Markdown. Malformed lemmas are reported, never completed."""

import re

from pydantic import ConfigDict, Field, ValidationError

from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.reading.answers import answer_part, tag_pattern, without
from apps.reasoning.reading.closings import json_within
from apps.reasoning.reading.echoes import is_of_instructions
from apps.reasoning.reading.listed_lemmas import listed_lemmas

_LEMMA = re.compile(
    r"<lemma\s+number\s*=\s*[\"']?([^\"'<>]{0,60}?)[\"']?\s*>(" + without(r"lemma\b") + r")</lemma>", re.IGNORECASE
)
_OPENED = re.compile(r"<lemma\b", re.IGNORECASE)
_NOTHING = re.compile(r"<no-lemmas\s*/?>", re.IGNORECASE)
_STATEMENT = tag_pattern("statement")
_STEP = tag_pattern("step")
_TITLE = tag_pattern("title")
_NUMBER = re.compile(r"(?:lemma\s*)?(\d{1,6})(-fixed\d*)?\Z", re.IGNORECASE)
_SUBSTANCE = re.compile(r"\w")
#: A lemma before it is checked: number, statements, steps, titles.
_Block = tuple[str, list[str], list[str], list[str]]
#: A longer title repeats the statement; it is left out.
_LONGEST_TITLE = 90


class SummaryLemmaJson(Value):
    """One lemma in the structured form. Engines are asked for a title; an answer without one is read too."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    number: str = Field(coerce_numbers_to_str=True)
    title: str = ""
    statement: str
    steps: tuple[str, ...]


class SummaryJson(Value):
    """The structured form of a summary; engines receive its JSON Schema."""

    lemmas: tuple[SummaryLemmaJson, ...]


class ReadLemma(Value):
    """A lemma as it was written. `fixes`: it corrects the lemma of the same number. `title`: a few words, "" without."""

    number: int
    fixes: bool
    statement: str
    steps: tuple[str, ...]
    title: str = ""


class Summary(Value):
    """The lemmas of a summary in the order written, and its unreadable parts."""

    lemmas: tuple[ReadLemma, ...]
    unread: tuple[str, ...] = ()


def read_summary(final: Final, prompt: str = "") -> Summary | Unscored:
    """The new lemmas. An answer with neither a lemma nor an explicit "nothing new" is Unscored, as is one whose lemmas are all
    copied from the form in its `prompt`.

    Lemmas that were finished before the token limit cut the text off are kept; the cut is reported in `unread`.
    """
    answer = answer_part(final.text)
    if isinstance(answer, Unscored):
        return answer
    cut = final.finish_reason != "stop"
    blocks = _json_blocks(answer)
    if blocks is None:
        blocks = [
            (match[1], _STATEMENT.findall(match[2]), _STEP.findall(match[2]), _TITLE.findall(match[2]))
            for match in _LEMMA.finditer(answer)
        ]
        listed = [] if blocks or _OPENED.search(answer) else _listed_blocks(answer, is_cut=cut)
        if isinstance(listed, Unscored):
            return listed
        if not blocks and not listed and not _OPENED.search(answer) and _NOTHING.search(answer) and not cut:
            return Summary(lemmas=())
        blocks = blocks or listed
        if not blocks:
            return Unscored(reason="the text was cut off before a lemma was finished" if cut else "there is no <lemma>")
    summary = _checked(blocks)
    unread = [*summary.unread]
    if cut:
        unread.append("the text was cut off at its token limit; later lemmas may be missing")
    elif len(_OPENED.findall(answer)) > len(blocks):
        unread.append("a <lemma> was opened and not closed")
    if not summary.lemmas and unread:
        return Unscored(reason="; ".join(unread))
    if summary.lemmas and all(is_of_instructions(lemma.statement, prompt) for lemma in summary.lemmas):
        return Unscored(reason="its lemmas are the words of the form that was asked for")
    return Summary(lemmas=tuple(_untitled(lemma, prompt) for lemma in summary.lemmas), unread=tuple(unread))


def read_results(work: str) -> Summary | None:
    """The results that a reasoner's text lists with their proofs; None if it lists none, or does so unclearly."""
    blocks = _listed_blocks(work, is_cut=False)
    summary = _checked(blocks) if isinstance(blocks, list) else None
    if summary is None or not summary.lemmas:
        return None
    unread = (
        (f"{len(summary.unread)} listed results have no statement or no proof",) if len(summary.unread) > 1 else summary.unread
    )
    return summary.model_copy(update={"unread": unread})


def _listed_blocks(answer: str, *, is_cut: bool) -> list[_Block] | Unscored:
    """The lemmas of a text in Markdown. The last lemma of a cut-off text is unfinished."""
    listed = listed_lemmas(answer)
    if isinstance(listed, Unscored):
        return listed
    if listed and _NOTHING.search(answer):
        return Unscored(reason="it gives lemmas and says that there is none")
    return [(one.number, [one.statement], one.steps, []) for one in (listed[:-1] if is_cut else listed)]


def _json_blocks(answer: str) -> list[_Block] | None:
    value = json_within(answer, "lemmas")
    if value is None:
        return None
    try:
        parsed = SummaryJson.model_validate(value)
    except ValidationError:
        return None
    return [(lemma.number, [lemma.statement], list(lemma.steps), [lemma.title]) for lemma in parsed.lemmas]


def _checked(blocks: list[_Block]) -> Summary:
    lemmas: dict[tuple[int, bool], ReadLemma] = {}
    unread: list[str] = []
    for raw_number, statements, raw_steps, titles in blocks:
        steps = tuple(step.strip() for step in raw_steps if _SUBSTANCE.search(step))
        number = _NUMBER.match(raw_number.strip())
        if number is None or int(number.group(1)) == 0:
            unread.append(f"a lemma is numbered {raw_number.strip()[:40]!r}")
        elif len(statements) != 1 or not _SUBSTANCE.search(statements[0]):
            unread.append(f"lemma {raw_number.strip()} does not have one statement")
        elif not steps:
            unread.append(f"lemma {raw_number.strip()} has no proof steps")
        else:
            lemma = ReadLemma(
                number=int(number.group(1)), fixes=bool(number.group(2)), statement=statements[0].strip(), steps=steps,
                title=_title(titles),
            )  # fmt: skip
            lemmas.pop((lemma.number, lemma.fixes), None)
            lemmas[(lemma.number, lemma.fixes)] = lemma
    return Summary(lemmas=tuple(lemmas.values()), unread=tuple(unread))


def _title(titles: list[str]) -> str:
    """The title on one line; "" if there is not exactly one, or if it is no short title."""
    title = " ".join(titles[0].split()) if len(titles) == 1 else ""
    return title if len(title) <= _LONGEST_TITLE and _SUBSTANCE.search(title) else ""


def _untitled(lemma: ReadLemma, prompt: str) -> ReadLemma:
    """The lemma without a title that is copied from the form in the prompt."""
    return lemma.model_copy(update={"title": ""}) if lemma.title and is_of_instructions(lemma.title, prompt) else lemma
