"""Steps and items of a contest: errors and ticks of a person and a grader on the same script, for the pairs that count.

Results are per author source and grader; items also per problem, as each problem has its own scheme. Ticks are compared by
item lineage, since wording and codes may change without changing the meaning of a scheme.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from apps.agreement.choosing import SCORED, UNSCORED, kind_of
from apps.agreement.sources.contests import ContestSource
from apps.agreement.sources.judgements import answer_for, answers_by_case
from apps.agreement.sources.sources import Chosen
from apps.marks.models import Mark, SuggestionState
from apps.reasoning.agreement.items import ItemFound, TickedPair, items_found
from apps.reasoning.agreement.places import PlacedPair, Places, PlacesFound, places_found
from apps.reasoning.marking.sheets.pages import FIRST
from apps.reasoning.marking.sheets.sheet import MarkSheet, Role
from apps.reasoning.marking.suggestion import Severity, SuggestionBody
from apps.schemes.models import SchemeVersion


@dataclass(frozen=True)
class ComparedScript:
    """A script with the sealed sheet of a person and the answer of a grader.

    `marked_by`, `graded_by`: primary keys of the scheme versions.
    """

    paper: str
    author: str
    problem: str
    sheet: MarkSheet
    body: SuggestionBody
    marked_by: int | None
    graded_by: int | None

    @cached_property
    def placed(self) -> PlacedPair:
        return PlacedPair(paper=self.paper, human=places_of_sheet(self.sheet), grader=places_of_body(self.body))


@dataclass(frozen=True)
class ItemsShown:
    """The items of one problem: codes by lineage, in the order of the newest scheme version used."""

    problem: str
    items: tuple[ItemFound, ...]
    codes: Mapping[str, str]

    @property
    def rows(self) -> list[tuple[str, ItemFound]]:
        return [(self.codes[one.code], one) for one in self.items]


@dataclass(frozen=True)
class PlacesShown:
    """One grader on the papers of one author source. `items` cover problems whose scheme the grader was given.

    `unscored`: the number of scripts with an unreadable answer, or with errors on scanned pages, where graders name steps. They
    are in no other count.
    """

    author: str
    grader: str
    found: PlacesFound
    items: Sequence[ItemsShown]
    compared: Mapping[str, ComparedScript]
    unscored: int = 0


def places_shown(source: ContestSource, chosen: Chosen) -> list[PlacesShown]:
    """All comparisons, one per author source and grader."""
    gathered = source.gather(chosen)
    human, _ = source.human(chosen.human)
    sheets = _sheets([given.mark for given in human.values() if given.mark is not None])
    cases = {one.name: one.case for one in source.scripts.values()}
    shown = []
    for grader, pairs in gathered.graders.items():
        rows = answers_by_case(source.cases, grader)
        compared: dict[str, list[ComparedScript]] = defaultdict(list)
        unread: Counter[str] = Counter()
        for pair in pairs:
            mark = human[cases[pair.paper]]
            answer = answer_for(rows.get(cases[pair.paper], ()), mark.meaning)
            if mark.mark is None or answer is None or not answer.body or kind_of(pair) not in (SCORED, UNSCORED):
                continue
            if answer.body.get("unscored") or any(one.step > FIRST for one in sheets[mark.mark][0].verdicts):
                unread[pair.author] += 1
            elif answer.state in (SuggestionState.DONE, SuggestionState.STALE):
                sheet, version = sheets[mark.mark]
                body = SuggestionBody.model_validate(answer.body)
                compared[pair.author].append(
                    ComparedScript(pair.paper, pair.author, pair.problem, sheet, body, version, answer.scheme)
                )
        shown += [_shown(author, grader, compared[author], unread[author]) for author in sorted({*compared, *unread})]
    return shown


def places_of_sheet(sheet: MarkSheet) -> Places:
    """A marker's verdicts as places. Consequences are no roots; harmless verdicts are no errors."""
    roots = [one for one in sheet.verdicts if one.role in (Role.ROOT, Role.INDEPENDENT)]
    return Places(first=sheet.first_error, roots=tuple(sorted({(one.step, one.fallacy.value) for one in roots})))


def places_of_body(body: SuggestionBody) -> Places:
    """A grader's findings as places. Notes are no errors; a finding at a step in another finding's chain is no root."""
    errors = [one for one in body.findings if one.severity is not Severity.NOTE]
    led = {(chain.error, link.step) for chain in body.chains for link in chain.links[1:] if link.step}
    roots = [one for one in errors if not any(step == one.step and error != one.id for error, step in led)]
    return Places(
        first=min((one.step for one in errors), default=None),
        roots=tuple(sorted({(one.step, one.fallacy.value) for one in roots})),
    )


def _sheets(marks: Sequence[int]) -> dict[int, tuple[MarkSheet, int | None]]:
    rows = Mark.objects.filter(pk__in=marks).values_list("pk", "sealed_sheet", "scheme_version")
    return {key: (MarkSheet.model_validate(sheet or {}), version) for key, sheet, version in rows}


def _shown(author: str, grader: str, scripts: list[ComparedScript], unscored: int) -> PlacesShown:
    by_problem: dict[str, list[ComparedScript]] = {}
    for one in scripts:
        if one.marked_by is not None and one.graded_by is not None:
            by_problem.setdefault(one.problem, []).append(one)
    return PlacesShown(
        author=author,
        grader=grader,
        found=places_found([one.placed for one in scripts]),
        items=[_items(problem, among) for problem, among in sorted(by_problem.items())],
        compared={one.paper: one for one in scripts},
        unscored=unscored,
    )


def _items(problem: str, scripts: list[ComparedScript]) -> ItemsShown:
    keys = {key for script in scripts for key in (script.marked_by, script.graded_by) if key is not None}
    versions = SchemeVersion.objects.in_bulk(keys)
    lineages = {pk: {item.code: item.lineage for item in version.content.items} for pk, version in versions.items()}
    newest = max(versions.values(), key=lambda one: one.number)
    codes = {lineage: code for code, lineage in lineages[newest.pk].items()}
    pairs = [
        TickedPair(
            paper=one.paper,
            human=_ticked(one.sheet.ticks, lineages, one.marked_by),
            grader=_ticked((item.code for item in one.body.items), lineages, one.graded_by),
        )
        for one in scripts
    ]
    return ItemsShown(problem, items_found(list(codes), pairs), codes)


def _ticked(codes: Iterable[str], lineages: Mapping[int, Mapping[str, str]], version: int | None) -> frozenset[str]:
    known = lineages[version] if version is not None else {}
    return frozenset(known[code] for code in codes if code in known)
