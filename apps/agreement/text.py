"""The agreement of a file as tables for the terminal."""

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from apps.agreement.comparisons import Asked, Compared, Part
from apps.reasoning.agreement.consistency import Consistency
from apps.reasoning.agreement.estimates import STATISTICS, Estimate
from apps.reasoning.agreement.paired import COMPARED, Difference
from apps.reasoning.agreement.pairs import Missing
from apps.reasoning.agreement.report import FEW, Agreement, as_good
from apps.reasoning.domain.values import Unscored
from apps.reasoning.statistics.intervals import CLUSTERS_AT_LEAST, CLUSTERS_TO_DRAW, Interval, Undefined

IN_SPLITS = ("exact", "off_by_one", "bias", "mae", "qwk", "ac2")
TITLES = {statistic.slug: statistic.title for statistic in STATISTICS}
PEOPLE = "two people"
REASONS_SHOWN = 5


def shown(part: Part, asked: Asked) -> Iterator[RenderableType]:
    """Counts, statistics, notes, confusion matrix and bands of each grader, splits."""
    columns = columns_of(part)
    if part.author:
        yield Text(f"\nPapers by: {part.author}", style="bold")
    if part.common is not None:
        yield Text(part.common.words({}))
    yield _counts(columns)
    if any(agreement.estimates for _, agreement in columns):
        yield _statistics(columns)
    if part.differences:
        yield _differences(part)
    yield from notes(part, asked)
    for name, agreement in columns:
        if agreement.confusion:
            yield _heading(f"{name}: number of papers by points, with their share of the row")
            yield _confusion(agreement)
            yield _heading(f"{name}: by band of marks; bias and MAE for {FEW} papers or more")
            yield _bands(agreement)
    for grader in part.graders:
        for group in grader.splits:
            yield _heading(f"{grader.name}: by {group}; statistics for {FEW} papers or more")
            yield _split(grader, group)


def columns_of(part: Part) -> list[tuple[str, Agreement]]:
    """Each grader with its agreement, two people last."""
    columns = [(grader.name, grader.over_all) for grader in part.graders]
    return [*columns, *([(PEOPLE, part.people)] if part.people is not None else [])]


def _heading(words: str) -> Text:
    return Text(f"\n{words}", style="italic")


def _counts(columns: Sequence[tuple[str, Agreement]]) -> Table:
    table = _table("papers", [name for name, _ in columns])
    every = [agreement for _, agreement in columns]
    for title, cells in (
        ("with points on both sides", [str(found.counts.pairs) for found in every]),
        ("unscored", [str(len(found.unscored)) for found in every]),
        ("without a mark", [str(len(found.unmarked)) for found in every]),
        ("excluded, with the reason", [str(len(found.contaminated)) for found in every]),
        ("problems", [problems_text(found) for found in every]),
        ("the same points", [str(found.counts.same) for found in every]),
        ("within 1", [str(found.counts.within_one) for found in every]),
        ("within 2", [str(found.counts.within_two) for found in every]),
        ("more points than the person", [str(found.counts.over) for found in every]),
        ("fewer points", [str(found.counts.under) for found in every]),
        ("exact, unscored counted as wrong", [_share(found) for found in every]),
    ):
        table.add_row(title, *cells)
    return table


def _share(found: Agreement) -> str:
    if found.accuracy is None:
        return "—"
    same, answered = found.exact_of
    return f"{same} of {answered}" + (f" = {found.accuracy:.3f}" if answered >= FEW else "")


def _statistics(columns: Sequence[tuple[str, Agreement]]) -> Table:
    table = _table("statistic", [name for name, _ in columns])
    for statistic in STATISTICS:
        signed = statistic.slug == "bias"
        cells = [
            _estimate(found.estimate(statistic.slug), signed) if found.estimates else f"fewer than {FEW}"
            for _, found in columns
        ]
        table.add_row(statistic.title, *cells)
    return table


def _differences(part: Part) -> Table:
    """The differences of each grader from the baseline on the same papers."""
    table = _table(f"difference from {escape(part.baseline)}", list(part.differences))
    for number, slug in enumerate(COMPARED):
        table.add_row(TITLES[slug], *(_estimate(found[number], signed=True) for found in part.differences.values()))
    return table


def _estimate(estimate: Estimate | Difference, signed: bool = False, between: str = "  ") -> str:
    if isinstance(estimate.value, Undefined):
        return "undefined"
    value = number_text(estimate.value, signed)
    if isinstance(estimate.interval, Interval):
        return f"{value}{between}{number_text(estimate.interval.low, signed)} … {number_text(estimate.interval.high, signed)}"
    return value


def number_text(value: float, signed: bool = False) -> str:
    """Three decimals, with a typographic minus sign and without a negative zero."""
    text = f"{value:+.3f}" if signed else f"{value:.3f}"
    return (text.lstrip("+-") if float(text) == 0 else text).replace("-", "−")


def problems_text(found: Agreement) -> str:
    """The number of problems of the pairs; papers may name none."""
    return "not given" if found.counts.pairs and not found.counts.problems else str(found.counts.problems)


def notes(part: Part, asked: Asked) -> Iterator[Text]:
    """Notes on a part: basis of the statistics, undefined values, excluded papers, comparison with two people."""
    columns = columns_of(part)
    for name, found in columns:
        rounded = f"; values rounded to them, halves up: {found.rounded}" if found.rounded else ""
        if found.estimates or found.rounded:
            yield Text(f"{name}: QWK, AC2, Scott's π and the table below use {found.scale.words}{rounded}.")
        problems = found.counts.problems
        alone = "all of one problem" if problems else "as their problems are unknown"
        drawn = f"{problems} problems" if problems > 1 else f"papers, {alone}"
        if found.estimates and asked.draws and found.counts.clusters >= CLUSTERS_AT_LEAST:
            few = found.counts.clusters < CLUSTERS_TO_DRAW
            how = f"by Student's t over {drawn}" if few else f"from {asked.draws:,} draws of {drawn}; seed {asked.seed}"
            yield Text(f"{name}: 95 % intervals {how}.")
        if not found.estimates:
            yield Text(f"{name}: counts only, as there are fewer than {FEW} pairs.")
        for reason, titles in _undefined(found).items():
            yield Text(f"{name}: undefined: {', '.join(titles)}: {reason}.")
        yield from _missing(name, "unscored", found.unscored)
        yield from _missing(name, "excluded", found.contaminated)
    yield from (_consistency(grader.name, grader.consistency) for grader in part.graders if grader.consistency is not None)
    yield from (_against_people(grader.name, *grader.beside) for grader in part.graders if grader.beside is not None)


def _consistency(name: str, found: Consistency | Unscored) -> Text:
    if isinstance(found, Unscored):
        return Text(f"{name}: consistency: {found.reason}.")
    return Text(
        f"{name}: of {found.papers} papers with two or more scored runs, {found.same:.0%} have the same points in all runs; "
        f"the mean standard deviation is {number_text(found.spread)}, the mean range {number_text(found.range)}. "
        "This is consistency, not accuracy."
    )


def _undefined(found: Agreement) -> dict[str, list[str]]:
    reasons: dict[str, list[str]] = {}
    for estimate in found.estimates:
        if isinstance(estimate.value, Undefined):
            reasons.setdefault(estimate.value.reason, []).append(TITLES[estimate.slug])
        elif isinstance(estimate.interval, Undefined):
            reasons.setdefault(estimate.interval.reason, []).append(f"the interval of {TITLES[estimate.slug]}")
    return reasons


def _missing(name: str, word: str, missing: Sequence[Missing]) -> Iterator[Text]:
    reasons = Counter(paper.reason for paper in missing).most_common()
    for reason, count in reasons[:REASONS_SHOWN]:
        yield Text(f"{name}: {count} {word}: {reason}.")
    if len(reasons) > REASONS_SHOWN:
        yield Text(f"{name}: {len(reasons) - REASONS_SHOWN} more reasons why papers are {word}.")


def _against_people(name: str, found: Agreement, people: Agreement) -> Text:
    good = as_good(found, people, "qwk"), as_good(found, people, "ac2")
    same = f"on the {found.counts.pairs:,} common papers"
    if None in good:
        return Text(f"{name}: too little data to compare it with a second person {same}.")
    if all(good):
        return Text(f"{name}: its intervals of QWK and AC2 overlap those of two people {same}.")
    return Text(
        f"{name}: its intervals of QWK and AC2 do not both overlap those of two people {same}; "
        "it does not agree as well as a second marker."
    )


def _confusion(found: Agreement) -> Table:
    """The confusion matrix; rows are the person's points. Only categories that occur, so that it fits the screen."""
    rows = sorted({cell.human for cell in found.confusion})
    headings = sorted({cell.predicted for cell in found.confusion})
    table = Table("person")
    for points in headings:
        table.add_column(f"{points:g}", justify="right")
    cells = {(cell.human, cell.predicted): cell for cell in found.confusion}
    for row in rows:
        filled = [cells.get((row, column)) for column in headings]
        table.add_row(f"{row:g}", *(f"{cell.count} ({cell.share:.0%})" if cell else "·" for cell in filled))
    return table


def _bands(found: Agreement) -> Table:
    table = Table("band of marks")
    for title in ("papers", "same", "more", "fewer", "bias", "MAE"):
        table.add_column(title, justify="right")
    for band in found.bands:
        label = f"{band.low:g}" if band.low == band.high else f"{band.low:g}–{band.high:g}"
        bias = "" if band.bias is None else number_text(band.bias, signed=True)
        mae = "" if band.mae is None else number_text(band.mae)
        counts = (band.counts.pairs, band.counts.same, band.counts.over, band.counts.under)
        table.add_row(label, *map(str, counts), bias, mae)
    return table


def _split(grader: Compared, group: str) -> Table:
    table = Table(escape(group))
    for title in ("papers", "unscored", *(TITLES[slug] for slug in IN_SPLITS)):
        table.add_column(title, justify="right")
    for value, found in grader.splits[group].items():
        few = [str(found.counts.same), str(found.counts.within_one), *["–"] * (len(IN_SPLITS) - 2)]
        cells = [_estimate(found.estimate(slug), slug == "bias", "\n") for slug in IN_SPLITS] if found.estimates else few
        table.add_row(escape(value) or "(not given)", str(found.counts.pairs), str(len(found.unscored)), *cells)
    return table


def _table(first: str, names: Sequence[str]) -> Table:
    table = Table(first)
    for name in names:
        table.add_column(escape(name), justify="right")
    return table
