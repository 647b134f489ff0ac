"""An experiment in a stack of real processes: made, and looked at. Run with the stack's environment.

`python -m tests.flows.experiment_world make` (gradings) and `… make_solving` print its id; `… dump ID` and `… dump_solving ID`
how its cells stand.
"""

import json
import sys
from collections.abc import Callable
from typing import Any

import django

SCRIPTS = PROBLEMS = 8


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


def make_solving() -> str:
    """An experiment of Alice's: a vote of two and a self-check on eight problems, scored by answers and by a grader."""
    from apps.accounts.models import Role, User
    from tests.experiments.solving import playing

    alice, _ = User.objects.get_or_create(username="alice", defaults={"role": Role.RESEARCHER})
    playing.make_problem_set(PROBLEMS)
    methods = [
        {"name": "vote", "scaffold": "majority_vote", "params": {"solutions": 2}},
        {"name": "self-check", "scaffold": "self_check", "preset": "quick"},
    ]
    graded = {"name": "graded", "kind": "grader", "workflow": "single_turn", "players": {"": "grader"}}
    scorers = [{"name": "answer", "kind": "answer"}, graded]
    teams = [{"name": "one", "roles": {"": "scaffolds"}}]
    return str(playing.begin(alice, methods=methods, teams=teams, scorers=scorers, at_once=6).public_id)


def dump_solving(experiment_id: str) -> dict[str, Any]:
    """The end of each cell and score, and how many runs, calls and answered calls there are."""
    from apps.experiments.models import CellScore, Experiment
    from apps.runs.models import Run, Step

    experiment = Experiment.objects.get(public_id=experiment_id)
    cells = experiment.solving_cells.order_by("position").select_related("run", "item")
    scores = CellScore.objects.filter(cell__experiment=experiment).order_by("cell__position", "scorer")
    return {
        "state": experiment.state,
        "reason": experiment.state_reason,
        "cells": [[cell.item.name, cell.method, cell.state, cell.calls, cell.trouble] for cell in cells],
        "scores": [[one.cell.position, one.scorer, one.state, one.points, one.unscored or one.trouble] for one in scores],
        "runs": Run.objects.count(),
        "calls": Step.objects.filter(kind="call").count(),
    }


if __name__ == "__main__":
    django.setup()
    does: dict[str, Callable[..., object]] = {
        "make": make,
        "make_solving": make_solving,
        "dump": dump,
        "dump_solving": dump_solving,
    }
    sys.stdout.write(json.dumps(does[sys.argv[1]](*sys.argv[2:]), default=str) + "\n")
