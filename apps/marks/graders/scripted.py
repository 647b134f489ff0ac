"""A grader with authored answers, for the sample contest and for tests. Pages label them as written by people."""

from collections.abc import Mapping
from dataclasses import dataclass

from apps.marks.graders.port import GraderFailed, Question
from apps.reasoning.marking.suggestion import SuggestionBody

SCRIPTED = "scripted"


@dataclass(frozen=True)
class ScriptedGrader:
    """`bodies`: the answers by digest of the source. For any other text it fails."""

    bodies: Mapping[str, SuggestionBody]
    name: str = SCRIPTED
    label: str = "Written by people, for showing"
    revision: str = "1"
    needs_scheme: bool = True

    def answer(self, question: Question) -> SuggestionBody:
        """The authored answer for this text. Raises `GraderFailed`."""
        body = self.bodies.get(question.digest)
        if body is None:
            raise GraderFailed("No answer was written for this text.")
        return body
