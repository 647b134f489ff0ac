"""A knock-out among candidates, every pair judged in both orders."""

from collections.abc import Mapping, Sequence

from apps.reasoning.domain.candidate_events import PairDecided, PairJudged
from apps.reasoning.domain.generation import Final, Place
from apps.reasoning.domain.values import Unscored
from apps.reasoning.reading.choices import read_better
from apps.reasoning.scaffolds.candidates.desk import Candidate, Desk
from apps.reasoning.scaffolds.concurrently import concurrently


def most_calls(entrants: int) -> int:
    """Calls of a knock-out among so many: two for every pair, and every pair sends one home."""
    return 2 * max(0, entrants - 1)


async def knock_out(desk: Desk, entrants: Sequence[Candidate], scores: Mapping[str, float], prefix: str) -> Candidate:
    """The last one standing. `scores` decides where the two orders of a pair disagree or cannot be read, then the seed.

    Source: Nomos and QED-Nano's end of RSA (QED-Nano App. B); judging both orders is ours, against position bias. Raises
    `ValueError` for no entrant.
    """
    if not entrants:
        raise ValueError("a tournament needs an entrant")
    standing = list(entrants)
    desk.draw(f"{prefix}/draw").shuffle(standing)
    round_ = 0
    while len(standing) > 1:
        round_ += 1
        pairs = list(zip(standing[::2], standing[1::2], strict=False))
        bye = standing[-1:] if len(standing) % 2 else []
        standing = [*await concurrently(_winner(desk, pair, scores, prefix, round_) for pair in pairs), *bye]
    return standing[0]


async def _winner(
    desk: Desk, pair: tuple[Candidate, Candidate], scores: Mapping[str, float], prefix: str, round_: int
) -> Candidate:
    one, two = pair
    key = f"{prefix}/{round_}/{one.id}-{two.id}"
    verdicts = await concurrently((_better(desk, one, two, f"{key}/1", round_), _better(desk, two, one, f"{key}/2", round_)))
    if verdicts[0] and verdicts[0] == verdicts[1]:
        winner, by = desk.candidates[verdicts[0]], "both orders"
    elif one.id in scores and two.id in scores and scores[one.id] != scores[two.id]:
        winner, by = (one, "score") if scores[one.id] > scores[two.id] else (two, "score")
    else:
        winner, by = desk.draw(f"{key}/lot").choice(pair), "seed"
    decided = {"round": round_, "pair": (one.id, two.id), "winner": winner.id, "by": by}
    desk.ctx.emit(f"{key}/decided", PairDecided.model_validate(decided))
    return winner


async def _better(desk: Desk, first: Candidate, second: Candidate, call: str, round_: int) -> str:
    """The id of the better one in this order; empty where it could not be read."""
    final = await desk.ask(
        call,
        role="judge",
        prompt="shared/judge",
        values={"first": desk.content(first.text), "second": desk.content(second.text)},
        place=Place(round=round_, subject=f"{first.id} against {second.id}"),
    )
    found = final if isinstance(final, Unscored) else read_better(final)
    better = "" if isinstance(found, Unscored) else (first, second)[found.position].id
    unscored = found.reason if isinstance(found, Unscored) else ""
    reason = "" if isinstance(found, Unscored) else found.reason
    event = PairJudged(
        round=round_, first=first.id, second=second.id, call=call, better=better, unscored=unscored, reason=reason
    )
    desk.ctx.emit(f"{call}/judged", event)
    if isinstance(found, Unscored) and isinstance(final, Final):
        desk.unread(call, "judge", found.reason)
    return better
