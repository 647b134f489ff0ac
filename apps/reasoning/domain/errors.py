"""All exceptions of the core. Each docstring is the default message; messages say what to do."""


class ReasoningError(Exception):
    """Something in the reasoning core failed."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())


class BackendError(ReasoningError):
    """The backend failed."""

    #: Whether the same request may be sent again: only if no part of the answer was received.
    retryable = False
    #: Whether every call to this alias would fail in the same way, so that the run stops and waits for a person.
    fatal_for_run = False
    #: Number of the last attempt, if the dispatcher made several.
    attempt = 0


class BackendUnavailable(BackendError):
    """The model server cannot be reached. Start it or correct its address in models.toml, then resume the run."""

    retryable = True
    fatal_for_run = True


class BackendRefused(BackendError):
    """The model server refused the key or the model name. Correct models.toml or the key, then resume the run."""

    fatal_for_run = True


class RequestRejected(BackendError):
    """The model server rejected this request, for example because the prompt is longer than its context."""


class EngineLost(BackendError):
    """The engine died while it generated."""

    retryable = True


class DeadlineExceeded(BackendError):
    """The call took longer than its deadline and was stopped."""


class CallFailed(ReasoningError):
    """A call failed after its last attempt. The journal has the failure; the scaffold decides how to continue."""

    def __init__(self, key: str, reason: str) -> None:
        super().__init__(f"{key}: {reason}")
        self.key = key
        self.reason = reason


class RunHalted(ReasoningError):
    """The run stopped; everything is kept. Resume it to continue."""


class RunCancelled(RunHalted):
    """The run was cancelled."""


class FenceLost(RunHalted):
    """Another process has taken this run over; this one stops writing."""


class JournalUnwritable(RunHalted):
    """The journal cannot be written (disk full or database gone). Make room, then resume the run."""


class NeedsFork(RunHalted):
    """The code or the prompts have changed since this run, and its recorded calls no longer match. Fork the run."""


class BudgetExhausted(ReasoningError):
    """The budget is used up; the scaffold returns its best outcome so far."""

    def __init__(self, which: str, limit: float, spent: float) -> None:
        super().__init__(f"The budget of {limit:g} {which} is used up ({spent:g} spent).")
        self.which = which
        self.limit = limit
        self.spent = spent


class BudgetKeptBack(BudgetExhausted):
    """The rest of the budget is reserved for a later phase; the scaffold moves on to that phase."""

    def __init__(self, which: str, limit: float, spent: float) -> None:
        super().__init__(which, limit, spent)
        self.args = (f"Of the budget of {limit:g} {which}, {spent:g} are spent; the rest is reserved for the write-up.",)


class PromptError(ReasoningError):
    """A prompt file is missing, or its placeholders do not match the given values."""


class AliasError(ReasoningError):
    """models.toml has an error; the message names the line to change."""


class ParamsError(ReasoningError):
    """The parameters of the scaffold are invalid; the message names them."""


class PlanError(ReasoningError):
    """The request cannot be run; the message says what to change.

    `about` is the kind of argument (`scaffold`, `preset`, `parameter`, `role`, …), `name` is its name.
    """

    def __init__(self, about: str, message: str, name: str = "") -> None:
        super().__init__(message)
        self.about = about
        self.name = name
