"""Who may see which page of notes, as rows of rules.py."""

from typing import Any

from tests.access.statuses import POST_ONLY, RUN_READERS

OF_NOTES: dict[str, Any] = {
    **dict.fromkeys(("notes:note_list", "notes:note_write"), RUN_READERS),
    "notes:note_edit": (302, 404, 404, 404),  # This one does not exist; tests/notes has real ones.
    **dict.fromkeys(("notes:note_change", "notes:mention_seen"), POST_ONLY),
}

ARGUMENTS_OF_NOTES: dict[str, Any] = {
    **{f"notes:{name}": lambda world: {"run_id": world.run.public_id} for name in ("note_list", "note_write")},
    **{f"notes:{name}": lambda world: {"run_id": world.run.public_id, "note_id": 1} for name in ("note_edit", "note_change")},
    "notes:mention_seen": lambda world: {"note_id": 1},
}
