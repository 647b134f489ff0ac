"""Read what a model does in a turn: exactly one action, its code, its question, its report.

Source: AlphaApollo §2.1 and App. B (reasoning notes §8). An action is a tagged block, or the call of a function of that name.
Nothing is guessed: no action, or more than one, is `Unscored` with a reason that the model receives.
"""

import functools
import json
import re
from collections.abc import Sequence
from typing import Literal, get_args

from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.reading.answers import answer_part, plain, whole_answer
from apps.reasoning.reading.choices import passes
from apps.reasoning.reading.closings import Closing, Said
from apps.reasoning.reading.decoded import keepable, why_unread
from apps.reasoning.reading.echoes import own_text
from apps.reasoning.reading.proofs import ReadProof, read_proof
from apps.reasoning.reading.turns.code import fenced_code
from apps.reasoning.reading.turns.tool_calls import OPENING, Called, bare_calls, read_call

LONGEST_QUERY = 400
LIBRARIES = ("sympy", "scipy", "numpy", "math", "cmath", "fractions", "itertools", "networkx")
#: The second index: lemmas that people and runs have proved.
THEOREMS = "theorems"
#: The third: lemmas accepted in earlier runs. Only runs with the option `earlier_lemmas` may search it.
LEMMAS = "lemmas"
_REPORT_TAG = re.compile(r"</?report>", re.IGNORECASE)
_JUDGEMENT = re.compile(r"[\s$*`(\[\\]*(?:\\boxed\s*\{\s*([01])\s*\}|([01]))[\s.$*`\\)\]]*")

_WORD = re.compile(r"(?:the (?:solution|proof) is )?(?:(incorrect|not correct|wrong)|correct)", re.IGNORECASE)
_LAST_SENTENCE = re.compile(
    r"(?:^|[.!?])\s+(?:(?:therefore|thus|hence|so|overall|in conclusion),?\s+)?the (?:given )?(?:solution|proof) is "
    r"(?:indeed )?(?:(incorrect|not correct|wrong)|correct)[.!*`\s]*\Z",
    re.IGNORECASE,
)
LABELS = ("judgement", "final judgement", "judgment", "final judgment", "verdict", "final verdict")

Kind = Literal["python_code", "local_rag", "check_formulas", "answer", "report", "claim"]
Finishing = Literal["answer", "report", "claim"]
_KINDS: dict[str, Kind] = {kind: kind for kind in get_args(Kind)}
#: Tools offered in a turn, unless a run offers others.
TOOLS: tuple[Kind, ...] = ("python_code", "local_rag")


@functools.cache
def _opening(tools: Sequence[Kind]) -> re.Pattern[str]:
    """The opening tag of an action. The tag of a tool that is not offered is text."""
    return re.compile(rf"<({'|'.join([*tools, 'answer', 'report', OPENING])})>", re.IGNORECASE)


_OPENED = _opening(TOOLS)


class Action(Value):
    """The action of a turn and the text before it. `called`: written as a function call or as JSON, not as a block."""

    kind: Kind
    content: str
    before: str = ""
    called: bool = False


class Query(Value):
    """A question to the documentation; `library` is empty if it names no known library."""

    library: str
    query: str


class Report(Value):
    """An evaluator's report with its judgement."""

    correct: bool
    text: str


def read_action(
    final: Final, finishing: Finishing, stops: Sequence[str] = (), *, tools: tuple[Kind, ...] = TOOLS
) -> Action | Unscored:
    """The one action of a turn; `finishing` is the one that ends this conversation. Tags inside an action are its content.

    `stops` are the closing tags at which the model was stopped, which an engine leaves out. Without any tag, the JSON of a call
    or a block of code in Markdown is the action. `tools`: the tools that are offered.
    """
    opening = _opening(tools)
    answer = whole_answer(final)
    if isinstance(answer, Unscored):
        return answer
    answer += _stopped_at(answer, stops, opening)
    found: list[Action] = []
    at = 0
    while (opened := opening.search(answer, at)) is not None:
        at = opened.end()
        before = answer[: opened.start()].strip()
        if opened.group(1).lower() == OPENING:
            called, at = read_call(answer, at)
            action = called if isinstance(called, Unscored) else _of_function(called, before, finishing, tools)
            if isinstance(action, Unscored):
                return action
            found.append(action)
            continue
        kind = _KINDS[opened.group(1).lower()]
        if kind in ("answer", "report") and kind != finishing:
            continue
        closed = _closing(kind, answer, at)
        if closed is None:
            return Unscored(reason=f"<{kind}> was opened and not closed")
        inner = list(re.compile(rf"^[ \t]*<{kind}>", re.IGNORECASE | re.MULTILINE).finditer(answer, at, closed.start()))
        if inner:  # The first tag was only mentioned: "I will use <python_code> to test."
            at, before = inner[-1].end(), answer[: inner[-1].start()].strip()
        found.append(Action(kind=kind, content=answer[at : closed.start()].strip("\n"), before=before))
        at = closed.end()
    if not found and opening.search(answer) is None:
        return _untagged(answer, finishing, tools)
    return _only(found, finishing, tools)


def _untagged(answer: str, finishing: str, tools: Sequence[Kind]) -> Action | Unscored:
    """The action of a text without tags: the one call that it writes as JSON, once or again, or its one block of Python."""
    found: list[Action] = []
    for called, at in bare_calls(answer):
        action = called if isinstance(called, Unscored) else _of_function(called, answer[:at].strip(), finishing, tools)
        if isinstance(action, Unscored):
            return action
        if all((one.kind, one.content) != (action.kind, action.content) for one in found):
            found.append(action)
    if not found and "python_code" in tools:
        before = answer.partition("```")[0].strip()
        found = [Action(kind="python_code", content=block, before=before) for block in fenced_code(answer)]
    return _only(found, finishing, tools)


def _stopped_at(answer: str, stops: Sequence[str], opening: re.Pattern[str]) -> str:
    """The closing tag at which an answer was stopped, where its last block is open and would end with it."""
    opened = list(opening.finditer(answer))
    tag = f"</{opened[-1].group(1).lower()}>" if opened else ""
    return tag if tag in stops and tag not in answer[opened[-1].end() :].lower() else ""


def _closing(kind: Kind, answer: str, at: int) -> re.Match[str] | None:
    """The tag that ends a block: the first one.

    If text follows it on its line, as in a string of the code, it is the next one alone on a line, before any other opening.
    """
    first = re.compile(rf"</{kind}>", re.IGNORECASE).search(answer, at)
    if first is None or not answer[first.end() :].partition("\n")[0].strip():
        return first
    opened = _OPENED.search(answer, first.end())
    own_line = re.compile(rf"^[ \t]*</{kind}>[ \t]*$", re.IGNORECASE | re.MULTILINE)
    return own_line.search(answer, first.end(), opened.start() if opened else len(answer)) or first


def _only(found: Sequence[Action], finishing: str, tools: Sequence[Kind]) -> Action | Unscored:
    if not found:
        named = " nor ".join(f"<{name}>" for name in (*tools, finishing))
        return Unscored(reason=f"there is no action: neither {named}")
    if len(found) > 1:
        return Unscored(reason=f"there are {len(found)} actions, and a turn has one")
    if not found[0].content.strip():
        return Unscored(reason=f"<{found[0].kind}> is empty")
    return found[0]


def _of_function(called: Called, before: str, finishing: str, tools: Sequence[Kind]) -> Action | Unscored:
    """The action that a function call expresses."""
    if called.name not in tools:
        *others, last = tools
        offered = f"there are {', '.join(others)} and {last}" if others else f"there is {last}"
        return Unscored(reason=f"there is no function {called.name[:80]}: {offered}, and <{finishing}> is written as a block")
    if called.name == "local_rag":
        asked = {name: called.arguments.get(name) for name in ("library", "repo_name", "query")}
        return Action(kind="local_rag", content=json.dumps(asked, ensure_ascii=False), before=before, called=True)
    if called.name == "check_formulas":
        text = called.arguments.get("text")
        if not isinstance(text, str):
            return Unscored(reason="check_formulas was called without its argument `text`")
        return Action(kind="check_formulas", content=text.strip("\n"), before=before, called=True)
    code = called.arguments.get("code")
    if not isinstance(code, str):
        return Unscored(reason="python_code was called without its argument `code`, a text")
    return Action(kind="python_code", content=code.strip("\n"), before=before, called=True)


def read_handed_in(final: Final, prompt: str, *, is_last: bool) -> ReadProof | Unscored:
    """A solution handed in without its form: an unclosed <answer>, or a proof found by its tags or heading.

    In the last turn (`is_last`), where nothing else may come, the whole answer counts; `prompt` as in `read_proof`.
    """
    answer = answer_part(final.text)
    if isinstance(answer, Unscored):
        return answer
    opened = list(_OPENED.finditer(answer))
    if any(one.group(1).lower() != "answer" for one in opened):
        return Unscored(reason="it takes another action")
    if opened:
        final = final.model_copy(update={"text": f"<proof>\n{answer[opened[-1].end() :]}"})
    found = read_proof(final, prompt)
    if isinstance(found, ReadProof):
        named = bool(opened) or found.way in ("tags", "heading")
        return found if is_last or named else Unscored(reason="it may be thinking aloud")
    return Unscored(reason=found.reason)


def read_query(content: str, libraries: Sequence[str] = (*LIBRARIES, THEOREMS)) -> Query | Unscored:
    """A question as JSON with `library` and `query`, or in plain words."""
    library, query = "", content.strip()
    if query.startswith("{"):
        try:
            asked = keepable(json.loads(query))
        except (ValueError, RecursionError) as error:
            return Unscored(reason=f"the JSON object of <local_rag> is not valid: {why_unread(error)}")
        library, query = str(asked.get("library") or asked.get("repo_name") or ""), str(asked.get("query") or "")
    library = library.strip().lower()
    if not query.strip():
        return Unscored(reason="<local_rag> asks nothing: `query` is missing")
    known = library if library in libraries else ""
    return Query(library=known, query=" ".join(query.split())[:LONGEST_QUERY])


def read_judgement_again(said: str, report: str) -> Report | Unscored:
    """The report with the judgement from a second question: 1 or 0, alone or as its last line."""
    alone = _judging(said)
    return read_report(said) if alone is None else judged(alone, report)


def read_report(content: str) -> Report | Unscored:
    """A report whose last line is its judgement and nothing else: 1 for correct, 0 for not.

    A line that merely ends with a digit speaks of the mathematics, as "the claim is false for n = 1" does.
    """
    text, _, line = content.strip().rpartition("\n")
    said = _said_alone(line)
    if said is None:
        found = _judged_in_words(content)
        return Unscored(reason="the last line of the report is not 1 or 0 alone") if found is None else judged(*found)
    return judged(said, text)


def read_report_in_words(final: Final, prompt: str) -> Report | Unscored:
    """A report without its tags: a text that names its judgement ("Verdict: incorrect") and takes no other action."""
    answer = whole_answer(final)
    if isinstance(answer, Unscored):
        return answer
    if _OPENED.search(answer):
        return Unscored(reason="it takes another action")
    found, own = _judged_in_words(answer), own_text(answer, prompt)
    if found is None or isinstance(own, Unscored):
        return own if isinstance(own, Unscored) else Unscored(reason="it names no judgement")
    return judged(*found)


def _judged_in_words(text: str) -> tuple[bool, str] | None:
    """The judgement on a line of its name, or in the last sentence, with the text that leads to it."""
    closing = JUDGEMENT.read(text)
    if isinstance(closing, Said):
        return closing.value, closing.before
    found = _LAST_SENTENCE.search(text)
    return (not found[1], text) if found else None


def judged(correct: bool, text: str) -> Report | Unscored:
    """A report with its judgement; Unscored if it passes a solution although its text names a mistake."""
    text = _REPORT_TAG.sub("", text).strip()
    found = passes(correct, text)
    return found if isinstance(found, Unscored) else Report(correct=found, text=text)


def _said_alone(written: str) -> bool | None:
    """The value of a line that is only 1 or 0."""
    found = _JUDGEMENT.fullmatch(written)
    return None if found is None else (found.group(1) or found.group(2)) == "1"


def _judging(written: str) -> bool | None:
    """1 or 0, or the word for it: `correct`, `The solution is incorrect.`"""
    said = _WORD.fullmatch(plain(written))
    return _said_alone(written) if said is None else not said[1]


JUDGEMENT = Closing("judgement", "judgement", _judging, LABELS)
