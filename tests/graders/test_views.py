"""What graders are shown of a problem: exactly what their view says, in every prompt."""

from decimal import Decimal
from typing import Any

import pytest

from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.graders.material import Material
from apps.reasoning.graders.registry import GRADERS
from apps.reasoning.graders.view import GUIDELINES, PARTS, PROBLEM, REFERENCE, SCHEME, View
from apps.reasoning.journal.memory import InMemoryJournal
from tests.graders.answers import EXAMINED, FOLLOWS, WHOLE
from tests.graders.grade import PROBLEM as STATED
from tests.graders.grade import grade, grading
from tests.graders.schemes import CHAINS, PLAIN, decided
from tests.reasoning.play import Answer

WORDS = "Only for markers: award 3 points for the factorisation."
#: By part, a passage that occurs in this part only.
PASSAGES = {
    PROBLEM: STATED.statement,
    REFERENCE: "of two neighbours one is even.",
    GUIDELINES: WORDS,
    SCHEME: "One of two neighbours is even.",
}
POSSIBLE = [
    (name, view)
    for name, grader in GRADERS.items()
    for view in dict.fromkeys(
        (grader.view, grader.view.also(*grader.may_show(grader.presets["original"].params)))
    )
]  # fmt: skip


async def prompts_of(workflow: str, **params: Any) -> str:
    """Everything that a grader asked about a script, with all that could be shown at hand."""
    asked: list[str] = []

    def noting(answer: Answer) -> Any:
        def answered(request: GenerationRequest) -> Answer:
            asked.extend(message.content for message in request.messages)
            return answer

        return answered

    table = FOLLOWS | {"grade/scheme": grading(2, *decided("A1")), "grade/single_turn": grading(2), "grade": grading(2)}
    table |= {
        "judge_?/*": grading(2),
        "grade/points/*": grading(0, *(f'<item code="P{n}" points="0">No.</item>' for n in (1, 2, 3))),
    }
    table |= WHOLE | EXAMINED
    scheme = CHAINS if workflow == "scheme" else PLAIN
    given: dict[str, Any] = {"references": (PASSAGES[REFERENCE],), "guidelines": WORDS, "scheme": scheme} | params
    done = await grade(workflow, {key: noting(answer) for key, answer in table.items()}, **given)
    assert done.points is not None, done.grading.unscored
    return "\n".join(asked)


@pytest.mark.parametrize(("workflow", "view"), POSSIBLE)
async def test_a_grader_is_shown_what_its_view_says_and_nothing_more(workflow: str, view: View) -> None:
    asked = await prompts_of(workflow, view=view)
    assert tuple(part for part, passage in PASSAGES.items() if passage in asked) == view.parts


@pytest.mark.parametrize(
    ("workflow", "parts"),
    [
        ("single_turn", (PROBLEM,)),
        ("ref3", (PROBLEM, REFERENCE)),
        *[(f"ref5_{manner}", (PROBLEM, REFERENCE)) for manner in ("plain", "approachability", "milestones", "hybrid")],
        ("scheme", (PROBLEM, SCHEME)),
        *[(name, (PROBLEM, SCHEME)) for name in ("proofbench_strict", "proofbench", "gimo", "opc")],
        *[(name, (PROBLEM, REFERENCE, SCHEME)) for name in ("proofbench_strict_ref", "simple")],
        ("deepseek_verifier", (PROBLEM,)),
        ("points8", (PROBLEM, SCHEME)),
        ("ensemble", (PROBLEM, REFERENCE)),
        ("jury", (PROBLEM,)),
    ],
)
def test_by_default_a_grader_is_shown_what_its_paper_gives_it(workflow: str, parts: tuple[str, ...]) -> None:
    assert GRADERS[workflow].view.parts == parts


@pytest.mark.parametrize("workflow", GRADERS)
async def test_what_was_recorded_before_views_is_asked_as_it_was(workflow: str) -> None:
    asked = await prompts_of(workflow)
    seen = (
        GRADERS[workflow].seen(Material(script="It is so."))
        if workflow != "ensemble"
        else View(reference=True, guidelines=True)
    )
    assert tuple(part for part, passage in PASSAGES.items() if passage in asked) == seen.parts
    assert seen.guidelines == (workflow in ("single_turn", "ref3", "ensemble", "jury"))


async def test_a_grading_with_a_view_is_resumed_without_a_call() -> None:
    journal = InMemoryJournal()
    first = await grade("single_turn", {"grade": grading(2)}, journal=journal, guidelines=WORDS, view=View())
    again = await grade("single_turn", {}, journal=journal, guidelines=WORDS, view=View())
    assert first.points == again.points == Decimal(2)
    assert not again.dispatcher.keys


@pytest.mark.parametrize(
    ("workflow", "view", "why"),
    [
        ("ref5_plain", View(reference=True, guidelines=True), "Rubric cannot be shown the guidelines for markers"),
        ("scheme", View(scheme=True, reference=True), "Marking scheme cannot be shown a reference solution"),
        ("single_turn", View(scheme=True), "It can be shown the problem and the guidelines for markers."),
        ("ref3", View(), "With a reference must be shown a reference solution"),
        ("jury", View(problem=False), "Jury must be shown the problem"),
    ],
)
def test_a_view_that_a_grader_cannot_have_is_refused_with_a_sentence(workflow: str, view: View, why: str) -> None:
    grader = GRADERS[workflow]
    assert why in grader.lacks(Material(script="It is so.", references=("Because.",), scheme=CHAINS, view=view))


def test_an_ensemble_is_shown_guidelines_where_a_member_can_be() -> None:
    ensemble = GRADERS["ensemble"]
    chosen = {
        "script": "It is so.",
        "references": ["Because."],
        "guidelines": WORDS,
        "view": View(reference=True, guidelines=True),
    }
    assert ensemble.lacks(ensemble.read_params(chosen)) == ""  # type: ignore[arg-type]
    rubrics = ensemble.read_params(chosen | {"members": ["ref5_plain", "ref5_milestones"]})
    assert "cannot be shown the guidelines" in ensemble.lacks(rubrics)  # type: ignore[arg-type]


def test_a_view_is_said_in_words() -> None:
    assert View().words == "the problem"
    assert View(reference=True).words == "the problem and a reference solution"
    assert View().also(*PARTS).words == (
        "the problem, a reference solution, the guidelines for markers and the marking scheme"
    )  # fmt: skip
