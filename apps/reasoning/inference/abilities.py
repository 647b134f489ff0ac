"""What a request may ask for beyond a text, and the sentence where a backend cannot do it."""

from apps.reasoning.domain.errors import RequestRejected
from apps.reasoning.domain.generation import GenerationRequest

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
        raise RequestRejected(f"The backend {backend} draws one completion a call, not {request.n}; ask so many times.")
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
