"""Answers in segments over several policy versions (UloRL, MarsRL §3.3), joined until they are done."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from apps.recipes.mathematics.arrays import NotLearnable
from apps.recipes.mathematics.segments import PartialGroup, Segments
from apps.recipes.trajectory import Trajectory, Turn


@dataclass(frozen=True)
class Piece:
    """Segment `number` (from 0) of the answer at `place` of a trajectory, which is given without turns.

    `turn` has the tokens and the `policy_version` of this segment only. Rewards count once the answer is `finished`.
    """

    trajectory: Trajectory
    turn: Turn
    number: int
    finished: bool
    place: int = 0


@dataclass
class _Answer:
    made: PartialGroup
    prompt: tuple[int, ...]
    pieces: int = 0


class Carried:
    """Unfinished answers, carried over from one policy version to the next."""

    def __init__(self, segments: Segments) -> None:
        self._segments = segments
        self._answers: dict[tuple[str, str, int], _Answer] = {}
        self._done: set[tuple[str, str, int]] = set()

    def __len__(self) -> int:
        return len(self._answers)

    def take(self, piece: Piece, visit: str = "") -> Trajectory | None:
        """Add a piece; return the trajectory with the whole answer once it is done.

        Its version is that of its oldest token. An answer cut off at the cap has reward 0. A repeated piece is ignored. Raises
        `NotLearnable` for a gap, tokens that are not the policy's own, another prompt, missing log-probabilities, and a segment
        that is too long.
        """
        name = (visit, piece.trajectory.id, piece.place)
        if name in self._done:
            return None
        answer = self._answers.get(name)
        if answer is None:
            answer = _Answer(PartialGroup(1, self._segments), tuple(piece.turn.prompt_ids))
        if piece.number < answer.pieces:
            return None
        _check(piece, answer)
        self._answers[name] = answer
        turn = piece.turn
        answer.made.extend(
            0, list(turn.completion_ids), list(turn.logprobs or ()), version=turn.policy_version, finished=piece.finished
        )
        answer.pieces += 1
        if not answer.made.complete:
            return None
        del self._answers[name]
        self._done.add(name)
        return _whole(piece, answer)


def _check(piece: Piece, answer: _Answer) -> None:
    where = f"Trajectory {piece.trajectory.id}, turn {piece.place}"
    if piece.number != answer.pieces:
        raise NotLearnable(f"{where}: got piece {piece.number}, expected piece {answer.pieces}.")
    if piece.turn.loss_mask is not None and not all(piece.turn.loss_mask):
        raise NotLearnable(f"{where}: a segment may have only the policy's own tokens.")
    so_far: Sequence[int] = answer.made.answers[0].tokens
    if tuple(piece.turn.prompt_ids) not in (answer.prompt, (*answer.prompt, *so_far)):
        raise NotLearnable(f"{where}: piece {piece.number} continues another prompt.")


def _whole(piece: Piece, answer: _Answer) -> Trajectory:
    made = answer.made.answers[0]
    turn = replace(
        piece.turn,
        prompt_ids=answer.prompt,
        completion_ids=made.tokens,
        logprobs=made.logprobs,
        loss_mask=None,
        policy_version=made.oldest or 0,
        finish_reason="length" if made.cut_off else piece.turn.finish_reason,
        reward=0.0 if made.cut_off else piece.turn.reward,
        passed=None if made.cut_off else piece.turn.passed,
    )
    return replace(piece.trajectory, turns=(turn,), reward=0.0 if made.cut_off else piece.trajectory.reward)
