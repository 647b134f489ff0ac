"""The page that searches the lemmas of all runs, and the part of a lemma's page about other runs."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import date
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_GET

from apps.accounts.access import user_of
from apps.accounts.models import User
from apps.lemmas.models import Lemma, LemmaText
from apps.lemmas.search import origin
from apps.lemmas.search.highlights import highlighted
from apps.lemmas.search.selectors import (
    FINDINGS,
    VERDICTS,
    Found,
    LemmaFilter,
    lemmas_found,
    models_used,
    searchable_runs,
    texts_of,
)
from apps.lemmas.search.sisters import sisters_of
from apps.lemmas.search.statements import Statement, statements_of
from apps.lemmas.words import confidence_words
from apps.problems.access import problem_visible_to
from apps.problems.models import Topic
from apps.processes.one_moment import one_moment

PAGE = 20


@dataclass(frozen=True)
class Row:
    """One statement of the list. `text`: its best lemma."""

    text: LemmaText
    statement: str
    confidence: str
    finding: str
    says: Statement


@require_GET
@one_moment()
def lemma_search(request: HttpRequest) -> HttpResponse:
    """Lemmas of all runs that the user may see, by words, formula and filters."""
    user = user_of(request)
    if not user.may_see_runs:
        raise Http404
    asked, refused = filter_from(request.GET)
    found = lemmas_found(user, asked)
    page = Paginator(found.ids, PAGE).get_page(request.GET.get("page"))
    query = request.GET.copy()
    query.pop("page", None)
    context = {
        "asked": asked,
        "given": {name: request.GET.get(name, "") for name in ("confidence", "since", "until")},
        "is_filtered": asked != LemmaFilter(),
        "has_more_filters": any((asked.finding, asked.model, asked.confidence, asked.since, asked.until, asked.all_versions)),
        "notes": [*refused, *found.notes],
        "page": page,
        "rows": [_row(says, found) for says in statements_of(user, texts_of(list(page.object_list)))],
        "query": query.urlencode(),
        "problem": problem_visible_to(user).filter(slug=asked.problem).first() if asked.problem else None,
        "topics": Topic.choices,
        "verdicts": VERDICTS.items(),
        "findings": FINDINGS.items(),
        "models": models_used(user),
    }
    return render(request, "lemmas/lemma_search.html", context)


def filter_from(sent: QueryDict) -> tuple[LemmaFilter, list[str]]:
    """The filter of an address, and a sentence for each value that was left out because it is invalid."""
    values: dict[str, Any] = {}
    refused = []
    read: dict[str, tuple[Callable[[str], Any], str]] = {
        "topic": (_one_of(Topic.values), "is no topic. Choose one from the list."),
        "verdict": (_one_of(VERDICTS), "is no verdict. Choose one from the list."),
        "finding": (_one_of(FINDINGS), "is no result of the formula check. Choose one from the list."),
        "confidence": (_percent, "is no confidence. Write a number from 0 to 100."),
        "since": (date.fromisoformat, "is no date. Write it as 2026-03-31."),
        "until": (date.fromisoformat, "is no date. Write it as 2026-03-31."),
    }
    for field in fields(LemmaFilter):
        given = sent.get(field.name, "").replace("\0", "").strip()
        convert, complaint = read.get(field.name, (bool if field.name in ("whole", "all_versions") else str, ""))
        try:
            values |= {field.name: convert(given)} if given else {}
        except ValueError:
            refused.append(f"“{given[:40]}” {complaint}")
    return LemmaFilter(**values), refused


def other_runs(user: User, lemma: Lemma) -> dict[str, object]:
    """Context of `lemmas/_other_runs.html`: the sisters of a lemma, its origin, and the runs it may be put into."""
    may_be_put = origin.may_be_put(lemma)
    return {
        "sisters": sisters_of(lemma, searchable_runs(user)),
        "came_from": origin.origin_of(user, lemma),
        "may_be_put": may_be_put,
        "takes_proof": may_be_put and origin.takes_proof(lemma),
        "put_into": [(run, uuid.uuid4()) for run in origin.runs_for(user, lemma)] if may_be_put else [],
    }


def _row(says: Statement, found: Found) -> Row:
    statement = says.text.lemma.statement
    marked = highlighted(statement, found.query.spans(statement))
    return Row(says.text, marked, confidence_words(says.text.lemma), FINDINGS.get(says.text.finding, ""), says)


def _one_of(known: Any) -> Callable[[str], str]:
    def choose(given: str) -> str:
        if given not in known:
            raise ValueError(given)
        return given

    return choose


def _percent(given: str) -> float:
    value = float(given.replace(",", ".").rstrip("%")) / 100
    if not 0 <= value <= 1:
        raise ValueError(given)
    return value
