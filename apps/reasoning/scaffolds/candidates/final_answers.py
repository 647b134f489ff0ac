"""Classes of solutions with equal final answers. Pure."""

from collections.abc import Iterable

from apps.reasoning.answers.comparison import answers_compared
from apps.reasoning.answers.final import final_answer
from apps.reasoning.domain.values import Value
from apps.reasoning.scaffolds.candidates.desk import Candidate


class AnswerClass(Value):
    """Solutions with equal answers, oldest first; `answer` is that of the oldest."""

    answer: str
    members: tuple[Candidate, ...]


class Vote(Value):
    """All classes in the order of their first solutions. `unread`: solutions without a final answer, which do not vote.

    `undecided`: pairs of classes whose answers could not be compared; they count separately.
    """

    classes: tuple[AnswerClass, ...] = ()
    unread: tuple[Candidate, ...] = ()
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


def counted(candidates: Iterable[Candidate]) -> Vote:
    """Sort solutions into classes. An answer joins the first class to which it is provably equal, else it starts a new one."""
    answers: list[str] = []
    members: list[list[Candidate]] = []
    unread: list[Candidate] = []
    undecided: list[tuple[int, int]] = []
    for one in sorted(candidates, key=lambda candidate: candidate.order):
        found = final_answer("\n\n".join(one.steps))
        if not (found.is_stated and found.text.strip()):
            unread.append(one)
            continue
        outcomes = [answers_compared(found.text, answer).outcome for answer in answers]
        if "equal" in outcomes:
            members[outcomes.index("equal")].append(one)
            continue
        undecided += [(place, len(answers)) for place, outcome in enumerate(outcomes) if outcome == "undecided"]
        answers.append(found.text)
        members.append([one])
    classes = tuple(AnswerClass(answer=text, members=tuple(each)) for text, each in zip(answers, members, strict=True))
    return Vote(classes=classes, unread=tuple(unread), undecided=tuple(undecided))
