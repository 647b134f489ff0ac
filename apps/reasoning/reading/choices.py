"""Reading what judges of whole solutions answer: a better one of two, points, a decision with issues, groups.

The answer must end with its tag, so that one quoted from a solution is never taken for it. Nothing readable is `Unscored`.
"""

import re
from typing import Literal

from pydantic import ValidationError

from apps.reasoning.domain.candidate_events import Issue
from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.reading.answers import closing_match, read_json, tag_pattern, whole_answer, without

LONGEST_REPORT = 8000
_BETTER = tag_pattern("better")
_SCORE = tag_pattern("score")
_OWN_SCORE = tag_pattern("own-score")
_DECISION = tag_pattern("decision")
_LIKELIEST = tag_pattern("likeliest")
_GROUP = re.compile(r"<group\s+number\s*=\s*[\"']?(\d{1,3})[\"']?\s*>([^<]*)</group>", re.IGNORECASE)
_ISSUE = re.compile(r"<issue\b([^<>]{0,80})>(" + without(r"issue\b") + r")</issue>", re.IGNORECASE)
_QUOTE = tag_pattern("quote")
_SEVERITY = re.compile(r"severity\s*=\s*[\"']?(critical|gap|note)\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:\.\d+)?\Z")

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
    """Pass or fail, with what is objected to. A fail names at least one issue."""

    passed: bool
    issues: tuple[Issue, ...] = ()
    summary: str = ""

    @property
    def report(self) -> str:
        """The issues in words, for whoever corrects the solution."""
        lines = [
            f"{number}. [{issue.severity}] {f'“{issue.quote}” — ' if issue.quote else ''}{issue.comment}"
            for number, issue in enumerate(self.issues, 1)
        ]
        return "\n".join([*([self.summary] if self.summary else []), *lines])


class Grouping(Value):
    """Numbers of solutions, from 1, in groups; `chosen` is the position of the likeliest group."""

    groups: tuple[tuple[int, ...], ...]
    chosen: int
    reason: str = ""


class IssueJson(Value):
    """One issue in the structured form."""

    severity: Severity
    quote: str = ""
    comment: str


class DecisionJson(Value):
    """The structured form of a verifier's answer."""

    summary: str = ""
    issues: tuple[IssueJson, ...]
    decision: Literal["pass", "fail"]


def read_better(final: Final) -> Better | Unscored:
    """A judge's choice between solution A, shown first, and solution B."""
    found = _last(final, _BETTER, "choice")
    if isinstance(found, Unscored):
        return found
    said, before = found
    match said.upper():
        case "A":
            return Better(position=0, reason=before)
        case "B":
            return Better(position=1, reason=before)
        case other:
            return Unscored(reason=f"the choice is {other[:40]!r}")


def read_score(final: Final, allowed: tuple[float, ...]) -> Scored | Unscored:
    """A number that must be one of `allowed`."""
    found = _last(final, _SCORE, "score")
    if isinstance(found, Unscored):
        return found
    said, before = found
    if not _NUMBER.match(said) or float(said) not in allowed:
        return Unscored(reason=f"the score is {said[:40]!r}, not one of {', '.join(f'{one:g}' for one in allowed)}")
    return Scored(score=float(said), report=before)


def read_own_score(final: Final, allowed: tuple[float, ...]) -> float | None:
    """What a writer gives the own solution, at the end of the answer; None where it is not one of `allowed`."""
    found = _last(final, _OWN_SCORE, "own score")
    if isinstance(found, Unscored) or not _NUMBER.match(found[0]):
        return None
    value = float(found[0])
    return value if value in allowed else None


def read_decision(final: Final) -> Decision | Unscored:
    """A verifier's pass or fail with its issues, from JSON or tags. One that contradicts itself is unscored."""
    answer = whole_answer(final)
    if isinstance(answer, Unscored):
        return answer
    if (value := read_json(answer)) is not None:
        try:
            parsed = DecisionJson.model_validate(value)
        except ValidationError:
            return Unscored(reason="the JSON object does not have the fields asked for")
        issues = tuple(Issue.model_validate(issue.model_dump()) for issue in parsed.issues)
        return _consistent(Decision(passed=parsed.decision == "pass", issues=issues, summary=parsed.summary))
    last = closing_match(answer, _DECISION, what="decision")
    if isinstance(last, Unscored):
        return last
    said, log = last.group(1).strip().lower(), answer[: last.start()]
    if said not in ("pass", "fail"):
        return Unscored(reason=f"the decision is {said[:40]!r}")
    issues = tuple(issue for match in _ISSUE.finditer(log) if (issue := _issue(match.group(1), match.group(2))) is not None)
    return _consistent(Decision(passed=said == "pass", issues=issues, summary=_ISSUE.sub("", log).strip()[:2000]))


def read_grouping(final: Final, count: int) -> Grouping | Unscored:
    """Groups of the solutions 1 to `count`; each stands in one group at most, and the likeliest must exist."""
    found = _last(final, _LIKELIEST, "likeliest group")
    if isinstance(found, Unscored):
        return found
    said, before = found
    groups: dict[int, tuple[int, ...]] = {}
    seen: set[int] = set()
    for match in _GROUP.finditer(before):
        members = tuple(dict.fromkeys(int(number) for number in re.findall(r"\d{1,4}", match.group(2))))
        if any(not 1 <= member <= count for member in members) or seen & set(members) or int(match.group(1)) in groups:
            return Unscored(reason=f"group {match.group(1)} names a solution that does not exist or stands elsewhere")
        seen |= set(members)
        if members:
            groups[int(match.group(1))] = members
    if not said.isdigit() or int(said) not in groups:
        return Unscored(reason=f"the likeliest group is {said[:40]!r}, which is no group with a solution")
    reason = _GROUP.sub("", before).strip()
    return Grouping(groups=tuple(groups.values()), chosen=list(groups).index(int(said)), reason=reason)


def _last(final: Final, pattern: re.Pattern[str], what: str) -> tuple[str, str] | Unscored:
    """What the closing tag holds, and what stands before it."""
    answer = whole_answer(final)
    if isinstance(answer, Unscored):
        return answer
    last = closing_match(answer, pattern, what=what)
    if isinstance(last, Unscored):
        return last
    return last.group(1).strip(), answer[: last.start()].strip()[:LONGEST_REPORT]


def _issue(attributes: str, body: str) -> Issue | None:
    severity = _SEVERITY.search(attributes)
    if severity is None:
        return None
    quote = _QUOTE.search(body)
    comment = _QUOTE.sub("", body).strip()
    return Issue(
        severity=_SEVERITIES[severity.group(1).lower()], quote=quote.group(1).strip() if quote else "", comment=comment
    )


def _consistent(decision: Decision) -> Decision | Unscored:
    faults = [issue for issue in decision.issues if issue.severity != "note"]
    if decision.passed and any(issue.severity == "critical" for issue in faults):
        return Unscored(reason="the decision is pass, but a critical error is reported")
    if not decision.passed and not faults:
        return Unscored(reason="the decision is fail, but no error or gap is reported")
    return decision
