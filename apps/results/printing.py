"""The author's copy of a text with its released results, for typesetting. It contains exactly what the page shows."""

from apps.marks.page_marks import remark_title
from apps.reasoning.marking.schemes.scheme import Kind, points_text
from apps.reasoning.marking.sheets.pages import place_words
from apps.reasoning.marking.sheets.student_view import ItemShown
from apps.reasoning.texts.latex import shown_of
from apps.results.shown import Result, VerdictShown
from apps.ui.typeset.document import Document, Part

PICTURES_AT_MOST = 40
WORTH = {Kind.DEDUCTION: "−{}", Kind.CAP: "at most {}", Kind.ZERO_CREDIT: "worth nothing", Kind.FEEDBACK: "remark"}


def result_document(result: Result) -> Document:
    """The released results of a text, as the author sees them on the page."""
    version = result.version
    problem, contest = version.submission.problem, version.submission.paper.contest
    document = Document(f"Problem {problem.label}, version {version.number}", contest.title)
    document.part("Problem").prose(problem.version.statement)
    if result.points is not None:
        points = document.part(f"Points: {result.points} of {result.scale}", result.derivation)
        if result.items and not result.scheme:
            _items(points, result.items, with_found=False)
    if result.whole or result.remarks:
        whole = document.part("About the whole")
        for words in (*(comment.words for comment in result.whole), *result.remarks):
            whole.comment("", words)
    text = document.part("The text")
    for page in result.pages:
        page.print(document, text, PICTURES_AT_MOST)
        for row in page.rows:
            if row.verdict is not None:
                _verdict(text, row.verdict, row.number)
            elif row.comment is not None:
                text.comment(remark_title(row.number), row.comment.words)
    for step in result.steps:
        text.step(step.number, shown_of(step.text, version.format))
        for verdict in step.verdicts:
            _verdict(text, verdict)
        for comment in step.comments:
            text.comment("", comment.words)
    if result.scheme:
        _items(document.part("Marking scheme"), result.scheme, with_found=True)
    return document


def _verdict(part: Part, verdict: VerdictShown, number: int = 0) -> None:
    part.remark(remark_title(number, _title(verdict)), verdict.value.words)
    if verdict.origin:
        part.remark("", verdict.origin)


def _title(verdict: VerdictShown) -> str:
    if verdict.follows:
        return f"{verdict.fallacy} (follows from the error at {place_words(verdict.follows)} and is not counted again)"
    return f"{verdict.fallacy} ({verdict.role})"


def _items(part: Part, items: tuple[ItemShown, ...], *, with_found: bool) -> None:
    for item in items:
        worth = WORTH.get(item.kind, "{}").format(points_text(item.points))
        is_held = item.kind in (Kind.CAP, Kind.DEDUCTION)
        found = ("applies" if item.is_ticked else "does not apply") if is_held else ("found" if item.is_ticked else "not found")
        part.prose(f"**{item.code}** ({worth}{', ' + found if with_found else ''}) {item.text}")
