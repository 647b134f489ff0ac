"""Solutions by their final answers: those whose answers are equal make a class. Pure."""

from collections.abc import Iterable

from apps.reasoning.answers.comparison import answers_compared
from apps.reasoning.answers.final import final_answer
from apps.reasoning.domain.values import Value
from apps.reasoning.scaffolds.candidates.desk import Candidate


class AnswerClass(Value):
    """Solutions with one answer, the oldest first, which gives the class its answer."""

    answer: str
    members: tuple[Candidate, ...]


class Vote(Value):
    """All classes in the order of their first solutions; `unread`: solutions that state no final answer, which vote for none.

    `undecided` are pairs of classes of which nobody can say here whether their answers are equal. They count apart.
    """

    classes: tuple[AnswerClass, ...] = ()
    unread: tuple[Candidate, ...] = ()
    undecided: tuple[tuple[int, int], ...] = ()

    @property
    def winner(self) -> int:
        """The position of the largest class; among equals the one whose first solution came first. Raises `ValueError`."""
        return max(range(len(self.classes)), key=lambda place: (len(self.classes[place].members), -place))

    @property
    def tied(self) -> tuple[int, ...]:
        """The positions of the classes that are as large as the winner, with the winner."""
        most = len(self.classes[self.winner].members)
        return tuple(place for place, one in enumerate(self.classes) if len(one.members) == most)


def counted(candidates: Iterable[Candidate]) -> Vote:
    """The classes of these solutions. An answer joins the first class that it is surely equal to, else begins its own."""
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
