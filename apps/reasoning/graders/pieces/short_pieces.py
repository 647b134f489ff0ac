"""The short forms of pieces made from references, for the second question: fields of which none can be missing or contradict.

Every text names the first one that it is like, so that clusters never overlap; a matcher says of every main step whether the
script has it; a designer weighs its items, and seven points are apportioned over them here.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated

from pydantic import Field

from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.graders.judging.asked_again import TEXTS, AskedAgain, short_read, texts, tokens_for
from apps.reasoning.graders.pieces.matching import Match
from apps.reasoning.graders.pieces.pieces import (
    FEWEST_STEPS,
    HARDEST,
    MOST_STEPS,
    Analysis,
    Cluster,
    Clusters,
    Rubric,
    RubricItem,
    Words,
    analysis_reader,
    apportioned,
    clusters_read,
    faultless,
    rubric_fault,
    rubric_reader,
)
from apps.reasoning.reading.grouping import NONE, partition
from apps.reasoning.reading.schemas import TEXT, decisions, object_schema

Steps = Annotated[tuple[Words, ...], Field(min_length=1, max_length=MOST_STEPS)]


class LikeSaid(Value):
    """Of every text the first one that takes the same way, its own number where it is the first, 0 where it is no attempt."""

    like: dict[int, int]
    steps: dict[int, Steps]


class TakenSaid(Value):
    """For every known solution and each of its main steps in order, whether the script has it."""

    taken: dict[str, dict[int, bool]]


class WeighedItem(Value):
    """An item of a rubric; `weight` where its points are the designer's to choose."""

    title: Words
    full: Words
    weight: Annotated[int, Field(ge=1, le=HARDEST)] = 1


class WeighedSaid(Value):
    """The items of a rubric in order."""

    items: Annotated[tuple[WeighedItem, ...], Field(min_length=1, max_length=7)]


def clusters_again(count: int) -> AskedAgain[Clusters]:
    """Asks for clusters of the texts 1 to `count`."""
    numbers = range(1, count + 1)
    like = decisions({str(number): tuple(range(NONE, number + 1)) for number in numbers})
    steps = object_schema({str(number): texts(1, MOST_STEPS) for number in numbers})

    def read(second: Final, _: Final) -> Clusters | Unscored:
        said = short_read(second, LikeSaid)
        return clusters_read(second, count) if isinstance(said, Unscored) else _clusters(said, count)

    schema = object_schema({"like": like, "steps": steps})
    return AskedAgain(read, asks_json="like_json", schema=schema, tokens=TEXTS + tokens_for(count))


def _clusters(said: LikeSaid, count: int) -> Clusters | Unscored:
    groups = partition(said.like, count)
    if isinstance(groups, Unscored):
        return groups
    if not groups:
        return Unscored(reason="none of the texts is an attempt at a solution")
    return Clusters(
        clusters=tuple(Cluster(steps=said.steps.get(group[0], ()), members=group, representative=group[0]) for group in groups)
    )


def match_again(counts: Mapping[str, int], read_whole: Callable[[Final], Match | Unscored]) -> AskedAgain[Match]:
    """Asks which main steps of the clusters the script has; `counts` are the numbers of their main steps."""
    fields = {name: decisions({str(at): (True, False) for at in range(1, count + 1)}) for name, count in counts.items()}

    def read(second: Final, _: Final) -> Match | Unscored:
        said = short_read(second, TakenSaid)
        return read_whole(second) if isinstance(said, Unscored) else _match(said, counts)

    schema = object_schema({"taken": object_schema(fields)})
    return AskedAgain(read, asks_json="taken_json", schema=schema, tokens=tokens_for(sum(counts.values())))


def _match(said: TakenSaid, counts: Mapping[str, int]) -> Match | Unscored:
    if said.taken.keys() - counts.keys():
        return Unscored(reason="it names a solution that is not there")
    taken = {name: [said.taken.get(name, {}).get(at, False) for at in range(1, count + 1)] for name, count in counts.items()}
    prefix = {name: next((at for at, has in enumerate(steps) if not has), len(steps)) for name, steps in taken.items()}
    common = {name: sum(steps) for name, steps in taken.items()}
    return Match(cluster=max(counts, key=lambda name: (prefix[name], common[name])), prefix=prefix, common=common)


def analysis_again(is_scored: bool) -> AskedAgain[Analysis]:
    """Asks for the titles of the main steps, with approachability or without."""
    scored = {"approachability": {"enum": list(range(1, HARDEST + 1))}} if is_scored else {}
    step = object_schema({"title": TEXT, **scored})
    steps = {"type": "array", "items": step, "minItems": FEWEST_STEPS, "maxItems": MOST_STEPS}
    read = analysis_reader(is_scored)
    return AskedAgain(
        lambda second, _: read(second),
        asks_json="main_steps_scored_json" if is_scored else "main_steps_json",
        schema=object_schema({"main_steps": steps}),
        tokens=TEXTS,
    )


def rubric_again(wanted: Sequence[int]) -> AskedAgain[Rubric]:
    """Asks for items; `wanted` are their points, where they are not the designer's to choose."""
    weight = {} if wanted else {"weight": {"enum": list(range(1, HARDEST + 1))}}
    fewest, most = (len(wanted), len(wanted)) if wanted else (FEWEST_STEPS, MOST_STEPS)
    item = object_schema({"title": TEXT, "full": TEXT, **weight})
    whole = rubric_reader(wanted)

    def read(second: Final, _: Final) -> Rubric | Unscored:
        said = short_read(second, WeighedSaid)
        if isinstance(said, Unscored):
            return whole(second)
        return faultless(_rubric(said, wanted), lambda found: rubric_fault(found, wanted))

    return AskedAgain(
        read,
        asks_json="wanted_items_json" if wanted else "weighed_items_json",
        schema=object_schema({"items": {"type": "array", "items": item, "minItems": fewest, "maxItems": most}}),
        tokens=TEXTS,
        values={"points": ", ".join(map(str, wanted))},
    )


def _rubric(said: WeighedSaid, wanted: Sequence[int]) -> Rubric | Unscored:
    if wanted and len(said.items) != len(wanted):
        return Unscored(reason=f"{len(wanted)} items are wanted; there are {len(said.items)}")
    points = wanted or apportioned([item.weight for item in said.items])
    return Rubric(
        items=tuple(
            RubricItem(title=item.title, points=given, full=item.full) for item, given in zip(said.items, points, strict=True)
        )
    )
