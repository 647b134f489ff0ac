"""Similarity of solutions by main steps: the longest common prefix, then the longest common subsequence, then order.

Source: RefGrader §5.2, App. B.1. A model decides which steps are equal; the numbers are computed here.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_validator

from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.graders.judging.answers import answer_read, entries


def _cluster(name: Any) -> Any:
    """`Solution C1` as C1, as its heading calls it."""
    return name.strip().removeprefix("Solution ").strip() if isinstance(name, str) else name


class SameSaid(Value):
    """Main step `step` of the script says the same as main step `other` of a cluster."""

    step: Annotated[int, Field(ge=1)]
    cluster: Annotated[str, BeforeValidator(_cluster)]
    other: Annotated[int, Field(ge=1)]


class MatchingSaid(Value):
    """The script's main steps, and what of them is the same as a reference's."""

    steps: Annotated[tuple[str, ...], Field(max_length=20)]
    same: tuple[SameSaid, ...] = ()

    @model_validator(mode="after")
    def _known(self) -> Self:
        if any(one.step > len(self.steps) for one in self.same):
            raise ValueError("it speaks of a main step that it does not list")
        return self


class Match(Value):
    """The chosen cluster with the numbers that chose it, per cluster."""

    cluster: str
    prefix: dict[str, int]
    common: dict[str, int]
    steps: tuple[str, ...] = ()


def common_prefix(first: Sequence[int], second: Sequence[int]) -> int:
    """How many steps are the same from the beginning on."""
    same = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        same += 1
    return same


def common_subsequence(first: Sequence[int], second: Sequence[int]) -> int:
    """The length of the longest common subsequence."""
    row = [0] * (len(second) + 1)
    for one in first:
        before = 0
        for place, other in enumerate(second, 1):
            before, row[place] = row[place], before + 1 if one == other else max(row[place], row[place - 1])
    return row[-1]


def best_match(said: MatchingSaid, clusters: Mapping[str, int]) -> Match:
    """The cluster most alike; `clusters` are the numbers of their main steps, in order. The first one where nothing is."""
    prefix: dict[str, int] = {}
    common: dict[str, int] = {}
    for name, count in clusters.items():
        other = {one.step: one.other for one in said.same if one.cluster == name}
        mine = [other.get(number, 0) for number in range(1, len(said.steps) + 1)]
        theirs = list(range(1, count + 1))
        prefix[name], common[name] = common_prefix(mine, theirs), common_subsequence(mine, theirs)
    chosen = max(clusters, key=lambda name: (prefix[name], common[name]))
    return Match(cluster=chosen, prefix=prefix, common=common, steps=said.steps)


def matching_read(final: Final, clusters: Mapping[str, int]) -> MatchingSaid | Unscored:
    """The answer, unless it names a cluster or a main step of one that is not there, or one step as two of a cluster."""
    said = answer_read(final, "matching", MatchingSaid, _tags)
    if isinstance(said, Unscored):
        return said
    for one in said.same:
        if one.other > clusters.get(one.cluster, 0):
            return Unscored(reason=f"there is no main step {one.other} of {one.cluster[:20]}")
    if len({(one.step, one.cluster) for one in said.same}) < len(said.same):
        return Unscored(reason="a main step is the same as two of one cluster")
    return said


def _tags(body: str) -> dict[str, Any]:
    same = [attributes for attributes, _ in entries(body, "same")]
    return {"steps": [text for _, text in entries(body, "main-step")], "same": same}
