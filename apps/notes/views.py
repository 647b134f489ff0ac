"""Pages and parts of notes. Forms work without JavaScript; for htmx, a form returns the notes of its place."""

import uuid

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts.access import user_of
from apps.desk.services import part_tag as part_tag_set
from apps.desk.services import part_untag
from apps.notes import selectors, services
from apps.notes.access import note_get, note_may_edit
from apps.notes.places import Place, place_of
from apps.runs.access import run_get_for
from apps.runs.models import Run


@require_GET
def note_list(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """All notes of a run."""
    run, user = run_get_for(user_of(request), run_id), user_of(request)
    return render(request, "notes/note_list.html", {"run": run, "rows": selectors.notes_of(run, user)})


@require_http_methods(["GET", "POST"])
def note_write(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """The form for a note on the place in the address, and its creation. Raises `Http404` for a place that the run lacks."""
    run, user = run_get_for(user_of(request), run_id), user_of(request)
    place = _place_sent(run, request.POST if request.method == "POST" else request.GET)
    if request.method == "GET":
        return _place(request, place, form=request.GET.get("form") != "closed")
    try:
        note, unknown = services.note_write(user=user, place=place, text=request.POST.get("text", ""))
    except ValidationError as refusal:
        return _place(request, place, form=True, text=request.POST.get("text", ""), refusal=refusal.messages[0])
    return _done(request, place, f"note-{note.pk}", unknown)


@require_http_methods(["GET", "POST"])
def note_edit(request: HttpRequest, run_id: uuid.UUID, note_id: int) -> HttpResponse:
    """The form of one's own note, and its change. Raises `Http404` for a note of another person."""
    run, user = run_get_for(user_of(request), run_id), user_of(request)
    note = note_get(run, note_id)
    if not note_may_edit(user, note):
        raise Http404("Only its author may change a note.")
    place, text, refusal = Place(run, note.kind, note.target), note.text, ""
    if request.method == "POST":
        text = request.POST.get("text", "")
        try:
            return _done(request, place, f"note-{note.pk}", services.note_edit(user=user, note=note, text=text))
        except ValidationError as error:
            refusal = error.messages[0]
    return _place(request, place, form=True, text=text, refusal=refusal, edited=note.pk)


@require_POST
def note_change(request: HttpRequest, run_id: uuid.UUID, note_id: int) -> HttpResponse:
    """Resolve, reopen or delete a note."""
    run, user = run_get_for(user_of(request), run_id), user_of(request)
    note, action = note_get(run, note_id), request.POST.get("action", "")
    place = Place(run, note.kind, note.target)
    try:
        if action == "delete":
            services.note_delete(user=user, note=note)
        elif action in ("resolve", "reopen"):
            services.note_resolve(user=user, note=note, is_resolved=action == "resolve")
    except ValidationError as refusal:
        messages.error(request, refusal.messages[0])
        return redirect(place.url)
    return _done(request, place, f"note-{note_id}")


@require_POST
def part_tag(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """Set or remove a tag on the place in the form. Raises `Http404` for a place that the run lacks."""
    run, user = run_get_for(user_of(request), run_id), user_of(request)
    place = _place_sent(run, request.POST)
    change = part_untag if request.POST.get("action") == "untag" else part_tag_set
    try:
        change(user=user, run=run, kind=place.kind, target=place.target, name=request.POST.get("tag", ""))
    except ValidationError as refusal:
        return _place(request, place, form=True, refusal=refusal.messages[0])
    return _done(request, place, "")


@require_POST
def mention_seen(request: HttpRequest, note_id: int) -> HttpResponse:
    """Take a mention off the home page."""
    services.mention_see(user=user_of(request), note_id=note_id)
    return redirect("home")


def _place_sent(run: Run, sent: QueryDict) -> Place:
    try:
        return place_of(run, sent.get("kind", "run"), sent.get("target", ""))
    except ValidationError as refusal:
        raise Http404(refusal.messages[0]) from refusal


def _place(
    request: HttpRequest, place: Place, *, form: bool, text: str = "", refusal: str = "", edited: int = 0, said: str = ""
) -> HttpResponse:
    """The notes of a place, with a form or the link to one: for htmx as a part, else as a page."""
    context = {"run": place.run, "place": place, "rows": selectors.notes_at(place, user_of(request)), "form": form,
               "tags": selectors.tags_at(place), "text": text, "refusal": refusal, "edited": edited, "said": said}  # fmt: skip
    if request.headers.get("HX-Request") == "true":
        return render(request, "notes/_place.html", context)
    return render(request, "notes/note_place.html", context, status=422 if refusal else 200)


def _done(request: HttpRequest, place: Place, anchor: str, unknown: list[str] | None = None) -> HttpResponse:
    names = ", ".join(f"@{name}" for name in unknown or [])
    said = f"Saved, but {names} received nothing: no person of this name may see this run." if names else ""
    if request.headers.get("HX-Request") == "true":
        return _place(request, place, form=False, said=said)
    if said:
        messages.warning(request, said)
    return redirect(f"{place.url}#{anchor}")
