"""Read the answers of judges of whole solutions: the better of two, points, a decision with issues.

The answer must end with its tag, so that one quoted from a solution is never taken for it. An unreadable answer is `Unscored`.
"""

import functools
import json
import re
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BeforeValidator, ValidationError

from apps.reasoning.domain.candidate_events import Issue
from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.domain.verdicts import counts_as_pass
from apps.reasoning.reading.answers import plain_word, tag_pattern, whole_answer, without
from apps.reasoning.reading.closings import Closing, Said, json_within, text_around_json
from apps.reasoning.reading.objections import objects, severities_in_lines
from apps.reasoning.reading.said_values import letter, number, passing, passing_alone, share_alone

LONGEST_REPORT = 8000
LONGEST_SUMMARY = 2000
NO_REASON = "The verifier failed the solution and gave no reason."
_ISSUE = re.compile(r"<issue\b([^<>]{0,1000})>(" + without(r"issue\b") + r")</issue>", re.IGNORECASE)
_ISSUE_OPENING = re.compile(r"<issue\b([^<>]*)", re.IGNORECASE)
_QUOTE = tag_pattern("quote")
_SEVERITY = re.compile(r"severity\s*=\s*[\"']?(critical|gap|note)\b", re.IGNORECASE)

T = TypeVar("T")
DECISION = Closing(
    "decision", "decision", passing, ("final decision", "decision", "final verdict", "verdict"), bare=passing_alone
)
BETTER = Closing("better", "choice", letter, ("better", "better solution", "the better solution", "choice", "winner"))
SCORE_LABELS = ("final score", "score", "total score", "points", "total points", "total", "grade", "final grade", "mark")
Severity = Literal["critical", "gap", "note"]
_SEVERITIES: dict[str, Severity] = {"critical": "critical", "gap": "gap", "note": "note"}


class Better(Value):
    """Which of two solutions is better: position 0 is the one shown first."""

    position: Literal[0, 1]
    reason: str = ""


class Scored(Value):
    """A number with the report that leads to it."""

    score: float
    report: str = ""


class Decision(Value):
    """Pass or fail, with the issues and the prose that give the reasons.

    `overruled`: the verifier wrote "pass" next to a critical error or a gap, so the decision is a fail.
    """

    passed: bool
    issues: tuple[Issue, ...] = ()
    summary: str = ""
    overruled: bool = False

    @property
    def report(self) -> str:
        """Prose and issues in words, for the corrector of the solution."""
        lines = [
            f"{number}. [{issue.severity}] {f'“{issue.quote}” — ' if issue.quote else ''}{issue.comment}"
            for number, issue in enumerate(self.issues, 1)
        ]
        found = "\n".join([*([self.summary] if self.summary else []), *lines])
        return found or ("" if self.passed else NO_REASON)


class IssueJson(Value):
    """One issue in the structured form."""

    severity: Annotated[Severity, BeforeValidator(plain_word)]
    quote: str = ""
    comment: str


class DecisionJson(Value):
    """The structured form of a verifier's answer."""

    summary: str = ""
    issues: tuple[IssueJson, ...]
    decision: Annotated[Literal["pass", "fail"], BeforeValidator(plain_word)]


def read_better(final: Final) -> Better | Unscored:
    """A judge's choice between solution A, shown first, and solution B."""
    found = _closing(final, BETTER)
    return found if isinstance(found, Unscored) else Better(position=found.value, reason=found.before)


def read_score(final: Final, allowed: tuple[float, ...]) -> Scored | Unscored:
    """A number that must be one of `allowed`."""
    found = _closing(final, _score("score", allowed, SCORE_LABELS))
    return found if isinstance(found, Unscored) else Scored(score=found.value, report=found.before)


def read_own_score(final: Final, allowed: tuple[float, ...]) -> float | None:
    """A writer's score for its own solution, at the end of the answer; None if it is not one of `allowed`."""
    found = _closing(final, _score("own-score", allowed, ()))
    return None if isinstance(found, Unscored) else found.value


def read_decision(final: Final) -> Decision | Unscored:
    """A verifier's pass or fail with its issues, from JSON or tags.

    Unscored if there is no decision, or if a pass comes with an objection whose severity cannot be read.
    """
    answer = whole_answer(final)
    if isinstance(answer, Unscored):
        return answer
    if (value := json_within(answer, "decision")) is not None:
        return _checked_with_prose(_json_decision(value), text_around_json(answer, "decision"))
    found = DECISION.read(answer)
    if isinstance(found, Unscored):
        return found
    return _of_log(found.value, f"{found.before}\n\n{found.after}".strip())


def _checked_with_prose(decision: Decision | Unscored, prose: str) -> Decision | Unscored:
    """A decision in JSON, compared with the prose around the object."""
    if isinstance(decision, Unscored) or not prose:
        return decision
    said = DECISION.read(prose)
    if isinstance(said, Said) and said.value != decision.passed:
        return DECISION.differs
    passed = passes(decision.passed, prose)
    return passed if isinstance(passed, Unscored) else decision.model_copy(update={"passed": passed})


def _of_log(said_pass: bool, log: str) -> Decision | Unscored:
    """A decision next to the objections and the prose of its log."""
    passed = passes(said_pass, log)
    if isinstance(passed, Unscored):
        return passed
    issues = tuple(issue for match in _ISSUE.finditer(log) if (issue := _issue(match.group(1), match.group(2))) is not None)
    prose = _ISSUE.sub(lambda match: "" if _severity(match.group(1)) else match.group(), log).strip()
    return _decided(said_pass, passed, issues, prose)


def read_decision_again(second: Final, first: str) -> Decision | Unscored:
    """The decision from a second question; issues and reasons are those of the `first` answer."""
    said = _again(second, DECISION)
    return said if isinstance(said, Unscored) else _of_log(said, first)


def read_better_again(second: Final, first: str) -> Better | Unscored:
    """The choice from a second question; the reason is the `first` answer."""
    position = _again(second, BETTER)
    return position if isinstance(position, Unscored) else Better(position=position, reason=first[:LONGEST_REPORT])


def read_score_again(second: Final, first: str, allowed: tuple[float, ...]) -> Scored | Unscored:
    """The score from a second question; the report is the `first` answer."""
    score = _again(second, _score("score", allowed, SCORE_LABELS))
    return score if isinstance(score, Unscored) else Scored(score=score, report=first[:LONGEST_REPORT])


def _again(second: Final, closing: Closing[T]) -> T | Unscored:
    answer = whole_answer(second)
    return answer if isinstance(answer, Unscored) else closing.again(answer)


def passes(said_pass: bool, log: str) -> bool | Unscored:
    """Whether a verdict counts as a pass next to the issues of its log: tags, those without an end among them, and lines."""
    severities = [_severity(opening.group(1)) for opening in _ISSUE_OPENING.finditer(log)]
    severities.extend(severities_in_lines(log))
    passed = counts_as_pass(said_pass, filter(None, severities))
    if passed and None in severities:
        return Unscored(reason="it passes the solution next to an issue whose severity could not be read")
    if passed and objects(log):
        return Unscored(reason="it passes the solution and says that something is wrong with it")
    return passed


def _json_decision(value: dict[str, Any]) -> Decision | Unscored:
    """The structured form. A fail counts even if the rest is malformed; the object is then the report."""
    try:
        parsed = DecisionJson.model_validate(value)
    except ValidationError:
        if "fail" not in (plain_word(value.get("decision")), plain_word(value.get("verdict"))):
            return Unscored(reason="the JSON object does not have the fields asked for")
        rest = {name: one for name, one in value.items() if name != "decision" and one}
        return _decided(False, False, (), json.dumps(rest, ensure_ascii=False, indent=1) if rest else "")
    issues = tuple(Issue.model_validate(issue.model_dump()) for issue in parsed.issues)
    said_pass = parsed.decision == "pass"
    return _decided(said_pass, counts_as_pass(said_pass, (issue.severity for issue in issues)), issues, parsed.summary)


def _decided(said_pass: bool, passed: bool, issues: tuple[Issue, ...], prose: str) -> Decision:
    """The decision; without issues, the prose is the whole report and is cut to a report's length."""
    longest = LONGEST_SUMMARY if passed or issues else LONGEST_REPORT
    return Decision(passed=passed, issues=issues, summary=prose[:longest], overruled=said_pass and not passed)


def _closing(final: Final, closing: Closing[T]) -> Said[T] | Unscored:
    """The closing of an answer that ended by itself, with the text before it cut to a report's length."""
    answer = whole_answer(final)
    if isinstance(answer, Unscored):
        return answer
    found = closing.read(answer)
    return found if isinstance(found, Unscored) else found._replace(before=found.before[:LONGEST_REPORT])


@functools.cache
def _score(tag: str, allowed: tuple[float, ...], labels: tuple[str, ...]) -> Closing[float]:
    """A number of `allowed`; those that are a scale from 0 may be written as `7/7`."""

    def parsed(written: str) -> float | None:
        return value if (value := number(written, of=allowed[-1])) in allowed else None

    def alone(written: str) -> float | None:
        return value if (value := share_alone(written, of=allowed[-1])) in allowed else None

    return Closing(tag, tag.replace("-", " "), parsed, labels, bare=alone)


def _severity(attributes: str) -> Severity | None:
    found = _SEVERITY.search(attributes)
    return _SEVERITIES[found.group(1).lower()] if found else None


def _issue(attributes: str, body: str) -> Issue | None:
    severity = _severity(attributes)
    if severity is None:
        return None
    quote = _QUOTE.search(body)
    comment = _QUOTE.sub("", body).strip()
    return Issue(severity=severity, quote=quote.group(1).strip() if quote else "", comment=comment)
