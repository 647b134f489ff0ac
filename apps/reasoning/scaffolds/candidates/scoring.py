"""Scored reports on candidates, one call each."""

from dataclasses import dataclass

from apps.reasoning.domain.candidate_events import CandidateScored
from apps.reasoning.domain.generation import Final, Place
from apps.reasoning.domain.values import Unscored
from apps.reasoning.reading.choices import Scored, read_score, read_score_again
from apps.reasoning.scaffolds.candidates.desk import Candidate, Desk
from apps.reasoning.scaffolds.running.hearing import Reading, choosing


@dataclass(frozen=True)
class Scoring:
    """A way of scoring: the role, its prompt, and the allowed scores in ascending order."""

    role: str
    prompt: str
    allowed: tuple[float, ...]


#: Marks from 0 to 7, as competitions give them.
POINTS = Scoring("grader", "shared/grader", tuple(float(points) for points in range(8)))


def score_reading(allowed: tuple[float, ...]) -> Reading[Scored]:
    """The reading of one of the `allowed` scores."""

    def read(final: Final) -> Scored | Unscored:
        return read_score(final, allowed)

    def read_again(second: Final, first: str) -> Scored | Unscored:
        return read_score_again(second, first, allowed)

    return choosing("score", "score", allowed, read, read_again)


async def scored(desk: Desk, scoring: Scoring, candidate: Candidate, index: int, of: int, call: str) -> Scored | Unscored:
    """Request report `index` of `of` on the candidate, and emit its event."""
    place = Place(round=candidate.round, subject=f"candidate {candidate.id}", index=index)
    values = {"solution": desk.content(candidate.text)}
    prompt = desk.filled(scoring.role, scoring.prompt, values, ending=await desk.formulas.marks(desk, candidate))
    reading = score_reading(scoring.allowed)
    found, said_in, _ = await desk.hear(call, role=scoring.role, prompt=prompt, place=place, reading=reading)
    event = CandidateScored(
        candidate=candidate.id,
        index=index,
        of=of,
        call=said_in,
        scale=scoring.allowed[-1],
        score=found.score if isinstance(found, Scored) else None,
        unscored=found.reason if isinstance(found, Unscored) else "",
        report=found.report if isinstance(found, Scored) else "",
    )
    desk.ctx.emit(f"{call}/score", event)
    return found
