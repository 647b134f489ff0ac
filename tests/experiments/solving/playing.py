"""Manifests and sets for experiments on solving, and answers of a scripted model that knows some problems."""

from typing import Any

from apps.accounts.models import User
from apps.experiments.models import Experiment, SolvingCell
from apps.experiments.solving.forms import Builder
from apps.experiments.solving.manifest import Manifest, manifest_of
from apps.experiments.solving.services import solving_start
from apps.problem_sets.importing import named_of
from apps.problem_sets.models import ProblemSetVersion
from apps.problem_sets.services import set_create
from tests.problems.factory import make_problem


def make_problem_set(problems: int = 3, title: str = "Sums") -> ProblemSetVersion:
    """A set of problems whose answers are 1, 2, 3, …"""
    made = [
        make_problem(f"Sum {number}", statement=f"Find the sum number {number}.", answer=str(number), solutions=())
        for number in range(1, problems + 1)
    ]
    return set_create(title=title, items=named_of(made), by=None)


def manifest(**changes: Any) -> Manifest:
    """One method and one team on the set `sums@1`."""
    values: dict[str, Any] = {
        "title": "Trial",
        "problems": {"set": "sums@1"},
        "methods": [{"name": "single", "scaffold": "single_call"}],
        "teams": [{"name": "served", "roles": {"": "served"}}],
    }
    return manifest_of(values | changes)


def begin(owner: User, **changes: Any) -> Experiment:
    return solving_start(owner=owner, manifest=manifest(**changes))


def as_sent(builder: Builder) -> dict[str, str]:
    """What a browser sends for the form as it is filled."""
    forms = [builder.form, *(form for rows in builder.rows.values() for form in [rows.management_form, *rows])]
    fields = [(field.html_name, field.value()) for form in forms for field in form]
    return {
        name: "on" if value is True else str(value) for name, value in fields if value is not False and value not in (None, "")
    }


def states(experiment: Experiment) -> dict[str, int]:
    """The number of cells by state."""
    found: dict[str, int] = {}
    for state in experiment.solving_cells.values_list("state", flat=True):
        found[state] = found.get(state, 0) + 1
    return found


def cells(experiment: Experiment) -> list[SolvingCell]:
    return list(experiment.solving_cells.select_related("run", "item"))
