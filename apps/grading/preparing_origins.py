"""Where a version of a prepared piece belongs: its manner, the reference it is about with its group, why it is stale.

A stale version names its reference by the digest of a text that may have changed since; what is no reference any more is
looked for among the posts that were taken away.
"""

from collections.abc import Sequence

from apps.grading.pieces import digest_of
from apps.grading.preparing_models import PieceVersion, ReferencePost
from apps.grading.preparing_state import TITLES, Group, Origin, State
from apps.problems.models import Problem
from apps.reasoning.domain.grading_events import GradingPrepared
from apps.reasoning.graders.slots import reference_digest
from apps.runs.models import RunEvent

GROUPS = "Groups of the references"


def origins_tell(problem: Problem, state: State) -> None:
    """Fill in the origins of all that is stale."""
    stale = [one for place in state.places for one in place.stale]
    told = {one.version.pk: one for one in origins_of(problem, state, [*state.gone, *stale])}
    state.origins = [told[one.pk] for one in state.gone]
    for place in state.places:
        place.origins = [told[one.pk] for one in place.stale]


def origins_of(problem: Problem, state: State, versions: Sequence[PieceVersion]) -> list[Origin]:
    """Of versions of this problem, in their order."""
    removed = ReferencePost.objects.filter(problem=problem, removed_at__isnull=False)
    gone = {reference_digest(one.text)[:16]: str(one) for one in removed}
    named = _groups_then(versions)
    return [
        Origin(one, title_of(one.slot), _about(one, state, gone, named.get((one.run_id, one.slot), "")), _why(one, state))
        for one in versions
    ]


def title_of(slot: str) -> str:
    """What stands in a slot of this name, with its manner."""
    what, *rest = slot.split("/", 2)
    return GROUPS if what == "clusters" else TITLES.get(rest[-1] if rest else "", what.capitalize())


def _about(version: PieceVersion, state: State, gone: dict[str, str], then: str) -> str:
    digest = version.slot.split("/")[1] if "/" in version.slot else ""
    if not digest:
        return ""
    reference = next((one for one in state.references if reference_digest(one.text)[:16] == digest), None)
    before = f", {then} then" if then else ""
    if reference is not None:
        now = _group_now(reference.number, state.groups)
        return f"reference {reference.number}, {now}{'' if now.startswith(f'{then} ') else before}"
    taken = f"the reference “{gone[digest]}”, which was taken away" if digest in gone else "a reference that is there no more"
    return f"{taken}{before}"


def _group_now(number: int, groups: Sequence[Group]) -> str:
    group = next((one for one in groups if number in one.cluster.members), None)
    if group is None:
        return "in no group now"
    is_it = group.representative.number == number
    return f"group {group.name} now{'' if is_it else f', which is prepared from reference {group.representative.number}'}"


def _why(version: PieceVersion, state: State) -> str:
    place = state.place(version.slot)
    if place is not None and version not in place.stale:
        return ""
    if version.statement != digest_of(state.statement):
        return "the statement has changed"
    if version.what == "clusters":
        return "the references have changed"
    return "its main steps have changed" if place else "nothing is prepared from it any more"


def _groups_then(versions: Sequence[PieceVersion]) -> dict[tuple[int | None, str], str]:
    """By run and slot the group for which a run made a version: it stands in the key of its call."""
    runs = {one.run_id for one in versions if one.run_id is not None}
    told = RunEvent.objects.filter(run__in=runs, kind=GradingPrepared.kind).values_list("run", "body__slot", "body__call")
    return {(run, slot): f"group {call.split('/')[1]}" for run, slot, call in told if call and call.count("/") > 1}
