"""Starts vLLM's engine for an alias in a thread that lives as long as the engine, and explains a failed start.

The engine is used from one event loop. Loading takes minutes and must not block that loop, so the thread builds the engine. The
engine core is a separate process, tied to the thread (tied_children.py).
"""

import asyncio
import contextlib
import contextvars
import importlib.util
import json
import logging
import multiprocessing
import multiprocessing.util
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from apps.reasoning.domain.errors import BackendError, BackendRefused, EngineLost
from apps.reasoning.inference.aliases import Alias, VllmOptions
from workers.engines.chat_prompt import ChatPrompt
from workers.engines.model_files import model_path
from workers.engines.tied_children import tied_children
from workers.engines.vllm_environment import engine_environment
from workers.engines.vllm_errors import explained, lost
from workers.engines.vllm_lines import our_format
from workers.engines.vllm_stats import EngineStats
from workers.engines.weights.files import BACKEND, WORKERS
from workers.slots import spare_places
from workers.watchdog import loading

log = logging.getLogger(__name__)

_LOGGING = "VLLM_LOGGING_CONFIG_PATH"
_POLL_S = 0.25
NOT_INSTALLED = (
    "vLLM is not installed in this worker's environment. Start the worker for {name} in an environment with vLLM "
    "(docs/models.md), or use a model server with the backend openai_http."
)


class RunningEngine:
    """vLLM's `AsyncLLM` with its chat template and statistics. `stop` ends it and waits for the end."""

    def __init__(self, alias: Alias, loop: asyncio.AbstractEventLoop) -> None:
        assert isinstance(alias.options, VllmOptions)
        self._alias = alias
        self._options = alias.options
        self._loop = loop
        self._folder = Path()
        self._leave = threading.Event()
        self._thread = threading.Thread(target=self._live, name=f"vllm {alias.name}", daemon=True)
        self._ready: asyncio.Future[None] = loop.create_future()
        self._processes: list[BaseProcess] = []
        self._stall = ""
        self._is_held = False
        self.stats = EngineStats()
        self.llm: Any = None
        self.prompt: ChatPrompt

    async def start(self) -> None:
        """Load the model. Raises `BackendRefused` or `BackendUnavailable`."""
        if importlib.util.find_spec("vllm") is None:
            raise BackendRefused(NOT_INSTALLED.format(name=self._alias.name))
        if self._alias.model.startswith(("/", "~", ".")):
            model_path(self._alias.model)
        # A normal exit waits for the child processes, so they must be ended first.
        multiprocessing.util.Finalize(None, self._end, exitpriority=10)
        self._thread.start()
        try:
            await asyncio.shield(self._ready)
        except BaseException:
            self._leave.set()
            raise

    async def stop(self) -> None:
        """End the engine core and wait until it is gone."""
        await asyncio.to_thread(self._end)

    def _end(self) -> None:
        self._leave.set()
        self._thread.join(30.0)

    @property
    def is_dead(self) -> bool:
        return bool(self.llm is not None and self.llm.errored and not self._leave.is_set())

    def start_reader(self) -> None:
        """Start the task that reads for all calls outside of any call, whose run and step would be in all its log lines."""
        contextvars.Context().run(self.llm._run_output_handler)

    async def died(self) -> None:
        """Return when the engine core is dead. Kill it first if it has calls but makes no step."""
        self.stats.stepped_at = time.monotonic()  # Loading may have taken longer than a step may.
        while not self.is_dead:
            await asyncio.sleep(_POLL_S)  # The library sends no notification.
            if not self._stall and self.llm is not None and self._is_stalled():
                self.give_up(f"The engine of {self._alias.name} made no step for {self._options.stalled_after_s:g} s")

    def give_up(self, reason: str) -> None:
        """Kill the engine core; its calls are lost with this reason."""
        self._stall = reason
        log.critical("%s; killing the engine", reason)
        for process in self._processes:
            process.kill()

    @contextlib.contextmanager
    def holding(self) -> Iterator[None]:
        """While calls are held on purpose, an engine without steps is not stalled."""
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False
            self.stats.stepped_at = time.monotonic()

    def _is_stalled(self) -> bool:
        if self._is_held or not self.llm.get_num_unfinished_requests():
            self.stats.stepped_at = time.monotonic()
        return time.monotonic() - self.stats.stepped_at > self._options.stalled_after_s

    def lost(self) -> EngineLost:
        """Why the engine died, as far as its processes could log it."""
        if self._stall:
            return EngineLost(f"{self._stall} and was ended.")
        return lost(self._alias, self._error_log())

    # --- in the thread -----------------------------------------------------------------------------------------------

    def _live(self) -> None:
        # The engine's sockets belong to the host's loop, although this thread creates them.
        asyncio.set_event_loop(self._loop)
        with tempfile.TemporaryDirectory(prefix="vllm-") as folder:
            self._folder = Path(folder)
            error: BaseException | None = None
            try:
                with loading(self._alias.name):
                    self._build()
            except BackendError as refused:
                error = refused
            except BaseException as raised:
                error = self._explained(raised)
                log.exception("could not load %s", self._alias.name)
            finally:
                os.environ.pop(_LOGGING, None)
            self._loop.call_soon_threadsafe(_settle, self._ready, error)
            self._leave.wait()
            if self.llm is not None:
                self.llm.shutdown(timeout=5.0)
                self.llm = None
            self._close_error_log()

    def _build(self) -> None:
        # Before the import: vLLM reads its environment when it is imported.
        os.environ |= engine_environment(self._options, os.environ) | {_LOGGING: str(self._logging_config())}
        from vllm import AsyncEngineArgs
        from vllm.platforms import current_platform
        from vllm.v1.engine.async_llm import AsyncLLM

        args = AsyncEngineArgs(**engine_args(self._alias, on_cpu=current_platform.is_cpu()))
        before = set(multiprocessing.active_children())
        with tied_children(self._folder):
            self.llm = AsyncLLM.from_engine_args(args, stat_loggers=[lambda *_: self.stats])
        self._processes = [process for process in multiprocessing.active_children() if process not in before]
        template = Path(self._options.chat_template).expanduser().read_text("utf-8") if self._options.chat_template else ""
        self.prompt = ChatPrompt(self.llm.get_tokenizer(), template=template, variables=self._options.chat_template_kwargs)

    # --- errors ------------------------------------------------------------------------------------------------------

    def _logging_config(self) -> Path:
        """A logging configuration for vLLM: its usual lines, and its errors in a file, our only source of the core's errors."""
        console = {"class": "workers.engines.vllm_lines.Lines", "formatter": "line"}
        errors = {"class": "logging.FileHandler", "filename": str(self._folder / "errors.log"), "level": "ERROR", "delay": True}
        level = os.environ.get("VLLM_LOGGING_LEVEL", "INFO")
        config = {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {"line": our_format()},
            "handlers": {"console": console, "errors": errors},
            "loggers": {"vllm": {"handlers": ["console", "errors"], "level": level, "propagate": False}},
        }
        path = self._folder / "logging.json"
        path.write_text(json.dumps(config), encoding="utf-8")
        return path

    def _close_error_log(self) -> None:
        """Close the file before its folder is removed: a later line to it would fail."""
        logger = logging.getLogger("vllm")
        for handler in list(logger.handlers):
            if isinstance(handler, logging.FileHandler) and Path(handler.baseFilename).parent == self._folder:
                logger.removeHandler(handler)
                handler.close()

    def _explained(self, raised: BaseException) -> BackendError:
        return explained(self._alias, f"{type(raised).__name__}: {raised}", self._error_log())

    def _error_log(self) -> str:
        path = self._folder / "errors.log"
        return path.read_text("utf-8", "replace") if path.exists() else ""


def _settle(future: "asyncio.Future[None]", error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(None)
    else:
        future.set_exception(error)
        future.exception()  # Mark as retrieved: if no caller waits any more, no warning is needed.


def engine_args(alias: Alias, *, on_cpu: bool = False) -> dict[str, Any]:
    """The arguments of vLLM's `AsyncEngineArgs` for an alias of the backend vllm.

    On a CPU prompts are read whole: there vLLM 0.32 dies of a call with a seed whose prompt is read in pieces ("CPU Generator
    does not use offset").
    """
    options = alias.options
    assert isinstance(options, VllmOptions)
    args: dict[str, Any] = {
        "model": str(Path(alias.model).expanduser()) if alias.model.startswith("~") else alias.model,
        "max_model_len": alias.context_tokens,
        "max_num_seqs": alias.concurrency + spare_places(alias.concurrency),
        "tensor_parallel_size": options.tensor_parallel,
        "pipeline_parallel_size": options.pipeline_parallel,
        "gpu_memory_utilization": options.gpu_memory_utilization,
        "dtype": options.dtype,
        "kv_cache_dtype": options.kv_cache_dtype,
        "enforce_eager": options.enforce_eager,
        "enable_prefix_caching": options.prefix_caching,
        "scheduling_policy": "priority",
        "logprobs_mode": "raw_logprobs" if options.logprobs_of == "raw" else "processed_logprobs",
        "disable_log_stats": True,  # Concerns lines in the log only; our statistics are still collected.
    }
    if options.quantization:
        args["quantization"] = options.quantization
    if options.max_batched_tokens is not None:
        args["max_num_batched_tokens"] = options.max_batched_tokens
    if on_cpu:
        args["enable_chunked_prefill"] = False
        args["max_num_batched_tokens"] = max(alias.context_tokens, options.max_batched_tokens or 0)
    if options.reasoning_parser:
        args["reasoning_parser"] = options.reasoning_parser
    return args | _about_weights(alias, options, on_cpu=on_cpu) | options.engine_args


def _about_weights(alias: Alias, options: VllmOptions, *, on_cpu: bool) -> dict[str, Any]:
    """Arguments for adapters, exchanged weights and sleep. Raises `BackendRefused`."""
    found: dict[str, Any] = {}
    if alias.adapters:
        found |= {"enable_lora": True, "max_loras": options.max_loras, "max_lora_rank": options.max_lora_rank}
    if alias.weights:
        found |= {"worker_extension_cls": f"{WORKERS}.FollowsWeights", "weight_transfer_config": {"backend": BACKEND}}
    if options.sleep_after_s:
        if on_cpu:
            raise BackendRefused(
                f"The engine of {alias.name} cannot sleep: vLLM's CPU build ignores it. Leave options.sleep_after_s out."
            )
        found["enable_sleep_mode"] = True
    return found
