"""What a grader is given: the script with its steps, references, a scheme, what was prepared before. Frozen with the run."""

from functools import cached_property
from typing import Annotated, Any

from pydantic import Field

from apps.reasoning.domain.values import Value
from apps.reasoning.graders.view import View
from apps.reasoning.marking.scheme import Scheme
from apps.reasoning.texts.segmentation import segment
from apps.reasoning.texts.source import source_of

SCRIPT_LENGTH = 200_000
REFERENCES_AT_MOST = 60


class Span(Value):
    """A step of the script: `source[start:end]`, in code points. Steps are numbered from 1 in their order."""

    start: int
    end: int


class Material(Value):
    """The parameters that all graders have.

    `script` is a source (`texts.source`). `spans` are the steps of a submission; without them the script is cut here.
    `references`: solutions or posts, any of which may be none. `guidelines`: words to markers beside the scheme. `prepared`:
    pieces made before, by their names (`GradingPrepared.piece`). `structured` asks for JSON with a schema. `neutral`: see
    rewriting.py. `view`: which of all this is shown; None in what was recorded before there were views, and then guidelines
    are shown wherever prompts have a place for them.
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
        default=False, title="Neutral rewriting", description="The script is judged in even words, one call before all others."
    )

    @property
    def guidelines_shown(self) -> str:
        """The words to markers, where they are shown."""
        return self.guidelines if self.view is None or self.view.guidelines else ""

    @cached_property
    def source(self) -> str:
        """The script in which places count."""
        return source_of(self.script)

    @cached_property
    def steps(self) -> tuple[Span, ...]:
        """Its steps: those given, else cut by the segmenter."""
        return self.spans or tuple(Span(start=step.start, end=step.end) for step in segment(self.source))

    @cached_property
    def numbered(self) -> str:
        """The script as prompts show it: every step under its number."""
        source = self.source
        return "\n\n".join(f"Step {number}. {source[one.start : one.end]}" for number, one in enumerate(self.steps, 1))
