"""What a grader is asked and how it answers."""

from dataclasses import dataclass
from typing import Protocol

from apps.reasoning.marking.scheme import Scheme
from apps.reasoning.marking.suggestion import SuggestionBody


class GraderFailed(Exception):
    """The grader gave no answer; the message says why, for people."""


class GraderStopped(Exception):
    """This process ends; what the grader has is kept, and whoever asks next goes on from there."""


@dataclass(frozen=True)
class GraderStep:
    """A step of the script: `source[start:end]`, in code points."""

    number: int
    start: int
    end: int


@dataclass(frozen=True)
class Question:
    """One script: its source with steps, the problem as students read it, the scheme where there is one.

    Nothing in it leads to an author, nor to what people made of the script. `digest` is the source's.
    """

    digest: str
    source: str
    steps: tuple[GraderStep, ...]
    statement: str
    scheme: Scheme | None = None


class Grader(Protocol):
    """Answers questions. `told` changes whenever the same question may get another answer: prompts, model, rules."""

    @property
    def name(self) -> str: ...

    @property
    def label(self) -> str: ...

    @property
    def told(self) -> str: ...

    @property
    def needs_scheme(self) -> bool: ...

    def answer(self, question: Question) -> SuggestionBody:
        """What it sees in the script. Raises `GraderFailed`, `GraderStopped`."""
        ...
