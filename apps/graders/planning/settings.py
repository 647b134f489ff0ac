"""Settings of a grader: its parameters, temperature, token limit, model revisions and prompts.

Gradings with different settings count as different graders on cards and in agreement. Seeds are no setting.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pydantic_core import to_jsonable_python

from apps.graders.planning.shown import shown_before, shown_of
from apps.reasoning.graders.registry import GRADERS

#: Parameters with the material of a grading; all others are settings of the grader.
MATERIAL = ("script", "references", "guidelines", "scheme")
_NO_SETTINGS = frozenset({*MATERIAL, "spans", "prepared", "view"})
SHOWN = "shown"
DIGEST_LENGTH = 12
Roles = Mapping[str, Mapping[str, Any]]


def digest_of(value: object) -> str:
    """The SHA-256 of a value as canonical JSON."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def settings_words(workflow: str, params: Mapping[str, Any], roles: Roles) -> str:
    """Non-default parameters, sampling settings and a digest of all, for display; `params`, `roles` as in a spec."""
    changed = _changed(workflow, params)
    sampled = [role.get("sampling", {}) for role in roles.values()]
    own_view = list(GRADERS[workflow].view.parts)
    words = [
        f"{name} {', '.join(value) if name == SHOWN else json.dumps(value)}"
        for name, value in changed.items()
        if (name, value) != (SHOWN, own_view)
    ]
    for name, title in (("temperature", "temperature"), ("max_new_tokens", "tokens at most")):
        values = sorted({sampling[name] for sampling in sampled if name in sampling})
        words += [f"{title} {' / '.join(f'{value:,}' for value in values)}"] if values else []
    return " · ".join([*words, f"settings {digest_of([changed, _sampling(roles)])[:DIGEST_LENGTH]}"])


def settings_key(workflow: str, params: Mapping[str, Any], roles: Roles, prompts: Mapping[str, str]) -> str:
    """A digest of the settings and the prompts together."""
    return digest_of([_changed(workflow, params), _sampling(roles), dict(prompts)])[:DIGEST_LENGTH]


def _changed(workflow: str, params: Mapping[str, Any]) -> dict[str, Any]:
    fields = GRADERS[workflow].params.model_fields
    given = {name: value for name, value in params.items() if name in fields and name not in _NO_SETTINGS}
    changed = {
        name: value
        for name, value in sorted(given.items())
        if value != to_jsonable_python(fields[name].get_default(call_default_factory=True))
    }
    # A view equal to the former fixed one keeps its former digest.
    view = shown_of(workflow, params).view
    return changed if view == shown_before(workflow, params) else changed | {SHOWN: list(view.parts)}


def _sampling(roles: Roles) -> dict[str, list[Any]]:
    return {name: [role.get("revision", ""), role.get("sampling", {})] for name, role in roles.items()}
