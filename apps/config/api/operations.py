"""The HTTP API at /api/v1/: problems, marking schemes, runs, events, lemmas and the lemma graph. Manual: docs/api.md.

Programs authenticate with a bearer token, our own pages with their session. Objects that a user may not see are "not found".
"""

import uuid
from collections.abc import Iterable
from typing import Annotated, Any, Literal

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from ninja import NinjaAPI, Query
from ninja.errors import ValidationError
from ninja.security import SessionAuth
from pydantic import AfterValidator, BeforeValidator

from apps.accounts.access import user_of
from apps.config.api import schemas as shapes
from apps.config.api.queries import LemmaQuery, RunQuery, without_nul
from apps.config.api.refusals import openapi_with_refusals, refusals_register
from apps.config.api.tokens import TokenAuth
from apps.desk.models import Tag
from apps.desk.selectors import tags_by_run
from apps.explorations.run_table.columns import ordering
from apps.explorations.run_table.filters import NAMES, Wanted, filtered
from apps.lemmas.final_answers import final_answer_of
from apps.lemmas.graph_data import graph_data
from apps.lemmas.search.selectors import Found, LemmaFilter, lemmas_found, texts_of
from apps.lemmas.search.statements import Statement, statements_of
from apps.lemmas.selectors import lemma_rows
from apps.problems import selectors as problems
from apps.problems.access import problem_get_for, problem_visible_to, solutions_of_may_read
from apps.processes.one_moment import one_moment
from apps.reasoning.marking.schemes.text_form import text_written
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.runs.access import run_get_for, run_visible_to
from apps.runs.models import Run
from apps.runs.selectors import event_page
from apps.schemes.access import scheme_get_for, schemes_problem_for, version_get_for
from apps.schemes.models import MarkingScheme, VersionStatus
from apps.schemes.selectors import scheme_list
from apps.ui.sent import DIGITS_AT_MOST

PER_PAGE = 50
EVENTS_AT_MOST = 1000
LARGEST = 10**DIGITS_AT_MOST - 1  # Fits both databases and JavaScript.

PageNumber = Annotated[int, Query(ge=1, le=LARGEST, description="page number, 50 items a page")]
TopicLetter = Annotated[Literal["", "A", "C", "G", "N", "O"], BeforeValidator(str.upper)]


Text = Annotated[str, AfterValidator(without_nul)]
# Defaults, not annotations: ninja loses the default of an annotation with a validator.
WORDS: Any = Query("", max_length=200, description="words that must all occur")  # type: ignore[type-arg]
TOPIC: Any = Query("", description="A, C, G or N")  # type: ignore[type-arg]


class Api(NinjaAPI):
    """The API, whose schema has the shape of refusals too."""

    def get_openapi_schema(self, **given: Any) -> Any:
        return openapi_with_refusals(super().get_openapi_schema(**given))


api = Api(
    title="Lemmascope",
    version="1",
    description="Problems, marking schemes, runs with events, lemmas, graphs, notes, tags and comparisons, and experiments.",
    urls_namespace="api",
    docs_url=None,
    auth=[TokenAuth(), SessionAuth()],
)
refusals_register(api)


def paged(rows: "QuerySet[Any] | list[Any]", page: int) -> tuple[list[Any], dict[str, int]]:
    """The rows of a page and its position. A page past the end is empty."""
    pages = Paginator(rows, PER_PAGE)
    items = list(pages.page(page)) if page <= pages.num_pages else []
    return items, {"page": page, "pages": pages.num_pages, "total": pages.count}


@api.get("/problems", response=shapes.ProblemPage, url_name="problem_list", summary="List problems")
def problem_list(request: HttpRequest, q: Text = WORDS, topic: TopicLetter = TOPIC, page: PageNumber = 1) -> dict[str, Any]:
    """Problems by title, filtered by words in the title, source or newest statement, and by topic (A, C, G, N, O)."""
    asked = problems.ProblemFilter(q=q, topic=topic)
    items, place = paged(problems.problem_list(problem_visible_to(user_of(request)), asked), page)
    return {"items": items, **place}


@api.get("/problems/{slug}", response=shapes.ProblemOut, url_name="problem_get", summary="One problem")
def problem_get(request: HttpRequest, slug: Text) -> dict[str, Any]:
    """The newest statement; for coaches, researchers and staff also answer, marking scheme and reference solutions.

    While a contest is not over, only its coaches see its problems.
    """
    user = user_of(request)
    problem = problem_get_for(user, slug)
    version, open_book = problem.current, solutions_of_may_read(user, problem)
    fields = ("slug", "title", "topic", "subtopic", "source", "year", "level")
    return {
        **{name: getattr(problem, name) for name in fields},
        "version": version.number,
        "statement": version.statement,
        "answer": version.answer if open_book else None,
        "scheme_text": version.scheme_text if open_book else None,
        "reference_solutions": list(problem.reference_solutions.all()) if open_book else None,
    }


@api.get("/problems/{slug}/schemes", response=shapes.SchemeList, url_name="scheme_list", summary="Marking schemes of a problem")
def scheme_list_(request: HttpRequest, slug: Text) -> dict[str, Any]:
    """The marking schemes with their versions, for users who may read the problem's solutions."""
    problem = schemes_problem_for(user_of(request), slug)
    return {"items": [_scheme_row(scheme, problem.slug) for scheme in scheme_list(problem)]}


@api.get("/schemes/{uuid:scheme_id}", response=shapes.SchemeOut, url_name="scheme_get", summary="One marking scheme")
def scheme_get(
    request: HttpRequest,
    scheme_id: uuid.UUID,
    version: Annotated[int | None, Query(ge=1, le=999_999, description="version number (default: the active version)")] = None,
) -> dict[str, Any]:
    """A version of a scheme as text and as JSON."""
    user = user_of(request)
    scheme = scheme_get_for(user, scheme_id)
    chosen = version_get_for(user, scheme, str(version or ""))
    return {
        "id": scheme.public_id,
        "problem": scheme.problem.slug,
        "title": scheme.title,
        "version": chosen,
        "text": text_written(chosen.content),
        "body": chosen.body,
    }


@api.get("/runs", response=shapes.RunPage, url_name="run_list", summary="List runs")
def run_list_(request: HttpRequest, asked: Query[RunQuery], page: PageNumber = 1) -> dict[str, Any]:
    """Runs with the filters and orders of the page of runs, newest first. Students see none."""
    user = user_of(request)
    if not user.may_see_runs:
        raise Http404
    visible = run_visible_to(user)
    if asked.scaffold and asked.scaffold not in SCAFFOLDS and not visible.filter(scaffold=asked.scaffold).exists():
        raise ValidationError([{"type": "enum", "loc": ["query", "scaffold"], "msg": f"one of {', '.join(SCAFFOLDS)}"}])
    runs = filtered(visible, Wanted({name: str(getattr(asked, name) or "") for name in NAMES}))
    if asked.status:
        runs = runs.filter(status=asked.status)
    items, place = paged(runs.order_by(*ordering(asked.sort)), page)
    tags = tags_by_run([run.pk for run in items])
    return {"items": [_run_row(run, tags.get(run.pk, [])) for run in items], **place}


@api.get("/runs/{uuid:run_id}", response=shapes.RunOut, url_name="run_get", summary="One run")
def run_get(request: HttpRequest, run_id: uuid.UUID) -> dict[str, Any]:
    """The run's specification, state and outcome."""
    return run_whole(run_get_for(user_of(request), run_id))


def run_whole(run: Run) -> dict[str, Any]:
    """All of a run that `RunOut` holds."""
    return {
        **_run_row(run, tags_by_run([run.pk]).get(run.pk, [])),
        "problem_version": run.problem_version.number,
        "spec": run.spec,
        "budget": run.budget,
        "outcome": run.outcome,
        "final_answer": final_answer_of(run),
        "forked_from": run.forked_from.public_id if run.forked_from else None,
        "last_seq": run.last_seq,
    }


def run_out(run: Run) -> shapes.RunOut:
    """The answer of a writing operation on a run."""
    return shapes.RunOut.model_validate(run_whole(run))


@api.get("/runs/{uuid:run_id}/events", response=shapes.EventPage, url_name="run_events", summary="Events of a run")
def run_events(
    request: HttpRequest,
    run_id: uuid.UUID,
    since: Annotated[int, Query(ge=0, le=LARGEST, description="only events after this number")] = 0,
    limit: Annotated[int, Query(ge=1, le=EVENTS_AT_MOST)] = 500,
    kind: Annotated[list[Text], Query(description="only events of this kind; may be repeated")] = [],  # noqa: B006
) -> dict[str, Any]:
    """Events in order, without gaps. Request `since=0`, then `next_since` until `has_more` is false."""
    run = run_get_for(user_of(request), run_id)
    rows = event_page(run, after=since, limit=limit + 1, kinds=kind)
    has_more, rows = len(rows) > limit, rows[:limit]
    # Unless the page was cut, events of other kinds up to the newest were passed too.
    reached = rows[-1]["seq"] if has_more else max(since, run.last_seq, rows[-1]["seq"] if rows else 0)
    return {"events": rows, "next_since": reached, "has_more": has_more, "last_seq": run.last_seq, "is_live": run.is_live}


@api.get("/runs/{uuid:run_id}/lemmas", response=shapes.LemmaList, url_name="run_lemmas", summary="Lemmas of a run")
def run_lemmas(request: HttpRequest, run_id: uuid.UUID) -> dict[str, Any]:
    """All lemma versions with their proofs and the totals of their votes."""
    with one_moment():
        run = run_get_for(user_of(request), run_id)
        return {"items": list(lemma_rows(run)), "last_seq": run.last_seq}


@api.get("/runs/{uuid:run_id}/graph", response=dict[str, Any], url_name="run_graph", summary="Lemma graph of a run")
def run_graph(
    request: HttpRequest,
    run_id: uuid.UUID,
    since: Annotated[int, Query(ge=0, description="only nodes and edges that changed after this event")] = 0,
) -> Any:
    """Nodes and edges of the lemma graph as the page draws them. docs/graph_data.md explains every field."""
    with one_moment():
        return graph_data(run_get_for(user_of(request), run_id), after=since)


@api.get("/lemmas", response=shapes.FoundLemmaPage, url_name="lemma_search", summary="Search the lemmas of all runs")
def lemma_search(request: HttpRequest, asked: Query[LemmaQuery], page: PageNumber = 1) -> dict[str, Any]:
    """Lemmas of all runs by words and formula, sorted by rank, then confidence; without either, the newest first.

    Of lemmas on one problem that say the same, the best is an item and has the others as `others`.
    """
    user = user_of(request)
    if not user.may_see_runs:
        raise Http404
    with one_moment():
        found = lemmas_found(user, LemmaFilter(**asked.dict()))
        ids, place = paged(found.ids, page)
        return {
            "items": [_found_row(says, found) for says in statements_of(user, texts_of(ids))],
            "notes": found.notes,
            **place,
        }


def _found_row(says: Statement, found: Found) -> dict[str, Any]:
    text, lemma, run = says.text, says.text.lemma, says.text.run
    of_lemma = {name: getattr(lemma, name) for name in shapes.LemmaOut.model_fields}
    of_text = {name: getattr(text, name) for name in ("model", "finding", "is_latest", "is_inherited")}
    of_run = {"run": run.public_id, "run_title": run.title, "problem": run.problem_version.problem.slug}
    of_all = {"held_in": says.held.held, "judged_in": says.held.judged, "lemmas": says.lemmas}
    others = [{"run": one.run.public_id, "lemma": one.lemma.lemma, "status": one.lemma.status} for one in says.others]
    return {**of_lemma, **of_text, **of_run, **of_all, "others": others, "matches": found.query.spans(lemma.statement)}


def _scheme_row(scheme: MarkingScheme, slug: str) -> dict[str, Any]:
    versions = list(scheme.versions.all())
    active = next((one.number for one in versions if one.status == VersionStatus.ACTIVE), None)
    return {"id": scheme.public_id, "problem": slug, "title": scheme.title, "version": active, "versions": versions}


def _run_row(run: Run, tags: Iterable[Tag]) -> dict[str, Any]:
    same = (
        "title", "scaffold", "preset", "status", "status_reason", "is_authored", "is_assisted", "calls",
        "prompt_tokens", "completion_tokens", "inherited_calls", "inherited_prompt_tokens", "inherited_completion_tokens",
        "created_at", "started_at", "finished_at",
    )  # fmt: skip
    return {
        **{name: getattr(run, name) for name in same},
        "id": run.public_id,
        "problem": run.problem_version.problem.slug,
        "owner": run.owner.username if run.owner else None,
        "tags": [tag.name for tag in tags],
    }
