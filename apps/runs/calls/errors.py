"""Conversion between errors of calls and the fields of result entries."""

from collections.abc import Mapping

from apps.reasoning.domain import errors

_NAMES = ("BackendError", "BackendUnavailable", "BackendRefused", "RequestRejected", "EngineLost", "DeadlineExceeded")
_ERRORS: Mapping[str, type[errors.BackendError]] = {name: getattr(errors, name) for name in _NAMES}


def fields_of_error(error: errors.BackendError) -> dict[str, str]:
    """Fields for the result stream, including whether a part of the answer had arrived, which only the backend knows."""
    return {"error": type(error).__name__, "message": str(error), "retryable": str(int(error.retryable))}


def error_of_fields(fields: Mapping[str, str]) -> errors.BackendError:
    """The error of the backend; a `BackendError` for an unknown class."""
    error = _ERRORS.get(fields["error"], errors.BackendError)(fields["message"])
    error.retryable = fields.get("retryable", str(int(error.retryable))) == "1"
    return error
