"""Content of the agreement page: tables whose numbers link to their pairs. Templates only lay them out."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from django.conf import settings
from django.core.cache import cache

from apps.agreement.choosing import CONTAMINATED, PEOPLE, UNMARKED, UNSCORED, Which
from apps.agreement.comparisons import Asked, Gathered, Part, parts_of
from apps.agreement.text import IN_SPLITS, TITLES, notes, number_text, problems_text
from apps.reasoning.agreement.estimates import STATISTICS, Estimate
from apps.reasoning.agreement.paired import COMPARED, Difference
from apps.reasoning.agreement.report import DRAWS, FEW, Agreement, Band, Cell
from apps.reasoning.statistics.intervals import Interval, Undefined

KEPT_S = 3600
RAMP = 5
#: Up to this many categories a confusion matrix shows the whole scale, else only those that occur.
WHOLE_MATRIX = 11
Address = Callable[[Which], str]


@dataclass(frozen=True)
class Linked:
    """A table cell: text, link to its pairs, interval below the text. `is_missing`: undefined or too few pairs."""

    words: str
    href: str = ""
    interval: str = ""
    is_missing: bool = False
    title: str = ""


@dataclass(frozen=True)
class Line:
    """A row of a table."""

    title: str
    cells: Sequence[Linked]
    help: str = ""


@dataclass(frozen=True)
class Square:
    """A cell of a confusion matrix; `step` is its share of the row on the colour ramp, `label` is for screen readers."""

    count: int
    percent: str
    href: str
    step: str
    label: str


@dataclass(frozen=True)
class GraderShown:
    """Matrix, bands and splits of one grader or of two people."""

    title: str
    headings: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Square | None]]]
    bands: Sequence[Line]
    splits: Sequence[tuple[str, Sequence[Line]]]


@dataclass(frozen=True)
class PartShown:
    """The papers of one author source. `titles`: column headings of counts and statistics; `has_bias`: for some band."""

    author: str
    titles: Sequence[str]
    counts: Sequence[Line]
    statistics: Sequence[Line]
    notes: Sequence[str]
    common: str
    baseline: str
    difference_titles: Sequence[str]
    differences: Sequence[Line]
    has_bias: bool
    graders: Sequence[GraderShown]


def parts_cached(gathered: Gathered) -> tuple[Part, ...]:
    """The comparisons, cached for an hour under a digest of all their inputs."""
    digest = hashlib.sha256(f"{settings.VERSION}/{DRAWS}/0".encode())
    for pair in chain(*gathered.graders.values(), gathered.people):
        digest.update(pair.model_dump_json().encode())
    rest = gathered.model_dump_json(exclude={"graders", "people"})
    digest.update(f"{rest}/{[(name, len(pairs)) for name, pairs in gathered.graders.items()]}".encode())
    key = f"agreement:2:{digest.hexdigest()}"
    kept = cache.get(key)
    if kept is None:
        kept = parts_of(gathered, draws=DRAWS, seed=0)
        cache.set(key, kept, KEPT_S)
    found: tuple[Part, ...] = kept
    return found


def parts_shown(parts: Sequence[Part], gathered: Gathered, names: Mapping[str, str], address: Address) -> list[PartShown]:
    """The parts for the page. `names`: labels of graders; `address`: link to the pairs of a filter."""
    return [_part(part, tuple(gathered.graders), names, address) for part in parts]


def _part(part: Part, keys: Sequence[str], names: Mapping[str, str], address: Address) -> PartShown:
    titled = part.model_copy(
        update={"graders": tuple(one.model_copy(update={"name": names.get(one.name, one.name)}) for one in part.graders)}
    )
    columns = [(key, one.name, one.over_all) for key, one in zip(keys, titled.graders, strict=True)]
    if part.people is not None:
        columns.append((PEOPLE, "two people", part.people))

    def links(key: str) -> Callable[..., str]:
        return lambda **which: address(Which(of=key, author=part.author, **which))

    return PartShown(
        author=part.author,
        titles=[title for _, title, _ in columns],
        counts=_counts([(links(key), found) for key, _, found in columns]),
        statistics=_statistics([(links(key), found) for key, _, found in columns]),
        notes=[note.plain for note in notes(titled, Asked(predicted=()))],
        common=part.common.words(names) if part.common else "",
        baseline=names.get(part.baseline, part.baseline),
        difference_titles=[names.get(name, name) for name in part.differences],
        differences=[
            Line(TITLES[slug], [_linked(found[number], "", is_signed=True) for found in part.differences.values()])
            for number, slug in enumerate(COMPARED if part.differences else ())
        ],
        has_bias=any(band.bias is not None for _, _, found in columns for band in found.bands),
        graders=[
            _grader(title, found, part.graders[index].splits if index < len(part.graders) else {}, links(key))
            for index, (key, title, found) in enumerate(columns)
        ],
    )


_COUNTED: Sequence[tuple[str, dict[str, str], Callable[[Agreement], int]]] = (
    ("with points on both sides", {}, lambda found: found.counts.pairs),
    ("unscored", {"kind": UNSCORED}, lambda found: len(found.unscored)),
    ("without a mark", {"kind": UNMARKED}, lambda found: len(found.unmarked)),
    ("excluded, with the reason", {"kind": CONTAMINATED}, lambda found: len(found.contaminated)),
    ("the same points", {"difference": "same"}, lambda found: found.counts.same),
    ("within 1", {"difference": "one"}, lambda found: found.counts.within_one),
    ("within 2", {"difference": "two"}, lambda found: found.counts.within_two),
    ("more points than the person", {"difference": "over"}, lambda found: found.counts.over),
    ("fewer points", {"difference": "under"}, lambda found: found.counts.under),
)


def _counts(columns: Sequence[tuple[Callable[..., str], Agreement]]) -> list[Line]:
    lines = [
        Line(title, [Linked(f"{of(found):,}", link(**which) if of(found) else "") for link, found in columns])
        for title, which, of in _COUNTED
    ]
    lines.append(Line("problems", [Linked(problems_text(found)) for _, found in columns]))
    lines.append(Line("exact, unscored counted as wrong", [_accuracy(found, link) for link, found in columns]))
    return lines


def _accuracy(found: Agreement, link: Callable[..., str]) -> Linked:
    same, answered = found.exact_of
    if found.accuracy is None:
        return Linked("—", is_missing=True)
    words = f"{same:,} of {answered:,}" + (f" = {found.accuracy:.3f}" if answered >= FEW else "")
    return Linked(words, link(difference="same") if same == found.counts.same else "")


def _statistics(columns: Sequence[tuple[Callable[..., str], Agreement]]) -> list[Line]:
    if not any(found.estimates for _, found in columns):
        return []
    return [
        Line(one.title, [_estimate(found, one.slug, link()) for link, found in columns], help=one.help) for one in STATISTICS
    ]


def _estimate(found: Agreement, slug: str, href: str) -> Linked:
    if not found.estimates:
        return Linked(f"fewer than {FEW}", is_missing=True)
    return _linked(found.estimate(slug), href, is_signed=slug == "bias")


def _linked(estimate: Estimate | Difference, href: str, *, is_signed: bool) -> Linked:
    if isinstance(estimate.value, Undefined):
        return Linked("undefined", is_missing=True, title=estimate.value.reason)
    interval = estimate.interval
    if isinstance(interval, Interval):
        between = f"{number_text(interval.low, is_signed)} … {number_text(interval.high, is_signed)}"
        return Linked(number_text(estimate.value, is_signed), href, between)
    return Linked(number_text(estimate.value, is_signed), href, "no interval", title=interval.reason)


def _grader(
    title: str, found: Agreement, splits: Mapping[str, Mapping[str, Agreement]], link: Callable[..., str]
) -> GraderShown:
    categories = found.scale.categories
    if len(categories) > WHOLE_MATRIX:
        categories = tuple(sorted({points for cell in found.confusion for points in (cell.human, cell.predicted)}))
    cells = {(cell.human, cell.predicted): cell for cell in found.confusion}
    is_enough = found.counts.pairs >= FEW
    rows = [
        (f"{row:g}", [_square(cells.get((row, column)), link, is_enough) for column in categories])
        for row in categories
        if found.confusion
    ]
    return GraderShown(
        title=title,
        headings=[f"{points:g}" for points in categories] if found.confusion else [],
        rows=rows,
        bands=[_band(band, link) for band in found.bands] if found.confusion else [],
        splits=[(group, [_split(group, *one, link) for one in values.items()]) for group, values in splits.items()],
    )


def _square(cell: Cell | None, link: Callable[..., str], is_enough: bool) -> Square | None:
    if cell is None:
        return None
    where = {"row": f"{cell.human:g}", "column": f"{cell.predicted:g}"}
    return Square(
        count=cell.count,
        percent=f"{cell.share:.0%}" if is_enough else "",
        href=link(**where),
        step=str(min(RAMP - 1, int(cell.share * RAMP))),
        label=f"{'of the row' if is_enough else 'papers'}: person {cell.human:g}, grader {cell.predicted:g}",
    )


def band_label(band: Band) -> str:
    """0, 1–2 and so on."""
    return f"{band.low:g}" if band.low == band.high else f"{band.low:g}–{band.high:g}"


def _band(band: Band, link: Callable[..., str]) -> Line:
    where = {"low": f"{band.low:g}", "high": f"{band.high:g}"}
    counted: Sequence[tuple[int, dict[str, str]]] = (
        (band.counts.pairs, {}),
        (band.counts.same, {"difference": "same"}),
        (band.counts.over, {"difference": "over"}),
        (band.counts.under, {"difference": "under"}),
    )
    cells = [Linked(f"{count:,}", link(**where, **more) if count else "") for count, more in counted]
    for value, signed in ((band.bias, True), (band.mae, False)):
        words = "" if value is None else number_text(value, signed)
        cells.append(Linked(words or f"fewer than {FEW}", link(**where) if words else "", is_missing=not words))
    return Line(band_label(band), cells)


def _split(group: str, value: str, found: Agreement, link: Callable[..., str]) -> Line:
    where = {"group": group, "value": value}
    papers = [
        Linked(f"{found.counts.pairs:,}", link(**where) if found.counts.pairs else ""),
        Linked(f"{len(found.unscored):,}", link(kind=UNSCORED, **where) if found.unscored else ""),
    ]
    if found.estimates:
        rest = [_estimate(found, slug, link(**where)) for slug in IN_SPLITS]
    else:
        counts = {"exact": found.counts.same, "off_by_one": found.counts.within_one}
        rest = [
            Linked(f"{counts[slug]:,} papers" if slug in counts else f"fewer than {FEW}", is_missing=slug not in counts)
            for slug in IN_SPLITS
        ]
    return Line(value or "not given", [*papers, *rest])


SPLIT_TITLES = ("papers", "unscored", *(TITLES[slug] for slug in IN_SPLITS))
BAND_TITLES = ("papers", "same", "more", "fewer", "bias", "MAE")
