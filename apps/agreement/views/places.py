"""Views of steps and items of a contest: errors and ticks of a person and a grader, and the scripts behind each number."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from apps.accounts.access import run_reader_of
from apps.agreement.choosing import chosen_of, query_of
from apps.agreement.pages import Line, Linked
from apps.agreement.places import ComparedScript, ItemsShown, PlacesShown, places_shown
from apps.agreement.sources.contests import contest_source_for
from apps.agreement.sources.sources import Shown
from apps.graders.planning.shown import views_summary
from apps.marks.selectors import FALLACY_WORDS
from apps.reasoning.agreement.places import PlacesFound, Rate
from apps.reasoning.agreement.report import FEW
from apps.reasoning.domain.values import Unscored
from apps.reasoning.marking.sheets.pages import place_words
from apps.reasoning.marking.sheets.sheet import Fallacy

#: Names of rates in queries, with their label and the unit of their denominator.
RATES: Mapping[str, tuple[str, str]] = {
    "first_exact": ("First error at the same step", "scripts in which both find one"),
    "first_within_one": ("First error within one step", "scripts in which both find one"),
    "only_human": ("Only the person finds an error", "scripts"),
    "only_grader": ("Only the grader finds an error", "scripts"),
    "neither": ("Neither finds an error", "scripts"),
    "precision": ("Precision of root errors", "steps with a root error of the grader"),
    "recall": ("Recall of root errors", "steps with a root error of the person"),
}
LISTED = {"precision": "the grader names a step that the person does not", "recall": "the grader misses a step"}
TICKS = {"both": "both", "neither": "neither", "grader_only": "grader only", "human_only": "person only"}


@dataclass(frozen=True)
class GraderPlaces:
    """Tables of one grader on the papers of one author source."""

    title: str
    papers: int
    unscored: int
    rates: Sequence[Line]
    f1: str
    types: Sequence[Line]
    items: Sequence[tuple[str, Sequence[Line]]]


@never_cache
@require_GET
def agreement_places(request: HttpRequest, source_id: uuid.UUID) -> HttpResponse:
    """Show the tables; with `?show=` list the scripts behind one of their numbers."""
    source = contest_source_for(run_reader_of(request), source_id, of_points=False)
    choices = source.choices()
    chosen = chosen_of(request.GET, choices)
    found = places_shown(source, chosen)
    names = {one.name: one.words for one in choices.graders}
    query = query_of(chosen)
    context: dict[str, Any] = {"source": source, "source_id": source_id, "query": query, "choices": choices, "chosen": chosen}
    if "show" in request.GET:
        one = _asked(found, request.GET.get("of", ""), request.GET.get("author", ""))
        words, papers = _papers(one, request.GET["show"])
        shown = source.shown(papers)
        rows = [_row(shown.get(paper, Shown(paper)), one.compared[paper]) for paper in papers]
        context |= {"grader": names.get(one.grader, one.grader), "words": words, "rows": rows}
        return render(request, "agreement/placed.html", context)
    here = reverse("agreement:places", args=[source_id])
    context["graders"] = [_tables(one, names.get(one.grader, one.grader), f"{here}?{query}") for one in found]
    context["views"] = views_summary(source.views(dict.fromkeys(one.grader for one in found)), names)
    context |= {"ticks": TICKS.values(), "schemes": choices.schemes_on(chosen.problem)}
    return render(request, "agreement/places.html", context)


def _tables(shown: PlacesShown, name: str, here: str) -> GraderPlaces:
    def link(show: str) -> str:
        return f"{here}&{urlencode({'of': shown.grader, 'author': shown.author, 'show': show})}"

    found = shown.found
    return GraderPlaces(
        title=f"{name}, papers by {shown.author}s" if shown.author else name,
        papers=found.papers,
        unscored=shown.unscored,
        rates=[_rate(name, getattr(found, name), link(name)) for name in RATES],
        f1=_share(found.f1, found.precision.of + found.recall.of),
        types=[
            Line(
                _type(one.human), [Linked(_type(one.grader)), Linked(f"{one.count:,}", link(f"type.{one.human}.{one.grader}"))]
            )
            for one in found.types
        ],
        items=[(items.problem, [_item(items, number, link) for number in range(len(items.items))]) for items in shown.items],
    )


def _rate(name: str, rate: Rate, href: str) -> Line:
    words, of = RATES[name]
    count = Linked(f"{rate.count:,} of {rate.of:,} {of}", href if rate.papers else "")
    return Line(words, [Linked(_share(rate.share, rate.of), is_missing=rate.of < FEW), count])


def _item(items: ItemsShown, number: int, link: Any) -> Line:
    code, item = items.rows[number]
    cells = []
    for name in TICKS:
        papers = getattr(item, name)
        share = f" · {len(papers) / item.of:.0%}" if item.of >= FEW else f" of {item.of:,}"
        cells.append(Linked(f"{len(papers):,}{share}", link(f"item.{items.problem}.{item.code}.{name}") if papers else ""))
    few = item.of < FEW
    first, last = (Linked(_share(one, item.of), is_missing=few) for one in (item.prevalence, item.agreement))
    return Line(code, [first, *cells, last])


def _share(value: float | Unscored, of: int) -> str:
    """A share in percent, if its denominator is at least `FEW`."""
    if isinstance(value, Unscored):
        return "–"
    return f"{value:.0%}" if of >= FEW else f"fewer than {FEW}"


def _type(value: str) -> str:
    return FALLACY_WORDS[Fallacy(value)]


def _asked(found: Sequence[PlacesShown], grader: str, author: str) -> PlacesShown:
    for one in found:
        if (one.grader, one.author) == (grader, author):
            return one
    raise Http404("No results of this grader.")


def _papers(shown: PlacesShown, show: str) -> tuple[str, Sequence[str]]:
    """The label of a number and the scripts behind it. Raises `Http404`."""
    found: PlacesFound = shown.found
    if show in RATES:
        rate: Rate = getattr(found, show)
        return LISTED.get(show, RATES[show][0]), rate.papers
    kind, _, rest = show.partition(".")
    for pair in found.types if kind == "type" else ():
        if rest == f"{pair.human}.{pair.grader}":
            return f"{_type(pair.human)} for the person, {_type(pair.grader)} for the grader", pair.papers
    for items in shown.items if kind == "item" else ():
        for code, item in items.rows:
            for name, words in TICKS.items():
                if rest == f"{items.problem}.{item.code}.{name}":
                    return f"Problem {items.problem}, item {code}: {words}", getattr(item, name)
    raise Http404("No such number.")


def _row(paper: Shown, compared: ComparedScript) -> dict[str, Any]:
    """A script with errors and items of both sides, as text."""
    verdicts = [f"{place_words(one.step)}: {_type(one.fallacy.value)} ({one.role.value})" for one in compared.sheet.verdicts]
    findings = [f"step {one.step}: {_type(one.fallacy.value)} ({one.severity.value})" for one in compared.body.findings]
    return {
        "paper": paper,
        "person": verdicts or ["no error"],
        "grader": findings or ["no error"],
        "ticked": ", ".join(sorted(compared.sheet.ticks)) or "none",
        "given": ", ".join(sorted(item.code for item in compared.body.items)) or "none",
    }
