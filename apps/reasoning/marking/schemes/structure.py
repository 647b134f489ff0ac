"""Faults that make a scheme impossible to compute: duplicate or unknown codes, circular needs, too many exclusions.

`checks` adds faults of computable schemes.
"""

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum

from apps.reasoning.domain.values import Value
from apps.reasoning.marking.schemes.scheme import EARNING, RESERVED_CODES, Kind, Scheme, SchemeItem
from apps.reasoning.marking.schemes.selection import COMPONENT_AT_MOST, components_of, conflicts_of


class Severity(StrEnum):
    """An error prevents the use of a scheme; a warning does not."""

    ERROR = "error"
    WARNING = "warning"


class SchemeIssue(Value):
    """One fault. `where` is an item's code or a chain's name, empty for the whole; `rule` names the check."""

    severity: Severity
    rule: str
    where: str
    message: str


class SchemeBroken(ValueError):
    """The scheme cannot be computed; `issues` say why."""

    def __init__(self, issues: tuple[SchemeIssue, ...]) -> None:
        super().__init__("; ".join(issue.message for issue in issues))
        self.issues = issues


def error(rule: str, where: str, message: str) -> SchemeIssue:
    """An issue that must be corrected."""
    return SchemeIssue(severity=Severity.ERROR, rule=rule, where=where, message=message)


def warning(rule: str, where: str, message: str) -> SchemeIssue:
    """An issue that a coach may have intended."""
    return SchemeIssue(severity=Severity.WARNING, rule=rule, where=where, message=message)


def structure_issues(scheme: Scheme) -> tuple[SchemeIssue, ...]:
    """All faults that prevent computing the scheme; empty for a sound one."""
    issues = [*_codes(scheme), *_chains(scheme)]
    for item in scheme.items:
        issues += _references(item, scheme)
        issues += _relations(item, scheme)
    issues += _cycles(scheme)
    issues += _entangled(scheme)
    return tuple(issues)


def _codes(scheme: Scheme) -> Iterator[SchemeIssue]:
    counts = Counter(item.code.casefold() for item in scheme.items)
    for code in sorted({item.code for item in scheme.items if counts[item.code.casefold()] > 1}):
        yield error(
            "code-twice",
            code,
            f"{code} is used more than once (upper and lower case count as the same).",
        )
    for item in scheme.items:
        if item.code.casefold() in RESERVED_CODES:
            yield error("code-reserved", item.code, f"{item.code} is a word of the claim line; take another code.")


def _chains(scheme: Scheme) -> Iterator[SchemeIssue]:
    counts = Counter(chain.name for chain in scheme.chains)
    for name in [name for name, count in counts.items() if count > 1]:
        yield error("chain-twice", name, f"Chain {name} is declared {counts[name]} times.")
    for item in scheme.items:
        for name in item.chains:
            if name not in counts:
                yield error("chain-unknown", item.code, f"{item.code} belongs to chain {name}, which is not declared.")


def _references(item: SchemeItem, scheme: Scheme) -> Iterator[SchemeIssue]:
    kinds = {other.code: other.kind for other in scheme.items}
    for word, codes in (("needs", item.requires), ("excludes", item.excludes)):
        for code in codes:
            if code == item.code:
                yield error("refers-to-itself", code, f"{code} {word} itself.")
            elif code not in kinds:
                yield error("code-unknown", item.code, f"{item.code} {word} {code}, which is no item.")
            elif word == "needs" and kinds[code] not in EARNING:
                yield error("needs-kind", item.code, f"{item.code} needs {code}, which is a {kinds[code]} and is not earned.")
            elif word == "excludes" and not _may_exclude(item.kind, kinds[code]):
                message = f"{item.code}, a {item.kind}, cannot exclude {code}, a {kinds[code]}."
                yield error("excludes-kind", item.code, message)


def _may_exclude(one: Kind, other: Kind) -> bool:
    return {one, other} <= EARNING or one is other is Kind.DEDUCTION


def _relations(item: SchemeItem, scheme: Scheme) -> Iterator[SchemeIssue]:
    """Relations that the kind of an item does not allow."""
    if item.requires and item.kind not in EARNING:
        yield error(
            "needs-kind", item.code, f"{item.code} is a {item.kind}: it holds when it is ticked and needs nothing else."
        )
    if item.group:
        kinds = {other.kind for other in scheme.items if other.group == item.group}
        if item.kind not in EARNING | {Kind.DEDUCTION}:
            message = f"{item.code} is a {item.kind}; a pick-one group takes only items that earn or deduct points."
            yield error("group-kind", item.code, message)
        elif item.kind is Kind.DEDUCTION and kinds & EARNING:
            yield error("group-kind", item.code, f"Group {item.group} mixes deductions with what earns points.")
    if item.chains and item.kind is Kind.DEDUCTION:
        yield error("deduction-chain", item.code, f"{item.code} is a deduction: it takes off the total, whatever the chain.")


def _cycles(scheme: Scheme) -> Iterator[SchemeIssue]:
    """One issue per cycle of needs, in its order. Every item is visited once; the walk is iterative and bounded."""
    needs = {item.code: [code for code in item.requires if code != item.code] for item in scheme.items}
    done: set[str] = set()
    for start in needs:
        path: list[str] = []
        stack = [(start, iter(needs[start]))] if start not in done else []
        path += [start] if stack else []
        while stack:
            code, rest = stack[-1]
            following = next((other for other in rest if other in needs and other not in done), None)
            if following is None:
                done.add(code)
                stack.pop()
                path.pop()
            elif following in path:
                circle = [*path[path.index(following) :], following]
                yield error("needs-cycle", following, f"A circle of needs: {' → '.join(circle)}.")
            else:
                stack.append((following, iter(needs[following])))
                path.append(following)


def _entangled(scheme: Scheme) -> Iterator[SchemeIssue]:
    conflicts = conflicts_of(scheme.items)
    for piece in components_of(conflicts, conflicts):
        is_clique = all(len(conflicts[code]) == len(piece) - 1 for code in piece)
        if len(piece) > COMPONENT_AT_MOST and not is_clique:
            message = (
                f"{len(piece)} items exclude each other in one tangle; {COMPONENT_AT_MOST} are the most. Use pick-one groups."
            )
            yield error("tangle", piece[0], message)
