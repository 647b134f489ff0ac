"""Read verifier votes from tags, from JSON, or from the paper's box. An unreadable vote does not count.

The verdict must be the last thing of the answer, so that one quoted from the text under judgement is never taken for it.
A verdict that names a fault counts, unless prose without an objection calls the whole text right; one that names none counts
as the first fault of its own log, if it has one.
Every `<check` of the log is examined: a pass is unread if one of them says neither "yes" nor "no".
"""

import functools
import json
import re
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, ValidationError

from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.values import Unscored, Value, unchecked
from apps.reasoning.domain.verdicts import NO_FAULT, UNPLACED, StepCheck, Vote, counts_as_pass
from apps.reasoning.reading.answers import closing_match, plain, plain_word, whole_answer
from apps.reasoning.reading.closings import Closing, Said, json_within, text_around_json
from apps.reasoning.reading.objections import approves, objects
from apps.reasoning.reading.said_values import passing, with_minus

LONGEST_SUMMARY = 2000
_BOX = re.compile(r"\\box(?:ed)?\s*\{\s*\{?\s*((?:STEP|LEMMA)[^{}]*)\}?\s*\}", re.IGNORECASE)
_CHECK_OPENING = re.compile(r"<check\b([^<>]*)(>?)", re.IGNORECASE)
_CHECK_END = re.compile(r"</check>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"\b([a-z]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|[\"']?([^\"'\s>]*))", re.IGNORECASE)
_STEP = re.compile(r"(?:k\s*=\s*)?(?:step\s*)?(-?\d{1,6})(?![\w.])", re.IGNORECASE)
_SECOND = re.compile(r"\d|\bor\b|\?", re.IGNORECASE)
#: `3 steps`, `5 of the steps`, `step 3: fine` name no fault.
_PRAISED = re.compile(r"\b(?:of|steps|correct|sound|fine|ok|okay|valid|right|holds?)\b", re.IGNORECASE)
_NOT_PRAISED = re.compile(
    r"\b(?:not|n't|cannot|never)\s+(?:\w+\s+){0,2}?(?:correct|sound|fine|ok|valid|right|hold)\b", re.IGNORECASE
)
OBJECTS = Unscored(reason="it finds no fault and says that something is wrong")
APPROVES = Unscored(reason="it names a fault and calls the whole text right")
# "2", "step 2", "2-3", "steps 2 and 3", but not "2 or 3".
_STEPS = re.compile(r"(?:steps?\s*)?\d{1,6}(?:\s*(?:[-–—,&]|to\b|and\b)\s*(?:step\s*)?\d{1,6})*\Z")
_SOUND = {"yes": True, "true": True, "no": False, "false": False}
_FOUND = re.compile(r"(critical|gap|note)\b")
_LEMMA = re.compile(r"lemma\s*((?:s\d+\.|h\.|H)?\d{1,6}(?:-fixed\d*)?)\Z", re.IGNORECASE)

Severity = Literal["critical", "gap", "note", ""]
_SEVERITIES: dict[str, Severity] = {"critical": "critical", "gap": "gap", "note": "note"}


class CheckJson(Value):
    """One entry of the log in the structured form."""

    step: int
    sound: bool
    severity: Annotated[Severity, BeforeValidator(plain_word)] = ""
    comment: str = ""


class Fault(NamedTuple):
    """A verdict's fault: a step (-1 for none), a lemma, that there is nothing to judge, or, all empty, a fail at no step."""

    step: int | None = None
    lemma: str = ""
    is_format: bool = False


class Log(NamedTuple):
    """What a vote says before its verdict. `summary` holds its prose, and as they were written the checks that are not in
    `checks`: `unplaced` if one of them reports a fault, `unread` if one says neither "yes" nor "no"."""

    checks: tuple[StepCheck, ...]
    summary: str
    unplaced: bool
    unread: bool


class LemmaVerdictJson(Value):
    """The structured form of a theorem verifier's answer."""

    checks: tuple[CheckJson, ...]
    first_fault: int
    format_error: str = ""


class ProofVerdictJson(Value):
    """The structured form of a process verifier's answer."""

    checks: tuple[CheckJson, ...]
    wrong_lemma: str = ""
    first_fault: int
    format_error: str = ""


def read_lemma_vote(final: Final, steps: int) -> Vote:
    """A theorem verifier's vote on a lemma with `steps` steps."""
    return _read(final, steps, may_name_lemma=False)


def read_proof_vote(final: Final, steps: int) -> Vote:
    """A process verifier's vote on a proof with `steps` steps; `wrong_lemma` is the label as written."""
    return _read(final, steps, may_name_lemma=True)


def read_vote_again(second: Final, first: str, steps: int, *, may_name_lemma: bool) -> Vote:
    """The verdict from a second question, with the log of the `first` answer."""
    answer = whole_answer(second)
    fault = answer if isinstance(answer, Unscored) else FIRST_FAULT.again(answer)
    if isinstance(fault, Unscored):
        return Vote(unscored=fault)
    return _decided(_of_log(fault, first), steps, may_name_lemma)


def _read(final: Final, steps: int, *, may_name_lemma: bool) -> Vote:
    answer = whole_answer(final)
    if isinstance(answer, Unscored):
        return Vote(unscored=answer)
    vote = _json_vote(answer, may_name_lemma)
    if vote is not None and (prose := text_around_json(answer, "first_fault", "wrong_lemma")):
        vote = _checked_with_prose(vote, prose)
    return _decided(vote or _tagged_vote(answer), steps, may_name_lemma)


def _checked_with_prose(vote: Vote, prose: str) -> Vote:
    """A vote in JSON, compared with the prose around the object: a log of its own, or another verdict."""
    said, log = VERDICT.read(prose), _log(prose)
    named = said.value if isinstance(said, Said) else None
    if named and not named.is_format and (named.step, named.lemma) != (vote.first_fault, vote.wrong_lemma):
        return Vote(unscored=VERDICT.differs)
    if vote.unscored is not None or vote.wrong_lemma or vote.first_fault is None:
        return vote
    merged = _with_log(vote.first_fault, log._replace(checks=(*vote.checks, *log.checks), summary=vote.summary))
    return merged if merged.first_fault != NO_FAULT or not objects(prose) else Vote(unscored=OBJECTS)


def _json_vote(answer: str, may_name_lemma: bool) -> Vote | None:
    value = json_within(answer, "first_fault", "wrong_lemma")
    if value is None:
        return None
    try:
        parsed = ProofVerdictJson.model_validate(value) if may_name_lemma else LemmaVerdictJson.model_validate(value)
    except ValidationError:
        return _bare_fault(value)
    if parsed.format_error:
        return _unread(f"FORMAT_ERROR: {parsed.format_error}")
    checks = tuple(_step_check(check.step, check.sound, check.severity, check.comment) for check in parsed.checks)
    wrong = parsed.wrong_lemma.strip() if isinstance(parsed, ProofVerdictJson) else ""
    if wrong:
        label = _LEMMA.match(wrong if wrong.lower().startswith("lemma") else f"lemma {wrong}")
        named = unplaced(f"It names {wrong[:40]!r} as a wrong lemma.", Vote(checks=checks))
        return Vote(wrong_lemma=label.group(1), checks=checks) if label else named
    return _at_step(parsed.first_fault, checks)


def _bare_fault(value: dict[str, Any]) -> Vote:
    """A malformed object: a fault that it names still counts, with the object as the report."""
    step, lemma = value.get("first_fault"), value.get("wrong_lemma")
    has_step = isinstance(step, int) and not isinstance(step, bool) and step >= 1
    fails = "fail" in (plain_word(value.get("verdict")), plain_word(value.get("decision")))
    if value.get("format_error") or not (has_step or fails or (isinstance(lemma, str) and lemma.strip())):
        return _unread("the JSON object does not have the fields asked for")
    report = json.dumps(value, ensure_ascii=False, indent=1)[:LONGEST_SUMMARY]
    return Vote(first_fault=step if has_step else UNPLACED, summary=report)


def _tagged_vote(answer: str) -> Vote:
    said = VERDICT.read(answer)
    if isinstance(said, Unscored):
        box = closing_match(answer, _BOX, what="verdict")
        fault = None if isinstance(box, Unscored) else fault_said(box[1])
        if isinstance(box, Unscored) or fault is None:
            return _unread("FORMAT_ERROR") if re.match(r"FORMAT_ERROR\b", answer) else Vote(unscored=said)
        said = Said(fault, answer[: box.start()].strip(), box[1])
    if said.value.step == NO_FAULT and objects(said.after):
        return Vote(unscored=OBJECTS)
    return _of_log(said.value, f"{said.before}\n{said.after}".strip())


def _of_log(fault: Fault, text: str) -> Vote:
    """The vote of a verdict with the text of its log."""
    log = _log(text)
    if (fault.lemma or (fault.step or 0) > 0) and all(check.sound for check in log.checks) and approves(text):
        return Vote(unscored=APPROVES)
    if fault.is_format:
        return Vote(unscored=Unscored(reason="FORMAT_ERROR" + (f": {log.summary[:300]}" if log.summary else "")))
    if fault.lemma:
        return unchecked(Vote, wrong_lemma=fault.lemma, checks=log.checks, summary=log.summary)
    if fault.step is None:
        return unplaced("It fails the text and names no step.", Vote(checks=log.checks, summary=log.summary))
    return _with_log(fault.step, log)


def fault_said(written: str) -> Fault | None:
    """The fault that a verdict names; None if it names none, or more than one."""
    content = plain(with_minus(written))
    if content.upper().startswith("FORMAT_ERROR"):
        return Fault(is_format=True)
    if lemma := _LEMMA.match(content):
        return Fault(lemma=lemma[1])
    rest = content[step.end() :] if (step := _STEP.match(content)) else ""
    if step and not _SECOND.search(rest) and not _PRAISED.search(_NOT_PRAISED.sub("", rest)):
        return Fault(step=int(step[1]))
    return Fault() if passing(written) is False else None


VERDICT = Closing("verdict", "verdict", fault_said, ("final verdict", "verdict"))
FIRST_FAULT = Closing("first_fault", "verdict", fault_said, ("first fault", "final verdict", "verdict"))


def _log(text: str) -> Log:
    """The log with all its checks. A check without an end extends to the next one."""
    # `split` gives the texts between the openings and, of each opening, its attributes and its ">", in turn.
    pieces = _CHECK_OPENING.split(text)
    checks: list[StepCheck] = []
    prose, is_unplaced, is_unread = [pieces[0]], False, False
    for attributes, closed, rest in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
        step, sound, severity = _attributes(attributes)
        if step is None or sound is None:
            is_unplaced |= sound is False
            is_unread |= sound is None
            prose.append(f"<check{attributes}{closed}{rest}")
            continue
        end = _CHECK_END.search(rest)
        comment = rest[: end.start()] if end else rest
        comment = comment if closed else f"{attributes}{comment}"
        checks.append(unchecked(StepCheck, step=step, sound=sound, comment=comment.strip(), severity=severity))
        if end:
            prose.append(rest[end.end() :])
    return Log(tuple(checks), "".join(prose).strip()[:LONGEST_SUMMARY], is_unplaced, is_unread)


def _with_log(fault: int, log: Log) -> Vote:
    """The vote for `fault` with its log. A pass with objections outside the log's checks is a fault at no step, or unread."""
    said = _at_step(fault, log.checks, log.summary)
    if fault == NO_FAULT and log.unplaced:
        return unplaced("It names a fault and no step that can be read.", said)
    if fault == NO_FAULT and log.unread and all(check.sound for check in log.checks):
        return _unread('it finds no fault next to a check that says neither "yes" nor "no"')
    return said


def _at_step(fault: int, checks: tuple[StepCheck, ...], summary: str = "") -> Vote:
    if fault != NO_FAULT and fault < 1:
        return _unread(f"it names step {fault}")
    return unchecked(Vote, first_fault=fault, checks=checks, summary=summary)


def unplaced(reason: str, vote: Vote) -> Vote:
    """The vote as a fail at no step of the text, with the `reason`, a sentence, before its summary."""
    return Vote(first_fault=UNPLACED, checks=vote.checks, summary=f"{reason} {vote.summary}".strip())


def _step_check(step: int, sound: bool, severity: Severity, comment: str) -> StepCheck:
    return StepCheck(step=step, sound=counts_as_pass(sound, (severity,)), severity=severity, comment=comment)


# A run of contest size reads half a million checks with a few hundred different heads.
@functools.lru_cache(maxsize=1024)
def _attributes(written: str) -> tuple[int | None, bool | None, Severity]:
    """The step of a check, whether it counts as sound, and its severity; None for what cannot be read. Of several steps the
    first counts, and of several words on soundness a "no"."""
    named: dict[str, list[str]] = {"step": [], "sound": [], "severity": []}
    for name, *values in _ATTRIBUTE.findall(written):
        named.get(name.lower(), []).append(plain("".join(values)).lower())
    steps = [min(map(int, re.findall(r"\d+", one))) for one in named["step"] if _STEPS.match(one)]
    said = [_SOUND.get(word) for word in named["sound"]] or [None]
    severities = [_SEVERITIES[found.group(1)] for word in named["severity"] if (found := _FOUND.match(word))]
    sound: bool | None = False if False in said else None if None in said else True
    if not counts_as_pass(sound is not False, severities):
        sound = False
    return min(steps, default=None), sound, next(iter(severities), "")


def _decided(vote: Vote, steps: int, may_name_lemma: bool) -> Vote:
    """The vote with the first fault that its verdict and its log name together, at no step where the text has none of them."""
    if vote.unscored is not None or (vote.wrong_lemma and may_name_lemma):
        return vote
    said = vote.first_fault
    faults = {check.step for check in vote.checks if not check.sound}
    if said not in (None, NO_FAULT, UNPLACED):
        faults.add(said)
    first = min((fault for fault in faults if 1 <= fault <= steps), default=None)
    if first is not None:
        return vote if first == said else Vote(first_fault=first, checks=vote.checks, summary=vote.summary)
    if vote.wrong_lemma:
        return unplaced(f"It names Lemma {vote.wrong_lemma} as wrong, not a step.", vote)
    return unplaced(f"It names step {min(faults)} of {steps}.", vote) if faults else vote


def _unread(reason: str) -> Vote:
    return Vote(unscored=Unscored(reason=reason))
