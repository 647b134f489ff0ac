"""Answers of the computational verifier about one subject: its part of the record, and its event."""

from collections.abc import Mapping, Sequence

from apps.reasoning.domain.check_events import CheckOutcome, FormulasChecked
from apps.reasoning.domain.records import StepRecord
from apps.reasoning.domain.tools import MathFinding, MathFindings, read_findings
from apps.reasoning.domain.values import Unscored
from apps.reasoning.scaffolds.running.tooling import tool_answer

#: Most findings in an event; its counts cover all findings.
MOST_REFUTED, MOST_HELD = 20, 40
TOOK_TOO_LONG = "the time limit ended it; a new check may succeed"


def part_of(record: StepRecord, subject: str) -> StepRecord:
    """The record with only the findings about `subject`, without their `group`."""
    found = read_findings(tool_answer(record, "check_math"))
    if isinstance(found, Unscored) or record.final is None:
        return record
    mine = [one.model_copy(update={"group": ""}) for one in found if one.group in ("", subject)]
    printed = MathFindings(findings=tuple(mine)).model_dump_json(exclude_defaults=True)
    execution = tool_answer(record, "check_math").execution
    assert execution is not None
    text = execution.model_copy(update={"stdout": printed}).model_dump_json(exclude_defaults=True)
    return record.model_copy(update={"final": record.final.model_copy(update={"text": text})})


def formulas_checked(subject: str, texts: Mapping[str, str], record: StepRecord) -> FormulasChecked:
    """The event for an answer about `texts` by name. Findings about other texts are left out."""
    answer = tool_answer(record, "check_math")
    if _met_a_deadline(record):
        return FormulasChecked(subject=subject, outcome="stopped", unchecked=TOOK_TOO_LONG)
    found = read_findings(answer)
    if isinstance(found, Unscored):
        return FormulasChecked(subject=subject, outcome="unchecked", unchecked=found.reason, call=record.key)
    found = tuple(one for one in found if texts.get(one.text_id, "")[one.anchor.start : one.anchor.end] == one.anchor.quote)
    refuted = [one for one in found if one.outcome == "refuted"]
    held = [one for one in found if one.outcome in ("proved", "survived")]
    proved = sum(one.outcome == "proved" for one in held)
    stopped = sum(one.outcome == "stopped" for one in found)
    untested: CheckOutcome = "stopped" if stopped else "not_understood"
    return FormulasChecked(
        subject=subject,
        outcome="refuted" if refuted else "survived" if held else untested,
        findings=_in_order((*refuted[:MOST_REFUTED], *held[:MOST_HELD]), list(texts)),
        refuted=len(refuted),
        survived=len(held) - proved,
        proved=proved,
        not_understood=len(found) - len(refuted) - len(held) - stopped,
        stopped=stopped,
        unchecked=TOOK_TOO_LONG if stopped else "",
        call=record.key,
    )


def was_stopped(record: StepRecord) -> bool:
    """Whether a time limit ended the check or one of its tests."""
    if _met_a_deadline(record):
        return True
    found = read_findings(tool_answer(record, "check_math"))
    return not isinstance(found, Unscored) and any(one.outcome == "stopped" for one in found)


def _met_a_deadline(record: StepRecord) -> bool:
    execution = tool_answer(record, "check_math").execution
    return bool((record.value or {}).get("stopped")) or (execution is not None and execution.error == "timeout")


def _in_order(findings: Sequence[MathFinding], names: list[str]) -> tuple[MathFinding, ...]:
    return tuple(sorted(findings, key=lambda one: (names.index(one.text_id), one.anchor.start, one.anchor.end)))
