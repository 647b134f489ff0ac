"""Who may see which page of notes and of shared links, as rows of rules.py."""

from typing import Any

from tests.access.statuses import ANY_ID, POST_ONLY, RUN_READERS

OF_NOTES: dict[str, Any] = {
    **dict.fromkeys(("notes:note_list", "notes:note_write"), RUN_READERS),
    "notes:note_edit": (302, 404, 404, 404),  # This one does not exist; tests/notes has real ones.
    **dict.fromkeys(("notes:note_change", "notes:part_tag", "notes:mention_seen"), POST_ONLY),
    "sharing:link_list": (302, 404, 404, 200, 200),  # Alice owns the run; Dana is staff.
    "sharing:link_revoke": POST_ONLY,
    # No link has this token; tests/sharing has real ones.
    **{f"sharing:shared_{name}": (404, 404, 404, 404) for name in ("run", "graph", "lemma", "proof")},
}

ARGUMENTS_OF_NOTES: dict[str, Any] = {
    **{f"notes:{name}": lambda world: {"run_id": world.run.public_id} for name in ("note_list", "note_write", "part_tag")},
    **{f"notes:{name}": lambda world: {"run_id": world.run.public_id, "note_id": 1} for name in ("note_edit", "note_change")},
    "notes:mention_seen": lambda world: {"note_id": 1},
    "sharing:link_list": lambda world: {"run_id": world.run.public_id},
    "sharing:link_revoke": lambda world: {"run_id": world.run.public_id, "link_id": ANY_ID},
    **{f"sharing:shared_{name}": lambda world: {"token": "none"} for name in ("run", "graph")},
    "sharing:shared_lemma": lambda world: {"token": "none", "lemma": "s0.1"},
    "sharing:shared_proof": lambda world: {"token": "none", "name": "1"},
}
