"""What a request may ask for beyond a text, and the sentence where a backend cannot do it."""

from typing import Any

from apps.reasoning.domain.errors import RequestRejected
from apps.reasoning.domain.generation import Ending, GenerationRequest

#: Backends that can keep the tokens of a call as drawn; the scripted one's are made up.
CAPTURING = frozenset({"vllm", "scripted"})


def reject_what_is_missing(
    request: GenerationRequest, backend: str, *, several: bool = False, tools: bool = False, vision: bool = False
) -> None:
    """For backends without token ids; `several` where they can draw several completions of one call, `tools` where models of
    theirs can call functions, `vision` where the alias' model looks at pictures.

    Raises `RequestRejected`.
    """
    if request.capture and backend not in CAPTURING:
        raise RequestRejected(
            f"The backend {backend} cannot keep the tokens as drawn (capture); use an alias of the backend vllm."
        )
    if request.segment_tokens and backend not in CAPTURING:
        raise RequestRejected(
            f"The backend {backend} cannot change the policy within an answer (segments); use an alias of the backend vllm."
        )
    if request.prompt_ids:
        raise RequestRejected(
            f"The backend {backend} takes messages, not the tokens of a prompt; use an alias of the backend vllm."
        )
    if request.n > 1 and not several:
        raise RequestRejected(f"The backend {backend} makes one completion per call, not {request.n}; make several calls.")
    if request.tools and not tools:
        raise RequestRejected(f"The backend {backend} offers a model no functions; leave `tools` of {request.alias} out.")
    if not vision:
        reject_pictures(request)


def reject_pictures(request: GenerationRequest) -> None:
    """For models that see nothing. Raises `RequestRejected`."""
    if request.pictures:
        raise RequestRejected(
            f"{request.alias} looks at no pictures; where its model can, say so with `vision = true` in models.toml "
            "(backend openai_http)."
        )


def structural_tag(ending: Ending) -> dict[str, Any]:
    """The ending as vLLM, SGLang and XGrammar read it: after the opening tag one of the values and its end, and that is all.

    A tag is not demanded: XGrammar would begin with it at once, or forbid the model to stop before it has written it.
    """
    tag = {
        "type": "tag",
        "begin": ending.opening,
        "content": {"type": "regex", "pattern": ending.pattern},
        "end": ending.end,
    }
    found = {"type": "triggered_tags", "triggers": [ending.opening], "tags": [tag]}
    return {"type": "structural_tag", "format": {**found, "at_least_one": False, "stop_after_first": True}}
