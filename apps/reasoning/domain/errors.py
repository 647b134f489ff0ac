"""All that can go wrong in the core, in one file. Each docstring is the default message; messages say what to do."""


class ReasoningError(Exception):
    """Something in the reasoning core failed."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())


class BackendError(ReasoningError):
    """The backend failed."""

    #: May the same request be sent again? Only where nothing of it was received.
    retryable = False
    #: True where every call to this alias would fail alike, so the run stops and waits for a person.
    fatal_for_run = False
    #: The last attempt of the call, where the dispatcher made several before it gave this error.
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
    """A call ended without a text after its last attempt; the failure is in the journal and the scaffold decides."""

    def __init__(self, key: str, reason: str) -> None:
        super().__init__(f"{key}: {reason}")
        self.key = key
        self.reason = reason


class RunHalted(ReasoningError):
    """The run stops here with everything kept; it can be resumed."""


class RunCancelled(RunHalted):
    """The run was cancelled."""


class FenceLost(RunHalted):
    """Another process has taken this run over; this one stops writing."""


class JournalUnwritable(RunHalted):
    """The journal cannot be written (disk full or database gone). Make room, then resume the run."""


class NeedsFork(RunHalted):
    """This run was made by other code or prompts; its recorded calls do not fit what would be asked now. Fork it."""


class BudgetExhausted(ReasoningError):
    """The budget is used up; the scaffold returns its best outcome so far."""

    def __init__(self, which: str, limit: float, spent: float) -> None:
        super().__init__(f"The budget of {limit:g} {which} is used up ({spent:g} spent).")
        self.which = which
        self.limit = limit
        self.spent = spent


class BudgetKeptBack(BudgetExhausted):
    """What is left of the budget is kept back for a later phase; the scaffold goes over to that phase."""

    def __init__(self, which: str, limit: float, spent: float) -> None:
        super().__init__(which, limit, spent)
        self.args = (f"Of the budget of {limit:g} {which}, {spent:g} were spent; the rest was kept back for the write-up.",)


class PromptError(ReasoningError):
    """A prompt file is missing or its placeholders do not match what is filled in."""


class AliasError(ReasoningError):
    """models.toml is wrong; the message names the line to change."""


class ParamsError(ReasoningError):
    """The parameters of the scaffold do not fit together; the message says which."""


class PlanError(ReasoningError):
    """What was asked for cannot be run; the message says what to change.

    `about` names the kind of argument (`scaffold`, `preset`, `parameter`, `role`, …), `name` the one among its kind.
    """

    def __init__(self, about: str, message: str, name: str = "") -> None:
        super().__init__(message)
        self.about = about
        self.name = name
