"""Items given to several scripts reach a draft when its marker opens it, and leave it when the marker takes them back.

`SharedItemsScript.added` is None until a draft has got the items. Then it names those that the draft did not have before: only
these are taken back. A draft that another marker's claim moved into the record loses them when it is restored.
"""

from collections.abc import Collection

from django.db.models import QuerySet

from apps.marks.models import CLAIMED, Mark, SharedItemsScript
from apps.marks.sheets import scheme_of, sheet_of


def items_add(mark: Mark) -> frozenset[str]:
    """The ticks of a draft with the items that wait for it, which count as added from now on. Call it with the draft locked."""
    ticks = set(sheet_of(mark).ticks)
    for row in _rows(mark).filter(shared__undone_at=None, added__isnull=True).select_for_update(of=("self",)):
        found = {code: item for code, item in codes_of(mark, row.shared.items).items() if code not in ticks}
        row.added = list(found.values())
        row.save(update_fields=["added"])
        ticks |= found.keys()
    return frozenset(ticks)


def items_wait(mark: Mark) -> bool:
    """Whether items wait for this draft."""
    return mark.task.slot in CLAIMED and _rows(mark).filter(shared__undone_at=None, added__isnull=True).exists()


def items_remove(mark: Mark) -> frozenset[str]:
    """The ticks of a draft without the items that were taken back. What another decision gave as well stays, as added by it."""
    ticks = set(sheet_of(mark).ticks)
    given = list(_rows(mark).filter(shared__undone_at=None, added__isnull=False))
    for row in _rows(mark).exclude(shared__undone_at=None).filter(added__isnull=False).exclude(added=[]):
        for code, item in codes_of(mark, row.added or []).items():
            other = next((one for one in given if item in one.shared.items), None)
            if other is None:
                ticks.discard(code)
            elif item not in (other.added or []):
                other.added = [*(other.added or []), item]
                other.save(update_fields=["added"])
        row.added = []
        row.save(update_fields=["added"])
    return frozenset(ticks)


def codes_of(mark: Mark, lineages: Collection[str]) -> dict[str, str]:
    """Code and identity of these items in the scheme of a mark."""
    return {item.code: item.lineage for item in scheme_of(mark).items if item.lineage in lineages}


def _rows(mark: Mark) -> "QuerySet[SharedItemsScript]":
    rows = SharedItemsScript.objects.filter(case=mark.task.case_id, shared__marker=mark.marker_id)
    return rows.select_related("shared").order_by("pk")
