"""Errors of calls as workers tell them: the fields of a result entry, and the error that they stand for."""

from collections.abc import Mapping

from apps.reasoning.domain import errors

_NAMES = ("BackendError", "BackendUnavailable", "BackendRefused", "RequestRejected", "EngineLost", "DeadlineExceeded")
_ERRORS: Mapping[str, type[errors.BackendError]] = {name: getattr(errors, name) for name in _NAMES}


def fields_of_error(error: errors.BackendError) -> dict[str, str]:
    """What goes on the stream. Only the backend knows whether anything of the answer had come, so that travels too."""
    return {"error": type(error).__name__, "message": str(error), "retryable": str(int(error.retryable))}


def error_of_fields(fields: Mapping[str, str]) -> errors.BackendError:
    """As the backend raised it; an error of a class that this version does not know is a `BackendError`."""
    error = _ERRORS.get(fields["error"], errors.BackendError)(fields["message"])
    error.retryable = fields.get("retryable", str(int(error.retryable))) == "1"
    return error
