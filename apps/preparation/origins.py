"""Origins of versions of prepared pieces: kind of piece, reference with its group, and why a version is stale.

A stale version names its reference by the digest of a text that may have changed since. Former references are looked up among
the removed posts.
"""

from collections.abc import Sequence

from apps.graders.models import PieceVersion, ReferencePost
from apps.graders.pieces import digest_of
from apps.preparation.state import TITLES, Group, Origin, State
from apps.problems.models import Problem
from apps.reasoning.domain.grading_events import GradingPrepared
from apps.reasoning.graders.pieces.slots import reference_digest
from apps.runs.models import RunEvent

GROUPS = "Groups of the references"


def origins_fill(problem: Problem, state: State) -> None:
    """Fill in the origins of all stale versions."""
    stale = [one for place in state.places for one in place.stale]
    origins = {one.version.pk: one for one in origins_of(problem, state, [*state.gone, *stale])}
    state.origins = [origins[one.pk] for one in state.gone]
    for place in state.places:
        place.origins = [origins[one.pk] for one in place.stale]


def origins_of(problem: Problem, state: State, versions: Sequence[PieceVersion]) -> list[Origin]:
    """The origins of versions of this problem, in their order."""
    removed = ReferencePost.objects.filter(problem=problem, removed_at__isnull=False)
    gone = {reference_digest(one.text)[:16]: str(one) for one in removed}
    named = _groups_then(versions)
    return [
        Origin(one, title_of(one.slot), _about(one, state, gone, named.get((one.run_id, one.slot), "")), _why(one, state))
        for one in versions
    ]


def title_of(slot: str) -> str:
    """The title of a slot's pieces, with their manner."""
    what, *rest = slot.split("/", 2)
    return GROUPS if what == "clusters" else TITLES.get(rest[-1] if rest else "", what.capitalize())


def _about(version: PieceVersion, state: State, gone: dict[str, str], then: str) -> str:
    digest = version.slot.split("/")[1] if "/" in version.slot else ""
    if not digest:
        return ""
    reference = next((one for one in state.references if reference_digest(one.text)[:16] == digest), None)
    before = f", formerly {then}" if then else ""
    if reference is not None:
        now = _group_now(reference.number, state.groups)
        return f"reference {reference.number}, {now}{'' if now.startswith(f'{then} ') else before}"
    removed = f"the removed reference “{gone[digest]}”" if digest in gone else "a former reference"
    return f"{removed}{before}"


def _group_now(number: int, groups: Sequence[Group]) -> str:
    group = next((one for one in groups if number in one.cluster.members), None)
    if group is None:
        return "in no group now"
    is_it = group.representative.number == number
    return f"group {group.name} now{'' if is_it else f' (represented by reference {group.representative.number})'}"


def _why(version: PieceVersion, state: State) -> str:
    place = state.place(version.slot)
    if place is not None and version not in place.stale:
        return ""
    if version.statement != digest_of(state.statement):
        return "the statement has changed"
    if version.what == "clusters":
        return "the references have changed"
    return "its main steps have changed" if place else "it no longer represents a group"


def _groups_then(versions: Sequence[PieceVersion]) -> dict[tuple[int | None, str], str]:
    """By run and slot: the group for which the run made a version, from the key of its call."""
    runs = {one.run_id for one in versions if one.run_id is not None}
    made = RunEvent.objects.filter(run__in=runs, kind=GradingPrepared.kind).values_list("run", "body__slot", "body__call")
    return {(run, slot): f"group {call.split('/')[1]}" for run, slot, call in made if call and call.count("/") > 1}
