"""`/healthz`: whether this web process answers and reaches its database, for supervisors and load balancers."""

from django.contrib.auth.decorators import login_not_required
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET


@require_GET
@login_not_required
def healthz(request: HttpRequest) -> HttpResponse:
    """200 and `ok`; 503 if the database is unreachable (apps/config/errors.py)."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return HttpResponse("ok", content_type="text/plain")
