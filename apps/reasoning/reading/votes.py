"""Reading verifier votes, from tags, from JSON, or from the paper's box. A vote that cannot be read counts for nothing.

The verdict must be the last thing of the answer, so that one quoted from the text under judgement is never taken for it.
"""

import functools
import re
from typing import Literal

from pydantic import ValidationError

from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.values import Unscored, Value, unchecked
from apps.reasoning.domain.verdicts import NO_FAULT, StepCheck, Vote
from apps.reasoning.reading.answers import closing_match, read_json, tag_pattern, whole_answer, without

_VERDICT = tag_pattern("verdict")
_BOX = re.compile(r"\\box(?:ed)?\s*\{\s*\{?\s*((?:STEP|LEMMA)[^{}]*)\}?\s*\}", re.IGNORECASE)
_CHECK = re.compile(r"<check\b([^<>]{0,200})>(" + without(r"check\b") + r")</check>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"([a-z]+)\s*=\s*[\"']?([^\"'\s>]*)", re.IGNORECASE)
_STEP = re.compile(r"(?:step\s*)?(-?\d{1,6})\Z", re.IGNORECASE)
_LEMMA = re.compile(r"lemma\s*((?:s\d+\.|h\.|H)?\d{1,6}(?:-fixed\d*)?)\Z", re.IGNORECASE)

Severity = Literal["critical", "gap", "note", ""]
_SEVERITIES: dict[str, Severity] = {"critical": "critical", "gap": "gap", "note": "note"}


class CheckJson(Value):
    """One entry of the log in the structured form."""

    step: int
    sound: bool
    severity: Severity = ""
    comment: str = ""


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


def _read(final: Final, steps: int, *, may_name_lemma: bool) -> Vote:
    answer = whole_answer(final)
    if isinstance(answer, Unscored):
        return Vote(unscored=answer)
    vote = _json_vote(answer, may_name_lemma) or _tagged_vote(answer)
    return _consistent(vote, steps, may_name_lemma)


def _json_vote(answer: str, may_name_lemma: bool) -> Vote | None:
    value = read_json(answer)
    if value is None:
        return None
    try:
        parsed = ProofVerdictJson.model_validate(value) if may_name_lemma else LemmaVerdictJson.model_validate(value)
    except ValidationError:
        return _unread("the JSON object does not have the fields asked for")
    if parsed.format_error:
        return _unread(f"FORMAT_ERROR: {parsed.format_error}")
    checks = tuple(
        StepCheck(step=check.step, sound=check.sound, severity=check.severity, comment=check.comment) for check in parsed.checks
    )
    wrong = parsed.wrong_lemma.strip() if isinstance(parsed, ProofVerdictJson) else ""
    if wrong:
        label = _LEMMA.match(wrong if wrong.lower().startswith("lemma") else f"lemma {wrong}")
        return (
            Vote(wrong_lemma=label.group(1), checks=checks) if label else _unread(f"it names {wrong[:40]!r} as a wrong lemma")
        )
    return Vote(first_fault=parsed.first_fault, checks=checks)


def _tagged_vote(answer: str) -> Vote:
    last = closing_match(answer, _VERDICT, _BOX, what="verdict")
    if isinstance(last, Unscored):
        without = not (_VERDICT.search(answer) or _BOX.search(answer))
        return _unread("FORMAT_ERROR") if without and re.match(r"FORMAT_ERROR\b", answer) else Vote(unscored=last)
    content = last.group(1).strip()
    # `split` gives what stands between the checks, and the two groups of each check, in turn.
    pieces = _CHECK.split(answer[: last.start()])
    summary = "".join(pieces[::3]).strip()[:2000]
    read = (_check(attributes, comment) for attributes, comment in zip(pieces[1::3], pieces[2::3], strict=True))
    checks = tuple(check for check in read if check is not None)
    if content.upper().startswith("FORMAT_ERROR"):
        return Vote(unscored=Unscored(reason="FORMAT_ERROR" + (f": {summary[:300]}" if summary else "")))
    if lemma := _LEMMA.match(content):
        return unchecked(Vote, wrong_lemma=lemma.group(1), checks=checks, summary=summary)
    if step := _STEP.match(content):
        return unchecked(Vote, first_fault=int(step.group(1)), checks=checks, summary=summary)
    return _unread(f"the verdict is {content[:40]!r}")


def _check(attributes: str, comment: str) -> StepCheck | None:
    if (read := _attributes(attributes)) is None:
        return None
    step, sound, severity = read
    return unchecked(StepCheck, step=step, sound=sound, comment=comment.strip(), severity=severity)


# A run of contest size reads half a million checks with a few hundred different heads.
@functools.lru_cache(maxsize=1024)
def _attributes(written: str) -> tuple[int, bool, Severity] | None:
    named = {name.lower(): value.lower() for name, value in _ATTRIBUTE.findall(written)}
    if not named.get("step", "").isdigit() or named.get("sound") not in ("yes", "no"):
        return None
    return int(named["step"]), named["sound"] == "yes", _SEVERITIES.get(named.get("severity", ""), "")


def _consistent(vote: Vote, steps: int, may_name_lemma: bool) -> Vote:
    """The vote itself, or unread where it contradicts itself or the text it judges."""
    if vote.unscored is not None:
        return vote
    if vote.wrong_lemma:
        return vote if may_name_lemma else _unread("it names a lemma where only a step can be named")
    fault = vote.first_fault
    unsound = sorted(check.step for check in vote.checks if not check.sound)
    if fault is None or (fault != NO_FAULT and not 1 <= fault <= steps):
        return _unread(f"it names step {fault} of {steps}")
    if fault == NO_FAULT and unsound:
        return _unread(f"the verdict says that all steps hold, the log calls step {unsound[0]} unsound")
    if fault != NO_FAULT and any(check.step == fault and check.sound for check in vote.checks):
        return _unread(f"the verdict names step {fault}, the log calls it sound")
    if fault != NO_FAULT and unsound and unsound[0] < fault:
        return _unread(f"the verdict names step {fault}, the log calls step {unsound[0]} unsound")
    return vote


def _unread(reason: str) -> Vote:
    return Vote(unscored=Unscored(reason=reason))
