"""Items given to several scripts reach a draft when its marker opens the script. `groups` gives them and takes them back."""

from collections.abc import Collection

from apps.marks.models import Mark, SharedItemsScript, Slot
from apps.marks.sheets import scheme_of

_MARKED_ALONE = (Slot.CALIBRATION, Slot.REMARK, Slot.APPEAL)


def items_waiting(mark: Mark) -> frozenset[str]:
    """Codes of the items that wait for this new draft, each only once. Items that the scheme no longer has are dropped."""
    if mark.task.slot in _MARKED_ALONE:
        return frozenset()
    rows = SharedItemsScript.objects.filter(
        case=mark.task.case_id, shared__marker=mark.marker_id, shared__undone_at=None, added__isnull=True
    )
    codes: set[str] = set()
    for row in rows.select_related("shared"):
        found = codes_of(mark, row.shared.items)
        row.added = list(found.values())
        row.save(update_fields=["added"])
        codes |= found.keys()
    return frozenset(codes)


def codes_of(mark: Mark, lineages: Collection[str]) -> dict[str, str]:
    """Code and identity of these items in the scheme of a mark."""
    return {item.code: item.lineage for item in scheme_of(mark).items if item.lineage in lineages}
