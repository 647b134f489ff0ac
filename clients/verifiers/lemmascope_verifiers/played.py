"""What a scaffold's run leaves on a trace: its result in `trace.info["lemmascope"]`, and a mark of the role at every step."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import verifiers.v1 as vf

from apps.reasoning.domain.event_base import Event
from apps.reasoning.domain.events import CallBegan
from apps.reasoning.inference.options import call_name
from apps.reasoning.library import SolveResult
from apps.reasoning.story.run_story import fold

#: The part of `trace.info` that is ours.
OURS = "lemmascope"


def result_of(result: SolveResult, events: Sequence[Event]) -> dict[str, Any]:
    """The result of a run as JSON. `verdicts` are passes and valid verdicts on the selected proof, and their share."""
    return {
        "accepted": result.accepted,
        "ended_by": result.outcome.ended_by,
        "reason": result.outcome.reason,
        "proof": result.proof,
        "verdicts": _verdicts(result.outcome.proof, events),
        "calls": result.calls,
        "seed": result.seed,
        "unread": [one.model_dump(include={"call", "role", "reason"}) for one in result.unread],
        "failed": [one.model_dump() for one in result.failed],
    }


def _verdicts(proof: str, events: Sequence[Event]) -> dict[str, Any]:
    """As datasets count them: votes of the proof, else scores or verdicts of the candidate that became it."""
    story = fold(enumerate(events))
    version = story.lemmas.proofs.get(proof)
    if version is None or version.confidence is not None or version.valid:
        found = version and (version.passes, version.valid, version.confidence)
    else:
        own = [
            one
            for one in story.candidates.by_id.values()
            if one.call == version.drafted.call and one.steps == version.drafted.steps
        ]
        found = (own[0].passes, own[0].valid, own[0].confidence) if own else None
    passes, valid, share = found or (0, 0, None)
    return {"passes": passes, "valid": valid, "share": share}


def roles_of(events: Sequence[Event]) -> dict[str, str]:
    """The role of each call that began, by its key."""
    return {event.call: event.role for event in events if isinstance(event, CallBegan)}


def mark_steps(trace: vf.Trace, roles: Mapping[str, str], trained: Collection[str]) -> None:
    """Write `trace.info["lemmascope"]["steps"]`, and mask the tokens of roles that are not `trained`.

    A masked step keeps its tokens; none of them counts as sampled, so that it has no loss.
    """
    known = {call_name(role, key): (key, role) for key, role in roles.items()}
    ours = trace.info.setdefault(OURS, {})
    unread = {one["call"]: one["reason"] for one in ours.get("unread", ())}
    steps: list[dict[str, Any]] = []
    for call in trace.calls:
        if call.node is None or call.acp is None or call.acp.request_id not in known:
            continue
        key, role = known[call.acp.request_id]
        steps.append({"node": call.node, "call": key, "role": role, "trained": role in trained})
        if reason := unread.get(key):
            steps[-1]["unread"] = reason
        if role not in trained:
            _mask(trace.nodes[call.node])
    ours["steps"] = steps


def _mask(node: vf.MessageNode) -> None:
    node.mask, node.logprobs, node.sampling_mask = [False] * len(node.mask), [], None
