"""The page that documents the HTTP API."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from apps.config.api.docs import api_operations


@require_GET
def api_docs(request: HttpRequest) -> HttpResponse:
    """Documentation of the HTTP API, generated from its OpenAPI schema."""
    return render(request, "home/api_docs.html", {"operations": api_operations()})
