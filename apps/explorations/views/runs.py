"""The page of one run with its parts."""

import json
import uuid
from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_GET

from apps.accounts.access import user_of
from apps.accounts.models import User
from apps.explorations import selectors
from apps.explorations.calls.transcript import STATUSES, filter_from, log_page
from apps.explorations.candidates.exchange import exchange
from apps.explorations.candidates.lineage import lineage_data
from apps.explorations.candidates.lineage_levels import has_lineage, lineage_levels
from apps.explorations.candidates.solutions import solutions
from apps.explorations.figures import confidence_figure, tokens_figure
from apps.explorations.forking.words import forks_of, origin_of_fork
from apps.explorations.importing.report import origin_of
from apps.explorations.timeline import timeline
from apps.explorations.views.shared import run_of, wants_part
from apps.explorations.words import compares_solutions, round_word, scaffold_word
from apps.lemmas.established import believed, established
from apps.lemmas.formula_checks import run_checks
from apps.lemmas.network import run_graph
from apps.lemmas.outline import outline
from apps.lemmas.search.views import other_runs
from apps.lemmas.selectors import lemma_detail, proof_detail
from apps.notes.selectors import notes_of, notes_open
from apps.processes.one_moment import one_moment
from apps.runs.access import run_may_start
from apps.runs.models import Run

TABS = {
    "established": "Established", "lemma": "Lemma", "proof": "Proof", "agents": "Agents", "notes": "Notes", "log": "Log",
    "charts": "Charts",
}  # fmt: skip


@require_GET
@one_moment()
def run_detail(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """One run: header, timeline, lemma graph, panel, agents."""
    run, user = run_of(request, run_id), user_of(request)
    open_now = selectors.open_calls_of(run)
    lineage = lineage_data(run) if compares_solutions(run.scaffold) else None
    found = solutions(run) if compares_solutions(run.scaffold) else None
    context = {
        "solutions": found,
        "exchange": exchange(run, found) if found else None,
        "lineage_levels": lineage_levels(lineage, round_word(run.scaffold)) if lineage and has_lineage(run, lineage) else None,
        "run": run,
        "scaffold": scaffold_word(run.scaffold),
        "header": selectors.header(run, user, len(open_now)),
        "new_command": uuid.uuid4(),
        "timeline": timeline(run, open_now),
        "lanes": selectors.lanes(open_now),
        "role_words": json.dumps(dict(selectors.roles_of(run))),
        "levels": outline(run_graph(run)),
        "may_start": run_may_start(user),
        "origin": origin_of(run),
        "fork_origin": origin_of_fork(run, user),
        "forks": forks_of(run, user),
        **_panel_context(request, run, user, None),
    }
    return render(request, "explorations/run_detail.html", context)


@require_GET
@one_moment()
def run_header(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """The header as a part: status, budgets, buttons, commands."""
    run, user = run_of(request, run_id), user_of(request)
    if not wants_part(request):
        return redirect("explorations:run_detail", run_id=run.public_id)
    open_now = selectors.open_calls_of(run)
    context = {
        "run": run,
        "header": selectors.header(run, user, len(open_now)),
        "new_command": uuid.uuid4(),
        "may_start": run_may_start(user),
    }
    return render(request, "explorations/_header.html", context)


@require_GET
@one_moment()
def run_solutions(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """The solutions of a scaffold that compares whole solutions, as a part."""
    run = run_of(request, run_id)
    if not wants_part(request):
        return redirect("explorations:run_detail", run_id=run.public_id)
    found = solutions(run)
    context = {"run": run, "found": found, "exchange": exchange(run, found)}
    return render(request, "explorations/_solutions.html", context)


@require_GET
@one_moment()
def run_timeline(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """The round timeline as a part."""
    run = run_of(request, run_id)
    if not wants_part(request):
        return redirect("explorations:run_detail", run_id=run.public_id)
    context = {"run": run, "timeline": timeline(run, selectors.open_calls_of(run))}
    return render(request, "explorations/_timeline.html", context)


@require_GET
@one_moment()
def run_panel(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """The panel next to the graph as a part, with `at` as of an event; without htmx, redirects to the whole page."""
    run, user = run_of(request, run_id), user_of(request)
    if not wants_part(request):
        address = reverse("explorations:run_detail", args=[run.public_id])
        return redirect(f"{address}?{request.GET.urlencode()}")
    context = {"run": run, "new_command": uuid.uuid4(), **_panel_context(request, run, user, _until(request, run))}
    return render(request, "explorations/_panel.html", context)


@require_GET
@one_moment()
def run_charts(request: HttpRequest, run_id: uuid.UUID) -> JsonResponse:
    """The figures of the Charts tab; with `at`, as of that event."""
    run = run_of(request, run_id)
    until = _until(request, run)
    return JsonResponse({"tokens": tokens_figure(run, until), "confidence": confidence_figure(run, until)})


@require_GET
@one_moment()
def run_log(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """The log in the full window; for htmx as a part."""
    run = run_of(request, run_id)
    name = "_log" if wants_part(request) else "run_log"
    response = render(request, f"explorations/{name}.html", {"run": run, **_log_context(request, run, _until(request, run))})
    patch_vary_headers(response, ["HX-Request"])
    return response


def _until(request: HttpRequest, run: Run) -> int | None:
    """The current event of a replay; None for a live run or an address without an event."""
    return None if run.is_live else filter_from(request.GET).until


def _panel_context(request: HttpRequest, run: Run, user: User, until: int | None) -> dict[str, Any]:
    """Context of the chosen tab; with `until`, as of that event.

    Default tabs: the agents of a live run, the proof of a run that has ended.
    """
    proof_name, lemma_name = request.GET.get("proof", ""), request.GET.get("lemma", "")
    node = request.GET.get("node", "")
    if node.startswith("proof/"):
        proof_name = proof_name or node.removeprefix("proof/")
    elif node and node != "problem":
        lemma_name = lemma_name or node
    tab = request.GET.get("tab", "")
    proof = None
    if tab not in TABS:
        tab = "lemma" if lemma_name else "proof" if proof_name else "agents" if run.is_live else ""
    if tab in ("", "proof"):
        proof = proof_detail(run, proof_name, until)
        tab = tab or ("proof" if proof else "log")
    of_lemmas = not compares_solutions(run.scaffold)
    tabs = {name: word for name, word in TABS.items() if of_lemmas or name not in ("established", "lemma")}
    context: dict[str, Any] = {"tab": tab, "tabs": tabs, "may_steer": selectors.may_steer(user, run), "until": until}
    context["notes_open"] = notes_open(run)
    if tab == "notes":
        context |= {"rows": notes_of(run, user)}
    elif tab == "established":
        context |= {"established": established(run, until)}
    elif tab == "lemma":
        detail = lemma_detail(run, lemma_name, until) if lemma_name else None
        context |= {"detail": detail, "lemma": detail.lemma if detail else None, "lemma_name": lemma_name}
        context |= other_runs(user, detail.lemma) if detail and until is None else {}
    elif tab == "proof":
        is_selected = proof is not None and proof.proof.selected and until is None
        context |= {"detail": proof, "proof": proof.proof if proof else None, "proof_name": proof_name}
        context["believed"] = believed(run_graph(run)) if is_selected else None
    elif tab == "agents":
        context |= {"agents": selectors.agents(run, until), "checks": run_checks(run, until)}
        context["talks"], context["older_talks"] = selectors.reasoners(run, until)
    elif tab == "log":
        context |= _log_context(request, run, until)
    return context


def _log_context(request: HttpRequest, run: Run, until: int | None) -> dict[str, Any]:
    wanted = replace(filter_from(request.GET), until=until)
    query = request.GET.copy()
    for name in ("after", "before", "tab", "node", *(("at",) if until is None else ())):
        query.pop(name, None)
    return {
        "wanted": wanted,
        "log": log_page(run, wanted),
        "roles": selectors.roles_of(run),
        "rounds": selectors.rounds_of(run),
        "log_statuses": STATUSES,
        "log_query": query.urlencode(),
    }
