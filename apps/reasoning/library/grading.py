"""Propose points for a script by a model grader."""

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from apps.reasoning.domain.errors import PlanError
from apps.reasoning.graders.grader import Grader
from apps.reasoning.graders.material import Material
from apps.reasoning.graders.registry import GRADERS
from apps.reasoning.graders.view import GUIDELINES, REFERENCE, SCHEME, View
from apps.reasoning.marking.importing import scheme_import
from apps.reasoning.marking.schemes.faults import FormWrong
from apps.reasoning.marking.schemes.scheme import Scheme

from .arguments import params_of, problem_of
from .options import CheckedOptions, RunOptions
from .program_run import ProgramRun, blocking
from .results import GradeResult, grade_result


def agrade(
    problem: str,
    script: str,
    *,
    workflow: str = "single_turn",
    references: Sequence[str] = (),
    scheme: str | Scheme | None = None,
    guidelines: str = "",
    prepared: Mapping[str, Mapping[str, Any]] | None = None,
    params: Mapping[str, Any] | None = None,
    **options: Unpack[RunOptions],
) -> ProgramRun[GradeResult]:
    """A grading of `script`: await it for its `GradeResult`, or iterate over it for its events.

    `workflow` is one of `GRADERS`. `references` are solutions, `scheme` a marking scheme or its text, `guidelines` words to
    markers: what is given is shown. `prepared` is what a grading of another script of the same problem prepared. `params`
    change single parameters; `options`: `RunOptions`. Raises `PlanError`, also where the grader cannot be shown what is given.
    """
    if workflow not in GRADERS:
        raise PlanError("workflow", f"There is no grader {workflow}; there are {', '.join(GRADERS)}.", workflow)
    if isinstance(references, str):
        raise PlanError("references", "references: give a list of solutions, not one text.")
    if options.get("hints"):
        raise PlanError("option", "hints: a grader takes none.", "hints")
    grader = GRADERS[workflow]
    given: dict[str, Any] = {
        "script": script,
        "references": tuple(references),
        "guidelines": guidelines,
        "scheme": _scheme(scheme),
        "view": _view(grader, bool(references), bool(guidelines), scheme is not None),
        "prepared": dict(prepared or {}),
    }
    material = params_of(grader, "", given | dict(params or {}))
    if not isinstance(material, Material):
        raise TypeError(f"the parameters of {workflow} are no material")
    if lack := grader.lacks(material):
        raise PlanError("material", lack)
    checked = CheckedOptions.of(options)
    return ProgramRun(grader, problem_of(problem), material, checked, grade_result, may_call_functions=False)


def _view(grader: Grader, *given: bool) -> View:
    """The grader's own view, with the additional parts that were given."""
    return grader.view.also(*(part for part, is_given in zip((REFERENCE, GUIDELINES, SCHEME), given, strict=True) if is_given))


def _scheme(scheme: str | Scheme | None) -> Scheme | None:
    if not isinstance(scheme, str):
        return scheme
    try:
        return scheme_import(scheme).scheme
    except FormWrong as error:
        raise PlanError("scheme", f"The marking scheme cannot be read: {error}") from error


grade = blocking(agrade, "grade", "As `agrade`, run to its end. Raises `PlanError`, and `RunHalted` where it stops early.")
