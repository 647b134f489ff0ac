"""Who may see which page of experiments, as rows of rules.py."""

from collections.abc import Callable
from typing import Any

from tests.access.statuses import ANY_ID, POST_ONLY, RUN_READERS

#: Pages of one experiment. The asked one does not exist, so all users get 404.
PAGES = (
    "detail",
    "csv",
    "jsonl",
    "cells",
    "curves",
    "marks",
    "compare",
    "ablations",
    "endings",
    "files",
    "rehearsal",
    "extend",
)
_WITH_MORE: dict[str, dict[str, str]] = {"mark": {"answer": "0a"}, "file": {"name": "cells.csv"}}

OF_EXPERIMENTS: dict[str, Any] = {
    "experiments:list": RUN_READERS,
    "experiments:new": RUN_READERS,
    "experiments:solving_new": RUN_READERS,
    "experiments:tables": RUN_READERS,
    **{f"experiments:{name}": (302, 404, 404, 404) for name in (*PAGES, *_WITH_MORE)},
    "experiments:command": POST_ONLY,
}


def _asked(more: dict[str, str]) -> Callable[[Any], dict[str, Any]]:
    return lambda world: {"experiment_id": ANY_ID, **more}


ARGUMENTS_OF_EXPERIMENTS = {
    **{f"experiments:{name}": _asked(_WITH_MORE.get(name, {})) for name in (*PAGES, *_WITH_MORE)},
    "experiments:command": _asked({"verb": "pause"}),
}
