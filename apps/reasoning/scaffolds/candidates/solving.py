"""The first solutions of scaffolds that begin with whole solutions."""

from apps.reasoning.domain.generation import Place
from apps.reasoning.scaffolds.candidates.desk import Candidate, Desk


async def solved(
    desk: Desk, key: str = "solve", *, slot: int = 0, of: int = 1, prompt: str = "shared/solver"
) -> Candidate | None:
    """Candidate number `slot` of `of` in round 1, 0 for the only one; None if its answer has no readable solution."""
    name = f"c1.{slot or 1}"
    return await desk.draft(
        key,
        name,
        role="solver",
        prompt=prompt,
        made_as="solution",
        place=Place(round=1, subject=f"candidate {name}", index=slot),
        values={"attempt": str(slot or 1), "attempts": str(of)},
    )
