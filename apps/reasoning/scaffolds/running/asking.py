"""One call of a role: fit its prompt into the model's context, and return the answer or the reason why there is none."""

from collections.abc import Sequence
from typing import Any

from apps.reasoning.domain.errors import CallFailed
from apps.reasoning.domain.generation import Ending, Final, OfferedTool, Place, Sampling
from apps.reasoning.domain.prompt_events import PromptFitted, PromptRefused
from apps.reasoning.domain.values import Unscored
from apps.reasoning.ports import Ask, Context
from apps.reasoning.prompts.fitting import fits, likely_tokens, prompt_tokens
from apps.reasoning.prompts.loader import RenderedPrompt

#: Fewest tokens left for an answer if a prompt that cannot be shortened fills most of the context.
LEAST_ANSWER = 256


async def asked(
    ctx: Context,
    key: str,
    *,
    role: str,
    prompt: RenderedPrompt,
    place: Place,
    schema: dict[str, Any] | None = None,
    tokens: int | None = None,
    tools: Sequence[OfferedTool] = (),
    stops: tuple[str, ...] = (),
    ending: Ending | None = None,
) -> Final | Unscored:
    """Make one call; `Unscored` if it failed finally (the failure is recorded) or its prompt is too long.

    `tokens` limits the answer, `stops` end it. Omissions that fit the prompt into the context are recorded as an event.
    """
    if prompt.fit is not None:
        event = PromptFitted(call=key, role=role, left_out=prompt.fit.left_out, shortened=prompt.fit.shortened)
        ctx.emit(f"{key}/fitted", event)
    sampling = _sampling(ctx, role, prompt, tokens)
    if isinstance(sampling, Unscored):
        ctx.emit(f"{key}/refused", PromptRefused(call=key, role=role, reason=sampling.reason))
        return sampling
    if stops:
        sampling = sampling.model_copy(update={"stop": (*sampling.stop, *stops)})
    held = ending if schema is None and not tools and ctx.ends_by_grammar(role) else None
    try:
        return await ctx.generate(key, Ask(role, prompt.messages, place, sampling, schema, prompt.parts, tools, held))
    except CallFailed as failure:
        return Unscored(reason=f"the call failed: {failure.reason}")


def room_for(ctx: Context, role: str, tokens: int | None = None) -> int | None:
    """Largest prompt of `role`, in tokens, that leaves room for an answer of at most `tokens`; None for no limit."""
    context = ctx.context_tokens(role)
    if context is None:
        return None
    most = ctx.sampling(role).max_new_tokens
    return context - (most if tokens is None else min(tokens, most))


def _sampling(ctx: Context, role: str, prompt: RenderedPrompt, tokens: int | None) -> Sampling | Unscored:
    """The role's sampling after this prompt, with a shorter answer if the prompt needs the room; `Unscored` if none is left."""
    own, room = ctx.sampling(role), room_for(ctx, role, tokens)
    most = own.max_new_tokens if tokens is None else min(tokens, own.max_new_tokens)
    if room is not None and not fits(prompt, room):
        bound, context = prompt_tokens(prompt), room + most
        needed = likely_tokens(bound)
        # A closing needs a third of its tokens; the rest is for engines that write words around it.
        least = min(LEAST_ANSWER, most if tokens is None else tokens // 3)
        if context - needed < least:
            return Unscored(
                reason=f"the prompt needs about {needed:,} tokens, its model can hold {context:,}, and it may not be shortened "
                "further. Choose a model with a longer context for this role, or a smaller preset"
            )
        # The bound is pessimistic, so the prompt probably fits; otherwise the engine rejects it and the call fails.
        most = max(context - bound, least)
    return own if most == own.max_new_tokens else own.model_copy(update={"max_new_tokens": most})
