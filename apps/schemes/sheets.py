"""View models of a scheme: items in sections, issues, and a try-out with its derivation."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation

from django.http import QueryDict

from apps.reasoning.marking.schemes.checks import check
from apps.reasoning.marking.schemes.derivation import MINUS, derivation_line
from apps.reasoning.marking.schemes.evaluation import Evaluation, NotCounted, evaluate
from apps.reasoning.marking.schemes.faults import Fault, FormWrong
from apps.reasoning.marking.schemes.scheme import ITEMS_AT_MOST, Kind, Scheme, SchemeItem, points_text
from apps.reasoning.marking.schemes.structure import SchemeIssue, structure_issues
from apps.reasoning.marking.schemes.text_form import text_read
from apps.reasoning.marking.sheets.claims import ClaimWrong, claim_line, claim_read

STEPS = ("", "1", "0.5")
_OTHER_SECTIONS = {
    Kind.DEDUCTION: "Deductions",
    Kind.CAP: "Caps",
    Kind.ZERO_CREDIT: "No credit",
    Kind.FEEDBACK: "Feedback",
}


@dataclass(frozen=True)
class Row:
    """An item of the sheet. `relations` describes required, excluded and competing items."""

    item: SchemeItem
    worth: str
    relations: str
    is_ticked: bool
    not_counted: str


@dataclass(frozen=True)
class Section:
    """Items under one heading; `is_chosen` marks the chain that counts."""

    title: str
    rows: list[Row]
    is_chosen: bool = False


@dataclass(frozen=True)
class Tryout:
    """Ticked items and their points. `faults`: invalid words of the claim line."""

    ticks: frozenset[str] = frozenset()
    is_mixed: bool = False
    step: str = ""
    line: str = ""
    faults: tuple[str, ...] = ()
    result: Evaluation | None = None

    @property
    def derivation(self) -> str:
        return derivation_line(self.result) if self.result else ""

    @property
    def points(self) -> str:
        return points_text(self.result.points) if self.result else ""


@dataclass(frozen=True)
class Sheet:
    """A scheme with issues, try-out and sections. `content` is None for an unreadable text; `faults` give the reasons."""

    content: Scheme | None
    faults: tuple[Fault, ...] = ()
    issues: tuple[SchemeIssue, ...] = ()
    tryout: Tryout = field(default_factory=Tryout)
    sections: list[Section] = field(default_factory=list)

    @property
    def scale(self) -> str:
        return points_text(self.content.scale) if self.content else ""

    @property
    def step(self) -> str:
        return points_text(self.content.step) if self.content else ""

    @property
    def errors(self) -> int:
        return sum(issue.severity == "error" for issue in self.issues)


def sheet_of_text(text: str, query: QueryDict | None = None) -> Sheet:
    """The sheet of a possibly invalid text."""
    try:
        content = text_read(text)
    except FormWrong as wrong:
        return Sheet(None, faults=wrong.faults, tryout=_preserved_tryout(query or QueryDict()))
    return sheet_of(content, query)


def sheet_of(content: Scheme, query: QueryDict | None = None) -> Sheet:
    """The sheet of a scheme with the ticks of a query: `tick` per item, or `claim` if `source` is `claim`."""
    tryout = _tryout(content, query or QueryDict())
    return Sheet(content, issues=check(content), tryout=tryout, sections=_sections(content, tryout))


def _tryout(content: Scheme, query: QueryDict) -> Tryout:
    if structure_issues(content):
        return Tryout()
    known = {item.code for item in content.items}
    step = query.get("step", "") if query.get("step", "") in STEPS else ""
    line = query.get("claim", "")[:2_000]
    ticks, is_mixed = frozenset(query.getlist("tick")) & known, bool(query.get("mixed")) and bool(content.mixing)
    if query.get("source") == "claim":
        try:
            claim = claim_read(content, line)
        except ClaimWrong as wrong:
            return Tryout(ticks, is_mixed, step, line, wrong.faults, _result(content, ticks, step, is_mixed=is_mixed))
        ticks, is_mixed = claim.ticks, claim.is_mixed
    else:
        line = claim_line(content, ticks, is_mixed=is_mixed)
    return Tryout(ticks, is_mixed, step, line, (), _result(content, ticks, step, is_mixed=is_mixed))


def _preserved_tryout(query: QueryDict) -> Tryout:
    """Preserve the ticks while the text is unreadable, for example during a typing error."""
    codes = frozenset(code for code in query.getlist("tick")[:ITEMS_AT_MOST] if len(code) <= 16)
    return Tryout(codes, bool(query.get("mixed")), query.get("step", "")[:8], query.get("claim", "")[:2_000])


def _result(content: Scheme, ticks: Iterable[str], step: str, *, is_mixed: bool) -> Evaluation | None:
    try:
        return evaluate(content, ticks, step=Decimal(step) if step else None, is_mixed=is_mixed)
    except InvalidOperation:
        return None


def _sections(content: Scheme, tryout: Tryout) -> list[Section]:
    result = tryout.result
    refused = {one.code: one for one in result.not_counted} if result else {}

    def rows(items: Iterable[SchemeItem]) -> list[Row]:
        return [_row(item, tryout.ticks, refused) for item in items]

    earning = content.of_kind(Kind.CHECKPOINT)
    common = "All chains" if content.chains else "Checkpoints"
    sections = [Section(common, rows(item for item in earning if not item.chains))]
    for chain in content.chains:
        limit = f", at most {points_text(chain.limit)}" if chain.limit is not None else ""
        title = f"Chain {chain.name}{f': {chain.title}' if chain.title else ''}{limit}"
        own = [item for item in earning if item.chains and item.chains[0] == chain.name]
        is_chosen = result is not None and bool(tryout.ticks) and result.route.chain == chain.name
        sections.append(Section(title, rows(own), is_chosen))
    undeclared = [item for item in earning if item.chains and item.chains[0] not in {chain.name for chain in content.chains}]
    sections.append(Section("In undeclared chains", rows(undeclared)))
    sections += [Section(title, rows(content.of_kind(kind))) for kind, title in _OTHER_SECTIONS.items()]
    return [section for section in sections if section.rows]


def _row(item: SchemeItem, ticks: frozenset[str], refused: dict[str, NotCounted]) -> Row:
    return Row(
        item=item,
        worth=_worth(item),
        relations="; ".join(_relations(item)),
        is_ticked=item.code in ticks,
        not_counted=refused[item.code].reason if item.code in refused else "",
    )


def _worth(item: SchemeItem) -> str:
    points = points_text(item.points)
    return {Kind.DEDUCTION: f"{MINUS}{points}", Kind.CAP: f"≤ {points}", Kind.FEEDBACK: ""}.get(item.kind, points)


def _relations(item: SchemeItem) -> list[str]:
    words = []
    if len(item.chains) > 1 or (item.chains and item.kind is not Kind.CHECKPOINT):
        words.append(f"chain {' and '.join(item.chains)}")
    if item.requires:
        words.append(f"needs {' and '.join(item.requires)}")
    if item.excludes:
        words.append(f"excludes {' and '.join(item.excludes)}")
    if item.group:
        words.append(f"pick one of {item.group}")
    return words
