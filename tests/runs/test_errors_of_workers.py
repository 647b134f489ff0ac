"""The errors of a worker as they reach the orchestrator."""

from apps.reasoning.domain import errors
from apps.runs.calls.errors import error_of_fields, fields_of_error


def test_an_error_is_the_same_on_both_ends_of_the_stream() -> None:
    """Also one of a class that only a newer worker has."""
    for name in ("BackendUnavailable", "BackendRefused", "RequestRejected", "EngineLost", "DeadlineExceeded"):
        for retryable in (True, False):
            error: errors.BackendError = getattr(errors, name)("Why.")
            error.retryable = retryable
            found = error_of_fields(fields_of_error(error))
            assert (type(found), str(found), found.retryable) == (type(error), "Why.", retryable)
    assert type(error_of_fields({"error": "MoreThanWeKnow", "message": "Why."})) is errors.BackendError
