"""Commands to an experiment by name, for its page and for programs. Who may give them: `access.experiment_may_steer`."""

from collections.abc import Callable

from apps.accounts.models import User
from apps.experiments.models import Experiment, ExperimentKind
from apps.experiments.services import (
    experiment_cancel,
    experiment_delete,
    experiment_pause,
    experiment_resume,
    experiment_retry,
)
from apps.experiments.solving.services import curves_begin, solving_begin


def commands_of(experiment: Experiment, user: User) -> dict[str, Callable[[], object]]:
    """The commands that an experiment of its kind knows. Each raises `ExperimentRefused`."""
    commands: dict[str, Callable[[], object]] = {
        "pause": lambda: experiment_pause(experiment=experiment),
        "resume": lambda: experiment_resume(experiment=experiment),
        "cancel": lambda: experiment_cancel(experiment=experiment, user=user),
        "retry": lambda: experiment_retry(experiment=experiment),
        "delete": lambda: experiment_delete(experiment),
    }
    if experiment.kind == ExperimentKind.SOLVING:
        commands["curves"] = lambda: curves_begin(experiment)
        commands["start"] = lambda: solving_begin(experiment)
    return commands
