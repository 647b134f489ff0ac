"""Mapping of the steps of an old text to those of its revision, for carrying verdicts over.

A step is *kept* only if its text is exactly the same and either unique in both texts or between the same neighbours. Changed
steps are proposed to a person; lost steps are reported. So editing one sentence never moves a verdict to another.
"""

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Literal

from apps.reasoning.domain.values import Value
from apps.reasoning.texts.anchors import Anchor, anchor_at, anchor_span
from apps.reasoning.texts.segmentation import Step

ALIGNED_AT_MOST = 1_000_000  # Pairs of steps; aligning takes time that grows faster than their number.

Fate = Literal["kept", "needs confirmation", "orphaned"]


class StepFate(Value):
    """What became of an old step: `number` is the new step's, or the proposal's, or None where it is gone."""

    old: int
    fate: Fate
    number: int | None = None


def steps_mapped(old: Sequence[Step], new: Sequence[Step]) -> tuple[StepFate, ...]:
    """The fate of every old step, in order. No two kept steps are the same new step."""
    kept = _kept(old, new)
    proposals = _proposals(old, new, kept)
    return tuple(_fate(step, kept.get(index), proposals.get(index), new) for index, step in enumerate(old))


def anchor_carried(
    anchor: Anchor, source: str, old: Sequence[Step], new_source: str, new: Sequence[Step], fates: Sequence[StepFate]
) -> Anchor | None:
    """The anchor in the new text, where everything it touches was kept in one piece; else None, and a person decides."""
    start, end = anchor_span(source, anchor)
    by_old = {fate.old: fate for fate in fates if fate.fate == "kept"}
    numbers = {step.number: step for step in new}
    touched = [step for step in old if step.start < end and start < step.end]
    if not touched or any(step.number not in by_old for step in touched):
        return None
    first = numbers[by_old[touched[0].number].number or 0]
    moved = first.start - touched[0].start
    if new_source[start + moved : end + moved] != anchor.quote or start + moved < 0:
        return None
    return anchor_at(new_source, start + moved, end + moved)


def _kept(old: Sequence[Step], new: Sequence[Step]) -> dict[int, int]:
    """Indices of old steps with those of the new steps that are surely they."""
    digests, later = [step.digest for step in old], [step.digest for step in new]
    if digests == later:
        return {index: index for index in range(len(digests))}
    kept: dict[int, int] = {}
    # First by the text alone, then by the text between the same neighbours; each only if it is unique in both texts.
    for keys, new_keys in ((digests, later), (_between(digests), _between(later))):
        counts, new_counts = Counter(keys), Counter(new_keys)
        places = {key: index for index, key in enumerate(new_keys)}
        for index, key in enumerate(keys):
            if index not in kept and counts[key] == new_counts[key] == 1:
                kept[index] = places[key]
    return kept


def _between(digests: Sequence[str]) -> list[str]:
    """Each digest with those before and after it."""
    return ["/".join(three) for three in zip(["", *digests], digests, [*digests[1:], ""], strict=False)]


def _proposals(old: Sequence[Step], new: Sequence[Step], kept: dict[int, int]) -> dict[int, int]:
    """For steps that are not kept, the new step at the same position among the kept ones, if there is one."""
    taken = set(kept.values())
    found: dict[int, int] = {}
    for start, end, new_start, new_end in _stretches(old, new):
        free = [index for index in range(new_start, new_end) if index not in taken]
        lost = [index for index in range(start, end) if index not in kept]
        found.update(zip(lost, free, strict=False))
    return found


def _stretches(old: Sequence[Step], new: Sequence[Step]) -> list[tuple[int, int, int, int]]:
    """Parts of both texts at the same place: starts and ends in the old and the new one."""
    if len(old) * len(new) > ALIGNED_AT_MOST:
        return [(0, len(old), 0, len(new))]
    matcher = SequenceMatcher(None, [step.digest for step in old], [step.digest for step in new], autojunk=False)
    return [(one, two, three, four) for tag, one, two, three, four in matcher.get_opcodes() if tag in {"replace", "equal"}]


def _fate(step: Step, kept: int | None, proposal: int | None, new: Sequence[Step]) -> StepFate:
    if kept is not None:
        return StepFate(old=step.number, fate="kept", number=new[kept].number)
    if proposal is not None:
        return StepFate(old=step.number, fate="needs confirmation", number=new[proposal].number)
    return StepFate(old=step.number, fate="orphaned")
