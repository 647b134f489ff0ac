"""Who may see which page of scans, as rows of rules.py. tests/scanning has pages that can be read."""

from typing import Any

from tests.access.statuses import ANY_ID, CONTEST_COACH, POST_ONLY

NOT_THERE = (302, 404, 404, 404)

OF_SCANS: dict[str, Any] = {
    **dict.fromkeys(("scanning:overview", "scanning:progress", "scanning:tray"), CONTEST_COACH),
    **dict.fromkeys(("scanning:gallery", "scanning:file", "scanning:picture"), NOT_THERE),
    **{f"scanning:{name}": POST_ONLY for name in ("sheets", "begin", "add", "hand_in", "place_again", "assign")},
    **{f"scanning:{name}": POST_ONLY for name in ("piece", "change")},
}

_OF_CONTEST = ("overview", "progress", "tray", "gallery", "sheets", "begin", "add", "hand_in", "place_again", "assign")
ARGUMENTS_OF_SCANS: dict[str, Any] = {
    **{f"scanning:{name}": lambda world: {"contest_id": world.contest_id} for name in _OF_CONTEST},
    **{f"scanning:{name}": lambda world: {"file_id": ANY_ID} for name in ("file", "piece")},
    **{f"scanning:{name}": lambda world: {"page_id": ANY_ID} for name in ("picture", "change")},
}
