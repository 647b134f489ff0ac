"""The port of graders: their question and their answer."""

from dataclasses import dataclass
from typing import Protocol

from apps.reasoning.marking.schemes.scheme import Scheme
from apps.reasoning.marking.suggestion import SuggestionBody


class GraderFailed(Exception):
    """The grader gave no answer; the message gives the reason for people."""


class GraderStopped(Exception):
    """This process is ending. Partial work is kept, and the next request continues from it."""


@dataclass(frozen=True)
class GraderStep:
    """A step of the script: `source[start:end]`, in code points."""

    number: int
    start: int
    end: int


@dataclass(frozen=True)
class Question:
    """One script: source with steps, the problem as students read it, and the scheme if there is one.

    Contains nothing about the author or about marks. `digest` is that of the source.
    """

    digest: str
    source: str
    steps: tuple[GraderStep, ...]
    statement: str
    scheme: Scheme | None = None


class Grader(Protocol):
    """Answers questions. `revision` changes whenever the same question may get a different answer (prompts, model, rules)."""

    @property
    def name(self) -> str: ...

    @property
    def label(self) -> str: ...

    @property
    def revision(self) -> str: ...

    @property
    def needs_scheme(self) -> bool: ...

    def answer(self, question: Question) -> SuggestionBody:
        """The findings in the script. Raises `GraderFailed`, `GraderStopped`."""
        ...
