"""The page *Geometry*: a statement with its figure, the outcome of each goal, and the engine's proof."""

from pathlib import Path

from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_GET, require_POST

from apps.accounts.access import user_of
from apps.geometry.constructions import CONSTRUCTIONS
from apps.geometry.drawing import goal_words
from apps.geometry.engine import prove, with_proof
from apps.geometry.predicates import PREDICATES
from apps.geometry.showing import shown, shown_goals
from apps.problems.access import problem_visible_to
from apps.problems.geometry_drafts import draft_ask, draft_get_for, drafting_models
from apps.problems.models import GeometryDraft
from apps.ui.sent import whole_number

EXAMPLES = (
    ("The altitudes of a triangle", "a b c = triangle; h = on_tline b a c, on_tline c a b ? perp a h b c"),
    (
        "The Euler line",
        "a b c = triangle; x y z g = centroid a b c; o = circumcenter a b c; h = orthocenter a b c ? coll o g h",
    ),
    ("Thales’ theorem", "a b = segment; o = midpoint a b; c = on_circle o a ? perp a c b c"),
    (
        "IMO 2000, problem 1",
        "a b = segment; g1 = on_tline a a b; g2 = on_tline b b a; m = on_circle g1 a, on_circle g2 b; "
        "n = on_circle g1 a, on_circle g2 b; c = on_pline m a b, on_circle g1 a; d = on_pline m a b, on_circle g2 b; "
        "p = on_line a n, on_line c d; q = on_line b n, on_line c d; e = on_line a c, on_line b d ? cong e p e q",
    ),
    ("A false statement", "a b c = triangle; i = incenter a b c; h = orthocenter a b c ? coll a i h"),
)


@require_GET
def geometry(request: HttpRequest) -> HttpResponse:
    """The form, and the statement of the address with the figure that `configuration` names.

    `draft` names a draft of a model, whose text is in the form but not checked; `problem` a problem to draft a statement for.
    A script asks for the page again until the draft is done, and is then sent to it.
    """
    user, draft = user_of(request), None
    if named := request.GET.get("draft", ""):
        draft = draft_get_for(user, named)
        if request.headers.get("HX-Request") == "true":
            address = "" if draft.is_open else f"{reverse('problems:geometry')}?draft={draft.public_id}"
            return HttpResponse(status=204, headers={"HX-Redirect": address} if address else {})
    problem = problem_visible_to(user).filter(slug=request.GET.get("problem", "")).first()
    words = draft.words if draft else problem.current.statement if problem else ""
    return _page(request, draft=draft, words=words)


@require_POST
def geometry_draft(request: HttpRequest) -> HttpResponse:
    """Ask the model `alias` for a statement of the problem `words`."""
    user, words = user_of(request), request.POST.get("words", "")
    if not user.may_see_runs:
        raise Http404("There is no such page.")
    try:
        draft = draft_ask(user, words, request.POST.get("alias", ""))
    except ValidationError as error:
        return _page(request, words=words, draft_error=" ".join(error.messages))
    return redirect(f"{reverse('problems:geometry')}?draft={draft.public_id}")


def _page(request: HttpRequest, *, draft: GeometryDraft | None = None, words: str = "", draft_error: str = "") -> HttpResponse:
    text = request.GET.get("statement", "").strip()
    found = shown(text, whole_number(request.GET.get("configuration", ""))) if text else None
    context = {
        "text": text or (draft.text if draft else ""),
        "error": found.error if found else draft.refusal if draft and draft.text else "",
        "found": found,
        "drawing": mark_safe(found.drawing) if found else "",  # noqa: S308  Names in it are letters, digits, _ and '.
        "draft": draft,
        "words": words,
        "draft_error": draft_error,
        "models": drafting_models(user_of(request)),
        "examples": EXAMPLES,
        "constructions": CONSTRUCTIONS.values(),
        "predicates": PREDICATES.values(),
    }
    return render(request, "problems/geometry.html", context)


@require_GET
def geometry_proof(request: HttpRequest) -> HttpResponse:
    """The outcomes with the engine's proof, as a partial for htmx or as a page. The search takes seconds."""
    text = request.GET.get("statement", "").strip()
    found = shown(text)
    proof = prove(found.check, Path(settings.GEOMETRY_PYTHON)) if found.check else None
    goals = shown_goals(with_proof(found.check, proof)) if found.check and proof else []
    proofs = [(goal_words(one.goal), one) for one in proof.found] if proof else []
    is_partial = request.headers.get("HX-Request") == "true"
    name = "problems/_geometry_proof.html" if is_partial else "problems/geometry_proof.html"
    return render(request, name, {"text": text, "found": found, "proof": proof, "goals": goals, "proofs": proofs})
