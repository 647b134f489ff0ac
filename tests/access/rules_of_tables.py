"""Who may see which page of table imports, as rows of rules.py. tests/tables has uploads that can be read."""

from typing import Any

from tests.access.statuses import ANY_ID, CONTEST_COACH, POST_ONLY

NOT_THERE = (302, 404, 404, 404)  # Uploads and imports are visible to their owner only; these do not exist.
COACHES = (302, 404, 200, 404)
_OF_IMPORTS = ("imported", "imported_left_out", "imported_points")

OF_TABLES: dict[str, Any] = {
    "tables:upload_new": COACHES,
    "tables:upload": CONTEST_COACH,
    **{f"tables:{name}": NOT_THERE for name in ("review", "left_out", *_OF_IMPORTS)},
    "tables:imported_passwords": POST_ONLY,
}

ARGUMENTS_OF_TABLES: dict[str, Any] = {
    "tables:upload": lambda world: {"contest_id": world.contest_id},
    **{f"tables:{name}": lambda world: {"file_id": ANY_ID} for name in ("review", "left_out")},
    **{f"tables:{name}": lambda world: {"import_id": ANY_ID} for name in (*_OF_IMPORTS, "imported_passwords")},
}
