"""The vLLM backend: one `AsyncLLM` in this process for all calls of its alias and of the adapters that share it.

What a call is drawn with is the matter of a `WeightExchange`: adapters, or whole weights that follow a training job.

When the engine core dies, the worker exits too, because the library cannot recover its state and its GPU memory. Calls end with
`EngineLost`, and the process exits with `EXIT_ENGINE_LOST`, so that a supervisor restarts it.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

from apps.reasoning.domain.errors import BackendError, EngineLost, RequestRejected
from apps.reasoning.domain.generation import Delta, Final, GenerationRequest, Health
from apps.reasoning.inference.abilities import reject_pictures
from apps.reasoning.inference.aliases import Alias, VllmOptions
from apps.reasoning.inference.meter import RateMeter
from workers import exits
from workers.engines.schemas import structured_output
from workers.engines.vllm_answer import Answer, Origin, SegmentRequest
from workers.engines.vllm_call import Call
from workers.engines.vllm_engine import RunningEngine
from workers.engines.vllm_reasoning import Splitter, reasoning_splitters
from workers.engines.vllm_tools import with_calls
from workers.engines.weights.adapters import AdapterShelf
from workers.engines.weights.exchange import Drawn, WeightExchange
from workers.engines.weights.sleep import Sleeper
from workers.engines.weights.whole import WholeWeights

log = logging.getLogger(__name__)

_EXIT_AFTER_S = 0.5


def _exit_worker() -> None:
    exits.end_process(exits.EXIT_ENGINE_LOST, "the engine core is gone")


class VllmBackend:
    """A `Backend` over vLLM. Use it from one event loop. `on_dead` is called when the engine core has died."""

    def __init__(self, alias: Alias, *, on_dead: Callable[[], None] = _exit_worker) -> None:
        if not isinstance(alias.options, VllmOptions):
            raise TypeError(f"{alias.name} is not an alias of the backend vllm")
        self._alias = alias
        self._options = alias.options
        self._on_dead = on_dead
        self._weights: WeightExchange = WholeWeights(alias) if alias.weights else AdapterShelf(alias)
        self._engine: RunningEngine | None = None
        self._starting: asyncio.Task[RunningEngine] | None = None
        self._watch: asyncio.Task[None] | None = None
        self._nap: asyncio.Task[None] | None = None
        self._calls: dict[int, Call] = {}
        self._sleeper = Sleeper(alias, self._weights, lambda: not self._calls)
        self._numbers = 0
        self._meter = RateMeter()
        self._problem = ""
        self._is_lost = False

    async def start(self) -> None:
        """Load the model now instead of at the first call. Raises `BackendRefused` or `BackendUnavailable`."""
        if self._engine is None:
            await self._begin_to_start()

    async def generate(self, request: GenerationRequest) -> AsyncIterator[Delta | Final]:
        """See `Backend.generate`."""
        reject_pictures(request)
        self._numbers += 1
        number = self._numbers
        call = self._calls[number] = Call(request, number)
        outputs: Any = None
        try:
            engine = await self._ready(call)
            answer = await self._begin_answer(engine, call)
            while not answer.is_whole:
                drawn = await self._ready_weights(engine, call)
                segment = answer.begin(self._origin(engine, drawn))
                if call.stopped.is_set():
                    answer.cancel()
                    break
                outputs = self._start_segment(engine, call, segment, drawn)
                while (output := await self._next(engine, outputs, call)) is not None:
                    delta = answer.take(output)
                    if delta.tokens or delta.text or delta.reasoning:
                        self._meter.add(delta.tokens)
                        yield delta
            yield answer.final()
        finally:
            self._calls.pop(number, None)
            if outputs is not None:
                await outputs.aclose()

    async def abort(self, call_id: str) -> None:
        for call in list(self._calls.values()):
            if call.request.call_id == call_id:
                call.stopped.set()
                if self._engine is not None and call.engine_id:
                    await self._engine.llm.abort(call.engine_id)

    async def health(self) -> Health:
        engine, waiting = self._engine, len(self._calls)
        if self._is_lost or (engine is not None and engine.is_dead):
            return Health(state="down", detail=f"The engine of {self._alias.name} died; the worker is restarting.")
        if engine is not None:
            unfinished = engine.llm.get_num_unfinished_requests()
            queued = min(engine.stats.waiting, unfinished)
            return Health(
                state="ready",
                detail=self._described(),
                running=unfinished - queued,
                waiting=queued,
                tokens_per_s=self._meter.rate,
                cached_share=engine.stats.cached_share,
                cache_used=engine.stats.cache_used if unfinished else 0.0,
            )
        if self._problem:
            return Health(state="down", detail=self._problem)
        if self._starting is None and self._options.load_at_start:
            self._begin_to_start()
        if self._starting is not None:
            return Health(state="loading", detail="The model is being loaded.", waiting=waiting)
        return Health(state="unloaded", detail="Loaded by the first call.")

    async def close(self) -> None:
        """End the engine; calls in it end with `EngineLost`."""
        for task in (self._watch, self._nap, self._starting):
            if task is not None:
                task.cancel()
                await asyncio.wait([task])
        engine, self._engine = self._engine, None
        if engine is not None:
            await engine.stop()

    # --- the engine --------------------------------------------------------------------------------------------------

    async def _ready(self, call: Call) -> RunningEngine:
        """The loaded engine. Waits no longer than the call's deadline."""
        if self._is_lost:
            # This process is exiting. An answer at once would let it use up the attempts of every call in the queue.
            await asyncio.sleep(min(call.left_s, 4 * _EXIT_AFTER_S))
            raise EngineLost("The engine died; the worker is restarting.")
        if self._engine is not None:
            return self._engine
        starting = self._begin_to_start()
        stopped = asyncio.ensure_future(call.stopped.wait())
        done, _ = await asyncio.wait({starting, stopped}, timeout=call.left_s, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if starting in done:
            return starting.result()
        if call.stopped.is_set():
            raise EngineLost("The call was stopped before the model was loaded.")
        raise call.deadline_error()

    def _begin_to_start(self) -> "asyncio.Task[RunningEngine]":
        if self._starting is None:
            self._starting = asyncio.create_task(self._start(), name=f"start {self._alias.name}")
            self._starting.add_done_callback(lambda task: task.cancelled() or task.exception())
        return self._starting

    async def _start(self) -> RunningEngine:
        engine = RunningEngine(self._alias, asyncio.get_running_loop())
        began = time.monotonic()
        try:
            await engine.start()
        except BackendError as error:
            self._problem = str(error)
            raise
        finally:
            self._starting = None
        log.info("%s is loaded after %.0f s", self._alias.name, time.monotonic() - began)
        self._problem = ""
        engine.start_reader()
        self._engine = engine
        self._watch = asyncio.create_task(self._watch_engine(engine), name=f"watch {self._alias.name}")
        self._nap = asyncio.create_task(self._sleeper.watch(engine), name=f"sleep of {self._alias.name}")
        return engine

    async def _watch_engine(self, engine: RunningEngine) -> None:
        await engine.died()
        self._is_lost = True
        await asyncio.sleep(_EXIT_AFTER_S)  # Meanwhile the calls in the engine report their loss.
        self._on_dead()

    # --- one call ----------------------------------------------------------------------------------------------------

    async def _begin_answer(self, engine: RunningEngine, call: Call) -> Answer:
        """An answer without tokens yet. Raises `RequestRejected` for a prompt that fills the context."""
        request = call.request
        prompt_ids = await self._prompt_ids(engine, request)
        room = self._alias.context_tokens - len(prompt_ids)
        if room <= 0:
            raise RequestRejected(
                f"The prompt has {len(prompt_ids)} tokens; the context of {self._alias.name} holds "
                f"{self._alias.context_tokens}. Shorten it, or choose a model with a longer context."
            )
        most = min(request.sampling.max_new_tokens, room)
        return Answer(request, prompt_ids, self._splitters(engine, request, prompt_ids), call.began, most)

    async def _ready_weights(self, engine: RunningEngine, call: Call) -> Drawn:
        """The weights for a segment of an answer. Raises `RequestRejected`."""
        try:
            async with asyncio.timeout(call.left_s):
                await self._sleeper.awake(engine)
                return await self._weights.ready(engine, call.request)
        except TimeoutError:
            raise call.deadline_error() from None

    def _start_segment(self, engine: RunningEngine, call: Call, segment: SegmentRequest, drawn: Drawn) -> Any:
        """The stream of the engine's outputs for a segment of an answer. Raises `RequestRejected`."""
        from vllm.inputs import tokens_input

        call.engine_id = f"{call.request.call_id}~{call.number}.{segment.number}"
        prompt, params, priority = tokens_input(segment.prompt_ids), self._params(call.request, segment), call.request.priority
        return engine.llm.generate(prompt, params, call.engine_id, lora_request=drawn.lora, priority=priority)

    async def _next(self, engine: RunningEngine, outputs: Any, call: Call) -> Any:
        """The next output of the engine, None after the last. Raises `BackendError`."""
        from vllm.exceptions import VLLMClientError
        from vllm.v1.engine.exceptions import EngineDeadError, EngineGenerateError

        try:
            async with asyncio.timeout(call.left_s):
                output = await anext(outputs, None)
        except TimeoutError:
            raise call.deadline_error() from None
        except EngineDeadError:
            self._is_lost = True
            raise engine.lost() from None
        except (VLLMClientError, ValueError, TypeError) as error:
            raise RequestRejected(f"The engine rejected the request: {error}") from error
        except EngineGenerateError as error:
            raise EngineLost(f"The engine failed on this call: {error.__cause__ or error}") from error
        if output is not None and call.stopped.is_set() and not output.finished:
            await engine.llm.abort(call.engine_id)  # The abort came before the engine had the call.
        return output

    def _params(self, request: GenerationRequest, segment: SegmentRequest) -> Any:
        from vllm import SamplingParams
        from vllm.exceptions import VLLMClientError
        from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams

        sampling = request.sampling
        form = structured_output(request)
        try:
            return SamplingParams(
                n=request.n,
                temperature=sampling.temperature,
                top_p=sampling.top_p if sampling.temperature > 0 else 1.0,
                max_tokens=segment.room,
                stop=[text for text in sampling.stop if text],
                seed=(request.seed + segment.number) % 2**31,  # With one seed, all segments would use the same numbers.
                logprobs=0 if request.capture else None,
                structured_outputs=StructuredOutputsParams(**form) if form else None,
                skip_special_tokens=not (request.tools or self._marks_reasoning),
                output_kind=RequestOutputKind.DELTA,
            )
        except (VLLMClientError, ValueError) as error:
            raise RequestRejected(f"The engine rejected the request: {error}") from error

    @property
    def _marks_reasoning(self) -> bool:
        """Whether special tokens are part of the text: in some families they mark reasoning, or begin a call."""
        return bool(self._options.reasoning_parser) or self._alias.reasoning_tags is not None

    async def _prompt_ids(self, engine: RunningEngine, request: GenerationRequest) -> list[int]:
        if request.prompt_ids:
            return list(request.prompt_ids)
        return await asyncio.to_thread(engine.prompt.tokens, request.messages, request.tools)

    def _splitters(self, engine: RunningEngine, request: GenerationRequest, prompt_ids: list[int]) -> list[Splitter]:
        found = reasoning_splitters(self._alias, engine, prompt_ids, request.n)
        return with_calls(found, engine.llm.get_tokenizer(), self._options.tool_parser, request) if request.tools else found

    # --- descriptions ------------------------------------------------------------------------------------------------

    def _origin(self, engine: RunningEngine, drawn: Drawn) -> Origin:
        return Origin(
            policy=drawn.policy,
            logprobs_of=self._options.logprobs_of,
            tokenizer=engine.prompt.tokenizer_hash,
            chat_template=engine.prompt.template_hash,
        )

    def _described(self) -> str:
        gpus = self._options.tensor_parallel * self._options.pipeline_parallel
        where = f" on {gpus} GPUs" if gpus > 1 else ""
        found = f"vLLM{where}, up to {self._alias.concurrency} calls in one batch."
        asleep = "It sleeps and wakes up at the next call." if self._sleeper.is_asleep else ""
        return " ".join(part for part in (found, asleep, self._weights.trouble) if part)
