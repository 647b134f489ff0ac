"""A knock-out among candidates, every pair judged in both orders."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from apps.reasoning.domain.candidate_events import PairDecided, PairJudged
from apps.reasoning.domain.generation import Place
from apps.reasoning.domain.values import Unscored
from apps.reasoning.reading.choices import read_better, read_better_again
from apps.reasoning.scaffolds.candidates.desk import Candidate, Desk
from apps.reasoning.scaffolds.candidates.ranking import C
from apps.reasoning.scaffolds.running.concurrently import concurrently
from apps.reasoning.scaffolds.running.hearing import choosing
from apps.reasoning.story.candidates import Candidate as RecordedCandidate
from apps.reasoning.story.candidates import Candidates

READING = choosing("choice", "better", ("A", "B"), read_better, read_better_again)


def most_calls(entrants: int) -> int:
    """Calls of a knock-out: two per pair, and each pair eliminates one entrant."""
    return 2 * max(0, entrants - 1)


def undefeated(entrants: Iterable[C], beaten: Collection[str], wins: Mapping[str, int]) -> list[C]:
    """The entrants not yet beaten: those with most wins first, then older ones."""
    return sorted((one for one in entrants if one.id not in beaten), key=lambda one: (-wins.get(one.id, 0), one.order))


def undefeated_in(found: Candidates, entrants: Iterable[str]) -> list[RecordedCandidate]:
    """The `undefeated` entrants by the recorded pairs; empty before the first pair."""
    if not found.duels:
        return []
    wins = Counter(duel.winner for duel in found.duels)
    beaten = {name for duel in found.duels for name in duel.pair if name != duel.winner}
    return undefeated((found.by_id[name] for name in entrants), beaten, wins)


@dataclass
class KnockOut:
    """The state of a knock-out. If the two orders of a pair disagree or are unreadable, `scores` decide, then the seed.

    Source: Nomos and the last phase of RSA (QED-Nano App. B); judging both orders is ours, against position bias.
    """

    desk: Desk
    scores: Mapping[str, float]
    prefix: str
    entrants: tuple[Candidate, ...] = ()
    beaten: set[str] = field(default_factory=set)
    wins: Counter[str] = field(default_factory=Counter)

    @property
    def standing(self) -> list[Candidate]:
        """The `undefeated` entrants."""
        return undefeated(self.entrants, self.beaten, self.wins)

    async def hold(self, entrants: Sequence[Candidate]) -> Candidate | None:
        """Hold the knock-out, return its winner; None if a person ends it. Raises `ValueError` without entrants."""
        if not entrants:
            raise ValueError("a tournament needs an entrant")
        self.entrants = tuple(entrants)
        standing = list(entrants)
        self.desk.draw(f"{self.prefix}/draw").shuffle(standing)
        round_ = 0
        while len(standing) > 1:
            round_ += 1
            if await self.desk.steer(f"{self.prefix}/{round_}", reads_hints=False):
                return None
            pairs = list(zip(standing[::2], standing[1::2], strict=False))
            # An entrant with a bye plays in the first pair of the next round, so that it never has two byes.
            bye = standing[-1:] if len(standing) % 2 else []
            standing = [*bye, *await concurrently(self._winner(pair, round_) for pair in pairs)]
        return standing[0]

    async def _winner(self, pair: tuple[Candidate, Candidate], round_: int) -> Candidate:
        one, two = pair
        desk, scores, key = self.desk, self.scores, f"{self.prefix}/{round_}/{one.id}-{two.id}"
        verdicts = await concurrently(
            (_better(desk, one, two, f"{key}/1", round_), _better(desk, two, one, f"{key}/2", round_))
        )
        if verdicts[0] and verdicts[0] == verdicts[1]:
            winner, by = desk.candidates[verdicts[0]], "both orders"
        elif one.id in scores and two.id in scores and scores[one.id] != scores[two.id]:
            winner, by = (one, "score") if scores[one.id] > scores[two.id] else (two, "score")
        else:
            winner, by = desk.draw(f"{key}/lot").choice(pair), "seed"
        self.wins[winner.id] += 1
        self.beaten.add(two.id if winner.id == one.id else one.id)
        decided = {"round": round_, "pair": (one.id, two.id), "winner": winner.id, "by": by}
        desk.ctx.emit(f"{key}/decided", PairDecided.model_validate(decided))
        return winner


async def _better(desk: Desk, first: Candidate, second: Candidate, call: str, round_: int) -> str:
    """The id of the better candidate in this order; "" if the judge is unreadable."""
    found, said_in, _ = await desk.hear(
        call,
        role="judge",
        prompt="shared/judge",
        values={"first": desk.content(first.text), "second": desk.content(second.text)},
        place=Place(round=round_, subject=f"{first.id} against {second.id}"),
        reading=READING,
        ending=await desk.formulas.marks_of(desk, {"Solution A": first, "Solution B": second}),
    )
    better = "" if isinstance(found, Unscored) else (first, second)[found.position].id
    unscored = found.reason if isinstance(found, Unscored) else ""
    reason = "" if isinstance(found, Unscored) else found.reason
    event = PairJudged(
        round=round_, first=first.id, second=second.id, call=said_in, better=better, unscored=unscored, reason=reason
    )
    desk.ctx.emit(f"{call}/judged", event)
    return better
