"""Segment rollouts (UloRL, MarsRL §2 and §3.3): an answer is decoded in segments over several policy versions.

Every token keeps its log-probability and policy version. An unfinished answer is carried over; a group is complete when all
its answers are done. An answer that reaches the cap unfinished is cut off and has reward 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from apps.recipes.mathematics.arrays import NotLearnable


@dataclass
class Answer:
    """One growing answer: token ids with their log-probabilities and policy versions."""

    tokens: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    versions: list[int] = field(default_factory=list)
    finished: bool = False
    cut_off: bool = False

    @property
    def done(self) -> bool:
        """Whether it is finished or cut off."""
        return self.finished or self.cut_off

    @property
    def oldest(self) -> int | None:
        """Policy version of its oldest token; None without tokens."""
        return min(self.versions, default=None)


@dataclass(frozen=True)
class Segments:
    """Segmentation of an answer: tokens per segment and maximum number of segments (MarsRL: 4 of 16k)."""

    tokens: int = 16_384
    most: int = 4

    @property
    def cap(self) -> int:
        """Maximum length of an answer, in tokens."""
        return self.tokens * self.most


class PartialGroup:
    """Answers of one group until all are done."""

    def __init__(self, size: int, segments: Segments) -> None:
        if size < 1:
            raise NotLearnable("A group needs at least one answer.")
        self.answers = [Answer() for _ in range(size)]
        self.segments = segments

    def open(self) -> list[int]:
        """Indices of the answers that need another segment."""
        return [place for place, answer in enumerate(self.answers) if not answer.done]

    def allowance(self, place: int) -> int:
        """Maximum number of tokens in the next segment of an answer."""
        return min(self.segments.tokens, self.segments.cap - len(self.answers[place].tokens))

    def extend(self, place: int, tokens: Sequence[int], logprobs: Sequence[float], *, version: int, finished: bool) -> None:
        """Add a segment. Raises `NotLearnable` for missing log-probabilities, too long a segment, or a done answer."""
        answer = self.answers[place]
        if answer.done:
            raise NotLearnable(f"Answer {place} is done and takes no further segment.")
        if len(tokens) != len(logprobs):
            raise NotLearnable(f"Answer {place}: {len(tokens)} tokens, but {len(logprobs)} log-probabilities.")
        if len(tokens) > self.allowance(place):
            raise NotLearnable(f"Answer {place}: a segment of {len(tokens)} tokens; {self.allowance(place)} are allowed.")
        answer.tokens += tokens
        answer.logprobs += logprobs
        answer.versions += [version] * len(tokens)
        answer.finished = finished
        answer.cut_off = not finished and len(answer.tokens) == self.segments.cap

    @property
    def complete(self) -> bool:
        """Whether all answers are done, so that the group can be trained on."""
        return not self.open()

    def rewards(self, judged: Sequence[float]) -> list[float]:
        """Judged rewards, 0 for cut-off answers. Raises `NotLearnable` before the group is complete."""
        if not self.complete:
            raise NotLearnable(f"{len(self.open())} answers of the group are not done.")
        return [0.0 if answer.cut_off else reward for answer, reward in zip(self.answers, judged, strict=True)]

    def lag(self, version: int) -> int:
        """Number of policy versions between the group's oldest token and `version`."""
        return max((version - answer.oldest for answer in self.answers if answer.oldest is not None), default=0)
