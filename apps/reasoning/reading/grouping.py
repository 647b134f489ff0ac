"""Read groups of solutions or other texts, with the likeliest group.

The long form lists groups; weak models put a solution in two of them or name a group that does not exist. The short form asks
for each text which earlier one it is like, so every answer gives a partition.
"""

import re
from collections.abc import Mapping

import networkx as nx
from pydantic import ValidationError

from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.reading.answers import whole_answer
from apps.reasoning.reading.closings import Closing, Said, json_within, text_around_json
from apps.reasoning.reading.said_values import group_number

#: The text is no attempt at a solution.
NONE = 0
LONGEST_REASON = 8000
LIKELIEST = Closing("likeliest", "likeliest group", group_number, ("likeliest", "likeliest group", "the likeliest group"))
_GROUP = re.compile(r"<group\s+number\s*=\s*[\"']?(\d{1,3})[\"']?\s*>([^<]*)</group>", re.IGNORECASE)
_SHAPE = Unscored(reason="the JSON object does not have the fields asked for")


class Grouping(Value):
    """Numbers of solutions, from 1, in groups; `chosen` is the position of the likeliest group."""

    groups: tuple[tuple[int, ...], ...]
    chosen: int
    reason: str = ""


class GroupsJson(Value):
    """The long form of a grouping as JSON; `likeliest` counts the groups from 1."""

    groups: tuple[tuple[int, ...], ...]
    likeliest: int


class LikeJson(Value):
    """The short form: of every solution an earlier one with the same conclusion, and one of the likeliest group."""

    like: dict[int, int]
    most_likely_right: int


def read_grouping(final: Final, count: int) -> Grouping | Unscored:
    """Groups of the solutions 1 to `count`. A solution is in at most one group, and the likeliest group must exist."""
    answer = whole_answer(final)
    if isinstance(answer, Unscored):
        return answer
    if (value := json_within(answer, "groups")) is not None:
        around = LIKELIEST.read(text_around_json(answer, "groups"))
        if isinstance(around, Said) and around.value != value.get("likeliest"):
            return LIKELIEST.differs
        try:
            parsed = GroupsJson.model_validate(value)
        except ValidationError:
            return _SHAPE
        return _grouping([(number, list(group)) for number, group in enumerate(parsed.groups, 1)], parsed.likeliest, count, "")
    found = LIKELIEST.read(answer)
    if isinstance(found, Unscored):
        return found
    named = [(int(match[1]), [int(one) for one in re.findall(r"\d{1,4}", match[2])]) for match in _GROUP.finditer(found.before)]
    return _grouping(named, found.value, count, _GROUP.sub("", found.before[:LONGEST_REASON]).strip())


def read_grouping_again(second: Final, first: str, count: int) -> Grouping | Unscored:
    """The short form, or the long one; the prose of the first answer remains the reason."""
    answer = whole_answer(second)
    value = json_within(answer, "like") if isinstance(answer, str) else None
    if value is None or "like" not in value:
        found = read_grouping(second, count)
        return found if isinstance(found, Unscored) else found.model_copy(update={"reason": found.reason or _prose(first)})
    try:
        said = LikeJson.model_validate(value)
    except ValidationError:
        return _SHAPE
    groups = partition(said.like, count)
    if isinstance(groups, Unscored):
        return groups
    chosen = next((place for place, group in enumerate(groups) if said.most_likely_right in group), None)
    if chosen is None:
        return Unscored(reason=f"solution {said.most_likely_right}, which it holds most likely right, does not exist")
    return Grouping(groups=groups, chosen=chosen, reason=_prose(first))


def partition(like: Mapping[int, int], count: int) -> tuple[tuple[int, ...], ...] | Unscored:
    """Groups of 1 to `count`, in order: each with the one that it is like, alone where it names none or itself.

    A solution that is like `NONE`, directly or through others, is in no group.
    """
    if wrong := {*like, *like.values()} - set(range(count + 1)):
        return Unscored(reason=f"it names number {min(wrong)}, which does not exist")
    alike = nx.Graph((number, like.get(number, number)) for number in range(1, count + 1))
    return tuple(sorted(tuple(sorted(group)) for group in nx.connected_components(alike) if NONE not in group))


def _prose(first: str) -> str:
    return _GROUP.sub("", first)[:LONGEST_REASON].strip()


def _grouping(named: list[tuple[int, list[int]]], likeliest: int, count: int, reason: str) -> Grouping | Unscored:
    groups: dict[int, tuple[int, ...]] = {}
    seen: set[int] = set()
    for group, written in named:
        members = tuple(dict.fromkeys(written))
        if any(not 1 <= member <= count for member in members) or seen & set(members) or group in groups:
            return Unscored(reason=f"group {group} names a solution that does not exist or is in another group")
        seen |= set(members)
        if members:
            groups[group] = members
    if likeliest not in groups:
        return Unscored(reason=f"the likeliest group is {likeliest}, which is no group with a solution")
    return Grouping(groups=tuple(groups.values()), chosen=list(groups).index(likeliest), reason=reason)
