"""Whole points from 0 to 7 with a marking scheme, in five manners: the model adds them up itself, with partial credit.

Source: QED-Nano, Tables 4 and 5, App. A and E. (`with_scheme.py` is ours: there the scheme engine computes the points.)
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.graders.grader import Grader, concluded, costs
from apps.reasoning.graders.grading import SEVEN, Grading
from apps.reasoning.graders.judging.asking import GraderDesk
from apps.reasoning.graders.judging.judging import graded, total_read
from apps.reasoning.graders.judging.said import GradingSaid
from apps.reasoning.graders.material import Material
from apps.reasoning.graders.single_turn import GRADER, GRADER_TOKENS, reference_block
from apps.reasoning.graders.view import View
from apps.reasoning.graders.with_scheme import refuses as broken
from apps.reasoning.marking.schemes.scheme import points_text
from apps.reasoning.marking.schemes.text_form import text_written
from apps.reasoning.ports import Context
from apps.reasoning.prompts.loader import load
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.scaffold import Preset


@dataclass(frozen=True)
class Manner:
    """How the scheme is used: the fragment of the prompt that says it, and whether a reference is shown as well."""

    title: str
    fragment: str
    description: str
    source: str
    has_reference: bool = False


STRICT = "grading/forms/whole_strict"
MANNERS: dict[str, Manner] = {
    "proofbench_strict": Manner(
        "ProofBench, strict",
        STRICT,
        "Whole points with partial credit, following the scheme strictly; equivalent steps earn its checkpoints.",
        "QED-Nano, Table 4, App. E",
    ),
    "proofbench_strict_ref": Manner(
        "ProofBench, strict, with a reference",
        STRICT,
        "The prompt of ProofBench, strict, with a reference solution added.",
        "QED-Nano, Table 5, App. A",
        has_reference=True,
    ),
    "proofbench": Manner(
        "ProofBench",
        "grading/forms/whole_advisory",
        "Whole points with partial credit; the scheme is a guide, and other valid approaches lose nothing.",
        "QED-Nano, Table 4, App. E",
    ),
    "gimo": Manner(
        "GIMO",
        "grading/forms/whole_gimo",
        "A verifier sorts faults into critical errors and gaps, continues after gaps, and adds up the steps of the scheme.",
        "QED-Nano, Table 4, App. E",
    ),
    "simple": Manner(
        "Simple",
        "grading/forms/whole_simple",
        "Short instructions: compare with a reference and the scheme, and award whole points.",
        "QED-Nano, Table 4, App. E",
        has_reference=True,
    ),
    "opc": Manner(
        "Open Proof Corpus",
        "grading/forms/whole_opc",
        "Follows the scheme exactly; lists of minor and major faults state their usual deductions.",
        "QED-Nano, Table 4, App. E",
    ),
}


class Params(Material):
    """No parameters other than the material; it needs a scheme of seven points."""


def first_reference(material: Material) -> str:
    """The reference that is shown: the first nonempty one."""
    return next((one for one in material.references if one.strip()), "")


async def grade(desk: GraderDesk, workflow: str) -> Grading:
    """One examination in the manner of the workflow."""
    manner, scheme = MANNERS[workflow], desk.material.scheme
    if scheme is None:
        return Grading(workflow=workflow, unscored="there is no marking scheme")
    read = total_read(desk)
    said = await desk.ask(
        f"grade/{workflow}",
        role="grader",
        prompt="grading/whole_points",
        values={
            "manner": load(manner.fragment).system,
            "fallacies": load("grading/forms/fallacies").system,
            "reference": reference_block(desk, first_reference(desk.material)) if manner.has_reference else "",
            "scheme": desk.desk.content(text_written(scheme)),
            "script": desk.script,
        },
        form="total",
        shape=GradingSaid,
        read=read,
        again=read.again,
        ending=desk.marks,
    )
    return graded(desk, workflow, said)


def refuses(material: Material) -> str:
    """Refuse a scheme of another scale, or one with errors."""
    scheme = material.scheme
    if scheme is not None and scheme.scale != SEVEN:
        most = points_text(scheme.scale)
        return (
            f"Whole points from 0 to 7 need a marking scheme of 7 points; this one has {most}. Use the grader “Marking scheme”."
        )
    return broken(material)


async def _solve(problem: ProblemText, ctx: Context, params: Params, *, workflow: str) -> Outcome:
    return await concluded(problem, ctx, params, workflow, lambda desk: grade(desk, workflow))


def estimate(params: Params, max_new_tokens: Mapping[str, int] | None = None) -> Estimate:
    """One call, and one more if its answer is unreadable."""
    return costs({"grader": (0, 1, 1)}, {"grader": GRADER_TOKENS}, max_new_tokens, "Likely: the answer is readable.")


def _workflow(name: str, manner: Manner) -> Grader:
    return Grader(
        name=name,
        title=manner.title,
        description=manner.description,
        source=manner.source,
        params=Params,
        presets={"original": Preset("Original", "One call.", Params(script=""))},
        roles=(GRADER,),
        solve=partial(_solve, workflow=name),
        estimate=estimate,
        needs=frozenset({"scheme", "references"} if manner.has_reference else {"scheme"}),
        view=View(scheme=True, reference=manner.has_reference),
        refuses=refuses,
    )


WORKFLOWS = tuple(_workflow(name, manner) for name, manner in MANNERS.items())
