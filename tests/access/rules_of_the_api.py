"""Who may ask which operation of the HTTP API, as rows of rules.py."""

from collections.abc import Callable
from typing import Any

from tests.access.statuses import ANY_ID, API_POST_ONLY, API_RUN_READERS, API_SIGNED_IN, EVERYONE, NOT_A_PAGE

#: The lemma of the run in the world of rules.py.
LEMMA = "s0.1"
_OF_RUNS = ("run_get", "run_events", "run_lemmas", "run_graph", "run_stream", "note_list", "tag_list")
#: They share their addresses with lists.
_ON_RUNS = ("note_write", "tags_change")
_NOTE = ("note_change", "note_delete")
_TO_RUNS = ("run_fork", "run_command", "run_resume")
#: Of one experiment. The asked one does not exist, so all users get 404.
_OF_EXPERIMENTS = ("experiment_get", "experiment_cells", "experiment_scores", "experiment_table")

OF_THE_API: dict[str, Any] = {
    "api:api-root": NOT_A_PAGE,
    "api:openapi-json": EVERYONE,
    "api:problem_list": API_SIGNED_IN,
    "api:problem_get": API_SIGNED_IN,
    "api:scheme_list": API_RUN_READERS,
    "api:scheme_get": API_RUN_READERS,
    "api:run_list": API_RUN_READERS,
    "api:run_start": API_RUN_READERS,  # Its address lists runs for GET, and the one of experiments lists these.
    "api:lemma_search": API_RUN_READERS,
    "api:experiment_list": API_RUN_READERS,
    "api:experiment_start": API_RUN_READERS,
    **{f"api:{name}": API_RUN_READERS for name in (*_OF_RUNS, *_ON_RUNS)},
    # Without runs or a place in the address; tests/api has real ones.
    **{f"api:{name}": (401, 404, 422, 422) for name in ("run_compare", "run_difference")},
    **{f"api:{name}": (401, 422, 422, 422) for name in ("fork_offers", "fork_here")},
    **{f"api:{name}": (401, 404, 404, 404) for name in _OF_EXPERIMENTS},
    **{f"api:{name}": API_POST_ONLY for name in (*_TO_RUNS, *_NOTE, "lemma_verdict", "experiment_command")},
    **{f"api:{name}": API_POST_ONLY for name in ("pairs_decide", "pair_withdraw")},
}
ARGUMENTS_OF_THE_API: dict[str, Callable[[Any], dict[str, Any]]] = {
    "api:problem_get": lambda world: {"slug": world.problem.slug},
    "api:scheme_list": lambda world: {"slug": world.problem.slug},
    "api:scheme_get": lambda world: {"scheme_id": world.scheme.public_id},
    **{
        f"api:{name}": lambda world: {"run_id": world.run.public_id}
        for name in (*_OF_RUNS, *_ON_RUNS, *_TO_RUNS, "fork_offers", "fork_here")
    },
    **{f"api:{name}": lambda world: {"run_id": world.run.public_id, "note_id": 1} for name in _NOTE},
    "api:pair_withdraw": lambda world: {"pair_id": 1},
    "api:lemma_verdict": lambda world: {"run_id": world.run.public_id, "lemma": LEMMA},
    **{f"api:{name}": lambda world: {"experiment_id": ANY_ID} for name in (*_OF_EXPERIMENTS, "experiment_command")},
}
