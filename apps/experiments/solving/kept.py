"""What a reader chose on one page and keeps on the others: the scorer, and how cells without an answer count."""

from django.http import HttpRequest
from django.utils.http import urlencode

NONE = "none"


def counts_none(request: HttpRequest) -> bool:
    """Whether cells that gave no answer count as 0."""
    return request.GET.get(NONE) == "0"


def query_kept(request: HttpRequest) -> str:
    """The choices as the query of a link to another page, with its question mark; "" without any."""
    kept = {name: value for name in ("scorer", NONE) if (value := request.GET.get(name))}
    return f"?{urlencode(kept)}" if kept else ""
