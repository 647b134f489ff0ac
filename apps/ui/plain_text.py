"""Remove NUL characters from addresses: PostgreSQL rejects queries with such texts.

Forms reject them by field and the API with 422; the rest are search fields and names in addresses.
"""

from collections.abc import Callable
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import Http404, HttpRequest, QueryDict
from django.utils.decorators import sync_and_async_middleware

API = "/api/"


def without_nul(values: QueryDict) -> QueryDict:
    """The parameters without NUL characters in names and values."""
    plain = QueryDict(mutable=True, encoding=values.encoding)
    for name, texts in values.lists():
        plain.setlist(name.replace("\0", ""), [text.replace("\0", "") for text in texts])
    plain._mutable = False
    return plain


def _check(request: HttpRequest) -> None:
    if request.path_info.startswith(API):
        return
    if "\0" in request.path_info:
        raise Http404("An address cannot contain a NUL character.")
    if "%00" in request.META.get("QUERY_STRING", ""):
        request.GET = without_nul(request.GET)  # type: ignore[assignment]


@sync_and_async_middleware
def plain_text(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Middleware: remove NUL characters from query parameters; raise `Http404` for one in the path."""
    if iscoroutinefunction(get_response):

        async def answer_async(request: HttpRequest) -> Any:
            _check(request)
            return await get_response(request)

        return answer_async

    def answer(request: HttpRequest) -> Any:
        _check(request)
        return get_response(request)

    return answer
