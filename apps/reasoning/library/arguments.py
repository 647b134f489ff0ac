"""Problem and parameters as a caller gives them, checked in plain words."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from apps.reasoning.domain.errors import PlanError
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.domain.values import Value
from apps.reasoning.planning import plan_params
from apps.reasoning.scaffolds.scaffold import Scaffold


def problem_of(statement: str, answer: str = "") -> ProblemText:
    """The problem, known by its statement. Raises `PlanError` for an empty one."""
    if not statement.strip():
        raise PlanError("problem", "The problem is empty.")
    name = f"statement-{sha256(statement.encode()).hexdigest()[:12]}"
    return ProblemText(id=name, version=1, title="", statement=statement, answer=answer)


def params_of(program: Scaffold, preset: str, given: Mapping[str, Any]) -> Value:
    """The parameters of a program. Raises `PlanError` that names the preset or the parameter, and what there is."""
    known = program.params.model_fields
    if unknown := sorted(set(given) - set(known)):
        text = f"{program.title} has no parameter {', '.join(unknown)}; there are {', '.join(known)}."
        raise PlanError("parameter", text, unknown[0])
    try:
        return plan_params(program, preset, given)
    except PlanError as error:
        raise PlanError(error.about, f"{error.name}: {error}" if error.name else str(error), error.name) from error
