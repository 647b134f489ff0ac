"""Model calls outside of runs, over the queues of the running stack."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from apps.reasoning.inference.aliases import Alias
from apps.reasoning.ports import Dispatcher
from apps.runs.calls.dispatch import CeleryDispatcher

DispatcherFor = Callable[[str, Sequence[Alias]], AbstractAsyncContextManager[Dispatcher]]
#: Share of a model's context for its output, and the most tokens of an output; the rest holds the prompt.
WRITTEN_PART, WRITTEN_AT_MOST = 0.4, 8_192


@asynccontextmanager
async def over_broker(run: str, aliases: Sequence[Alias]) -> AsyncIterator[Dispatcher]:
    """A dispatcher for calls named `run`. It records nothing: the result of a lost call is simply requested again."""
    queues = {alias.name: alias.queue for alias in aliases}
    async with CeleryDispatcher(run, queues=queues, is_recorded=lambda _key: True) as dispatcher:
        yield dispatcher
