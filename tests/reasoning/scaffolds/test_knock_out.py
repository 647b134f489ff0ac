"""The knock-out: everyone's chance to sit a round out is the same."""

from collections import Counter
from typing import Any

import pytest

from apps.reasoning.domain.candidate_events import PairDecided
from apps.reasoning.scaffolds import rsa
from tests.reasoning.candidates import better, named
from tests.reasoning.play import play


@pytest.mark.parametrize("entrants", [2, 3, 5, 6, 9, 11, 17])
@pytest.mark.parametrize("seed", range(4))
async def test_no_entrant_sits_out_two_rounds(entrants: int, seed: int) -> None:
    table: dict[str, Any] = {"step/*": named, "final/*": better("A")}
    run = await play(table, rsa.Params(population=entrants, subset=2, steps=1), scaffold="rsa", seed=seed)
    pairs = [event for event in run.of("pair.decided") if isinstance(event, PairDecided)]
    assert len(pairs) == entrants - 1
    standing = {f"c2.{slot}" for slot in range(1, entrants + 1)}
    sat_out: Counter[str] = Counter()
    for round_ in range(1, max(event.round for event in pairs) + 1):
        held = [event for event in pairs if event.round == round_]
        sat_out.update(standing - {name for event in held for name in event.pair})
        standing -= {name for event in held for name in event.pair if name != event.winner}
    assert len(standing) == 1
    assert max(sat_out.values(), default=0) <= 1
