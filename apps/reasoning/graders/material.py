"""The input of a grader: the script with its steps, references, a scheme, prepared pieces. Frozen with the run."""

from functools import cached_property
from typing import Annotated, Any

from pydantic import Field

from apps.reasoning.domain.values import Value
from apps.reasoning.graders.view import View
from apps.reasoning.marking.schemes.scheme import Scheme
from apps.reasoning.texts.segmentation import segment
from apps.reasoning.texts.source import source_of

SCRIPT_LENGTH = 200_000
REFERENCES_AT_MOST = 60


class Span(Value):
    """A step of the script: `source[start:end]`, in code points. Steps are numbered from 1 in their order."""

    start: int
    end: int


class Material(Value):
    """The common parameters of all graders.

    `script` is a source (`texts.source`). `spans` are the steps of a submission; without them the script is segmented here.
    `references`: solutions or posts, some of which may not be solutions. `guidelines`: advice to markers in addition to the
    scheme. `prepared`: pieces made before, by name (`GradingPrepared.piece`). `structured` requests JSON with a schema.
    `neutral`: see rewriting.py. `marks`: see formula_marks.py. `view`: the parts shown; None in records from before views
    existed, which show guidelines wherever prompts have a place for them.
    """

    script: Annotated[str, Field(max_length=SCRIPT_LENGTH)]
    spans: tuple[Span, ...] = ()
    references: Annotated[tuple[str, ...], Field(max_length=REFERENCES_AT_MOST)] = ()
    scheme: Scheme | None = None
    guidelines: Annotated[str, Field(max_length=SCRIPT_LENGTH)] = ""
    prepared: dict[str, dict[str, Any]] = {}
    view: View | None = Field(default=None, exclude_if=lambda view: view is None)
    structured: bool = False
    neutral: bool = Field(
        default=False,
        title="Neutral rewriting",
        description="Judge a rewriting of the script in neutral words; needs one call first.",
    )
    # Left out if off: gradings of earlier versions keep their names.
    marks: bool = Field(
        default=False,
        title="Marks of the formula check",
        description="Show the grader the formulas of the script that the formula check proved or refuted.",
        exclude_if=lambda marks: not marks,
    )

    @property
    def guidelines_shown(self) -> str:
        """The guidelines, if they are shown."""
        return self.guidelines if self.view is None or self.view.guidelines else ""

    @cached_property
    def source(self) -> str:
        """The script's source, to which places refer."""
        return source_of(self.script)

    @cached_property
    def steps(self) -> tuple[Span, ...]:
        """Its steps: those given, else those of the segmenter."""
        return self.spans or tuple(Span(start=step.start, end=step.end) for step in segment(self.source))

    @cached_property
    def numbered(self) -> str:
        """The script with numbered steps, as in prompts."""
        source = self.source
        return "\n\n".join(f"Step {number}. {source[one.start : one.end]}" for number, one in enumerate(self.steps, 1))
