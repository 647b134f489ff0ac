"""Pages of help. They need no account, because they contain what the source code does."""

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from apps.help.documents import page_get
from apps.help.search import LONGEST_QUERY, MOST, search


@require_GET
@login_not_required
def contents(request: HttpRequest) -> HttpResponse:
    """The contents, grouped by readers; with `?q=`, the sections found."""
    query = request.GET.get("q", "").strip()[:LONGEST_QUERY]
    context = {"page": page_get(""), "query": query, "found": search(query) if query else [], "most": MOST}
    return render(request, "help/contents.html", context)


@require_GET
@login_not_required
def page(request: HttpRequest, name: str) -> HttpResponse:
    """One document with its sections. Raises `Http404` for an unknown name."""
    found = page_get(name)
    if found is None:
        raise Http404(f"Help has no page {name}.")
    return render(request, "help/page.html", {"page": found})
