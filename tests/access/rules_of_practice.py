"""Who may see which page of practice, as rows of rules.py. tests/practice has texts that can be read."""

from typing import Any

from tests.access.statuses import ANY_ID, POST_ONLY, RUN_READERS, SIGNED_IN, STAFF

#: The text of these tests was handed in at a contest, where there is no help, also not for its author.
NO_HELP = (302, 404, 404, 404)

OF_PRACTICE: dict[str, Any] = {
    **dict.fromkeys(("practice:path", "practice:data"), SIGNED_IN),
    "practice:export": (302, 200, 200, 200),
    **dict.fromkeys(("practice:queue", "practice:errors"), RUN_READERS),
    "practice:next": (302, 404, 302, 302),  # Nothing waits, so that it leads to the queue.
    "practice:models": STAFF,
    **dict.fromkeys(("practice:attempt", "practice:compare", "practice:hints", "practice:model", "practice:answer"), NO_HELP),
    "practice:rules": NO_HELP,
    **{
        f"practice:{name}": POST_ONLY
        for name in ("try", "decide", "check", "check_version", "ask", "withdraw", "remark_reply", "remark", "example")
    },
    **dict.fromkeys(("practice:remark_decide", "practice:phrases"), POST_ONLY),
}

_OF_VERSION = ("attempt", "check_version", "ask", "model", "compare", "answer", "remark", "example")
ARGUMENTS_OF_PRACTICE: dict[str, Any] = {
    "practice:try": lambda world: {"slug": world.problem.slug},
    "practice:decide": lambda world: {"problem_id": world.handed_in.submission.problem.public_id, "verb": "done"},
    **{
        f"practice:{name}": lambda world: {"problem_id": world.handed_in.submission.problem.public_id}
        for name in ("check", "hints")
    },
    **{f"practice:{name}": lambda world: {"version_id": world.handed_in.public_id} for name in _OF_VERSION},
    "practice:withdraw": lambda world: {"question_id": ANY_ID},
    "practice:remark_reply": lambda world: {"remark_id": ANY_ID, "verb": "more"},
    "practice:remark_decide": lambda world: {"remark_id": ANY_ID, "verb": "right"},
    "practice:rules": lambda world: {"contest_id": world.contest_id},
}
