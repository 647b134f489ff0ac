"""Classes of solutions with equal final answers. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic

from apps.reasoning.answers.comparison import answers_compared
from apps.reasoning.answers.final import final_answer
from apps.reasoning.scaffolds.candidates.ranking import C


@dataclass(frozen=True)
class AnswerClass(Generic[C]):
    """Solutions with equal answers, oldest first; `answer` is that of the oldest."""

    answer: str
    members: tuple[C, ...]


@dataclass(frozen=True)
class Vote(Generic[C]):
    """All classes in the order of their first solutions. `unread`: solutions without a final answer, which do not vote.

    `undecided`: pairs of classes whose answers could not be compared; they count separately.
    """

    classes: tuple[AnswerClass[C], ...] = ()
    unread: tuple[C, ...] = ()
    undecided: tuple[tuple[int, int], ...] = ()

    @property
    def winner(self) -> int:
        """The position of the largest class; ties go to the class with the earliest solution. Raises `ValueError` if none."""
        return max(range(len(self.classes)), key=lambda place: (len(self.classes[place].members), -place))

    @property
    def tied(self) -> tuple[int, ...]:
        """The positions of all classes as large as the winner, including the winner."""
        most = len(self.classes[self.winner].members)
        return tuple(place for place, one in enumerate(self.classes) if len(one.members) == most)


def counted(candidates: Iterable[C]) -> Vote[C]:
    """Sort solutions into classes. An answer joins the first class to which it is provably equal, else it starts a new one."""
    answers: list[str] = []
    members: list[list[C]] = []
    unread: list[C] = []
    undecided: list[tuple[int, int]] = []
    for one in sorted(candidates, key=lambda candidate: candidate.order):
        answer = _answer(one.steps)
        if not answer:
            unread.append(one)
            continue
        outcomes = [_compared(answer, other) for other in answers]
        if "equal" in outcomes:
            members[outcomes.index("equal")].append(one)
            continue
        undecided += [(place, len(answers)) for place, outcome in enumerate(outcomes) if outcome == "undecided"]
        answers.append(answer)
        members.append([one])
    classes = tuple(AnswerClass(answer=text, members=tuple(each)) for text, each in zip(answers, members, strict=True))
    return Vote(classes=classes, unread=tuple(unread), undecided=tuple(undecided))


# A curve counts again after every solution (programs/anytime.py).
@lru_cache(maxsize=512)
def _answer(steps: tuple[str, ...]) -> str:
    """The stated answer of a solution, "" for none."""
    found = final_answer("\n\n".join(steps))
    return found.text if found.is_stated and found.text.strip() else ""


@lru_cache(maxsize=32_768)
def _compared(one: str, other: str) -> str:
    return answers_compared(one, other).outcome
