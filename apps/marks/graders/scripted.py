"""A grader whose answers people wrote beforehand, for the sample contest and for tests. Pages say that they are authored."""

from collections.abc import Mapping
from dataclasses import dataclass

from apps.marks.graders.port import GraderFailed, Question
from apps.reasoning.marking.suggestion import SuggestionBody

SCRIPTED = "scripted"


@dataclass(frozen=True)
class ScriptedGrader:
    """`bodies`: what it says, by the digest of the source. Of a text that nobody wrote an answer for it says nothing at all."""

    bodies: Mapping[str, SuggestionBody]
    name: str = SCRIPTED
    label: str = "Written by people, for showing"
    told: str = "1"
    needs_scheme: bool = True

    def answer(self, question: Question) -> SuggestionBody:
        """The body that was written for this text. Raises `GraderFailed`."""
        body = self.bodies.get(question.digest)
        if body is None:
            raise GraderFailed("Nobody wrote what this grader should say about the text.")
        return body
