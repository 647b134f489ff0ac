"""What a request may ask for beyond a text, and the sentence where a backend cannot do it."""

from apps.reasoning.domain.errors import RequestRejected
from apps.reasoning.domain.generation import GenerationRequest


def reject_what_is_missing(request: GenerationRequest, backend: str, *, several: bool = False, tools: bool = False) -> None:
    """For backends without token ids; `several` where they can draw several completions of one call, `tools` where models of
    theirs can call functions.

    Raises `RequestRejected`.
    """
    if request.capture:
        raise RequestRejected(
            f"The backend {backend} cannot keep the tokens as drawn (capture); use an alias of the backend vllm."
        )
    if request.prompt_ids:
        raise RequestRejected(
            f"The backend {backend} takes messages, not the tokens of a prompt; use an alias of the backend vllm."
        )
    if request.n > 1 and not several:
        raise RequestRejected(f"The backend {backend} draws one completion a call, not {request.n}; ask so many times.")
    if request.tools and not tools:
        raise RequestRejected(f"The backend {backend} offers a model no functions; leave `tools` of {request.alias} out.")
