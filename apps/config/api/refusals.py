"""Refusals of the API as problem JSON (RFC 9457): the sentence in `detail` says what to do."""

from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.exceptions import ValidationError as Refused
from django.http import Http404, HttpRequest, JsonResponse
from ninja import NinjaAPI, Schema
from ninja.errors import AuthenticationError, HttpError, ValidationError
from pydantic import Field

from apps.experiments.refusals import ExperimentRefused
from apps.experiments.solving.manifest import ManifestWrong
from apps.explorations.comparing.asking import CannotCompare
from apps.reasoning.domain.errors import AliasError

MEDIA_TYPE = "application/problem+json"
#: Names of the parameters that hold a whole body or query.
PARAMETERS = ("body", "asked")
_FIELDS = {"alias": "model"}
#: Sentences in place of those of pydantic, by type of the mistake.
_SAID = {
    "extra_forbidden": "there is no such field here. Remove it, or correct its name (docs/api.md)",
    "missing": "it is missing. Send a value",
}


class Mistake(Schema):
    """A wrong field or parameter."""

    loc: list[str] = Field(description="where it is: query, path, header or body, then its name")
    msg: str = Field(description="what to write there")


class Problem(Schema):
    """Why a request was refused, as in RFC 9457."""

    type: str = Field(default="about:blank", description="always about:blank")
    title: str = Field(description="the status in words")
    status: int = Field(description="the HTTP status")
    detail: str = Field(description="what happened and what to do, as a sentence")
    errors: list[Mistake] = Field(default=[], description="the wrong fields; only with status 422")


class ApiRefused(Exception):
    """The request is refused with this status and sentence; `retry_after_s` in seconds, if waiting helps."""

    def __init__(self, status: int, detail: str, retry_after_s: float = 0.0) -> None:
        super().__init__(detail)
        self.status, self.detail, self.retry_after_s = status, detail, retry_after_s


def refusal(status: int, detail: str, mistakes: Iterable[Mistake] = ()) -> JsonResponse:
    """The answer to a refused request."""
    body = Problem(title=HTTPStatus(status).phrase, status=status, detail=detail, errors=list(mistakes))
    return JsonResponse(body.model_dump(mode="json"), status=status, content_type=MEDIA_TYPE)


def refusals_register(api: NinjaAPI) -> None:
    """Answer all refusals of services and of the API itself as problem JSON."""
    for kind, answer in _ANSWERS.items():
        api.add_exception_handler(kind, answer)


def openapi_with_refusals(schema: dict[str, Any]) -> dict[str, Any]:
    """An OpenAPI schema whose operations all have the shape of refusals."""
    shapes = schema.setdefault("components", {}).setdefault("schemas", {})
    whole = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    shapes |= whole.pop("$defs") | {"Problem": whole}
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for operations in schema["paths"].values():
        for operation in operations.values():
            operation["responses"]["default"] = {"description": "Refused", "content": content}
    return schema


def _wrong(mistakes: Iterable[Mistake]) -> JsonResponse:
    found = list(mistakes)
    return refusal(422, f"{' '.join(map(_sentence, found))} Correct this and send the request again.", found)


def _sentence(one: Mistake) -> str:
    """The mistake with the name of its field; one of a whole body has no name."""
    words = f"{'.'.join(one.loc[1:])}: {one.msg}" if one.loc[1:] else one.msg[:1].upper() + one.msg[1:]
    return f"{words.rstrip('.')}."


def _mistake(row: Mapping[str, Any]) -> Mistake:
    """A mistake that pydantic found. The place has the names of the API, without those of our parameters."""
    place, *names = map(str, row["loc"])
    said = _SAID.get(row["type"]) or str(row["msg"]).removeprefix("Value error, ")
    return Mistake(loc=[place, *(names[1:] if names and names[0] in PARAMETERS else names)], msg=said)


def _field(name: str) -> str:
    """The field of the API for a field of the start form."""
    for prefix, whole in (("p_", "params."), ("role_", "roles.")):
        if name.startswith(prefix):
            return whole + name.removeprefix(prefix)
    return _FIELDS.get(name, name)


def _not_signed_in(request: HttpRequest, error: Any) -> JsonResponse:
    answer = refusal(401, "Not signed in. Send a token in the header: Authorization: Bearer lsc_…")
    answer["WWW-Authenticate"] = "Bearer"
    return answer


def _refused(request: HttpRequest, error: Any) -> JsonResponse:
    answer = refusal(error.status, error.detail)
    if error.retry_after_s:
        answer["Retry-After"] = str(int(error.retry_after_s) + 1)
    return answer


def _by_ninja(request: HttpRequest, error: Any) -> JsonResponse:
    return refusal(error.status_code, f"{error.message.rstrip('.')}. See docs/api.md for the form of a request.")


def _not_found(request: HttpRequest, error: Any) -> JsonResponse:
    return refusal(404, str(error) or "Not found, or you may not see it.")


def _forbidden(request: HttpRequest, error: Any) -> JsonResponse:
    return refusal(403, str(error) or "You may not do this. Ask a researcher or a member of staff.")


def _not_now(request: HttpRequest, error: Any) -> JsonResponse:
    return refusal(409, str(error))


def _not_comparable(request: HttpRequest, error: Any) -> JsonResponse:
    advice = " Name two to four runs of one problem." if error.advice else ""
    return refusal(404 if error.status == 404 else 422, error.reason + advice)


def _manifest_wrong(request: HttpRequest, error: Any) -> JsonResponse:
    return refusal(422, str(error))


def _form_wrong(request: HttpRequest, error: Any) -> JsonResponse:
    return _wrong(map(_mistake, error.errors))


def _rule_broken(request: HttpRequest, error: Any) -> JsonResponse:
    if not hasattr(error, "error_dict"):
        return refusal(422, " ".join(error.messages))
    return _wrong(Mistake(loc=["body", _field(name)], msg=" ".join(words)) for name, words in error.message_dict.items())


_ANSWERS: dict[type[Exception], Callable[[HttpRequest, Any], JsonResponse]] = {
    AuthenticationError: _not_signed_in,
    ApiRefused: _refused,
    HttpError: _by_ninja,
    Http404: _not_found,
    PermissionDenied: _forbidden,
    ExperimentRefused: _not_now,
    AliasError: _not_now,
    CannotCompare: _not_comparable,
    ManifestWrong: _manifest_wrong,
    ValidationError: _form_wrong,
    Refused: _rule_broken,
}
