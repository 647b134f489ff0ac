"""An experiment in a stack of real processes: made, and looked at. Run with the stack's environment.

`python -m tests.flows.experiment_world make` prints its id; `… dump ID` how its cells stand.
"""

import json
import sys
from typing import Any

import django

SCRIPTS = 8


def make() -> str:
    """An experiment of Alice's over eight scripts of two problems with the model `grader`."""
    from apps.accounts.models import Role, User
    from tests.experiments.driving import make_experiment, make_set

    alice, _ = User.objects.get_or_create(username="alice", defaults={"role": Role.RESEARCHER})
    return str(make_experiment(alice, make_set(SCRIPTS, problems=2), alias="grader").public_id)


def dump(experiment_id: str) -> dict[str, Any]:
    """States, runs and records of the cells."""
    from apps.experiments.models import Experiment
    from apps.runs.models import Run, Step

    experiment = Experiment.objects.get(public_id=experiment_id)
    cells = experiment.cells.select_related("run")
    return {
        "state": experiment.state,
        "reason": experiment.state_reason,
        "cells": [[cell.state, str(cell.points), cell.calls] for cell in cells],
        "runs": Run.objects.count(),
        "records": Step.objects.filter(kind="call").count(),
    }


if __name__ == "__main__":
    django.setup()
    answer: object = make() if sys.argv[1] == "make" else dump(sys.argv[2])
    sys.stdout.write(json.dumps(answer) + "\n")
