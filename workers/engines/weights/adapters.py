"""The LoRA adapters that an engine of vLLM serves in addition to its own weights.

An adapter is one folder, or the newest of the numbered folders that a training job writes (`…/*`). In the second case each call
gets the newest version, and the engine's own weights while there is none.
"""

import asyncio
import fcntl
import os
import shutil
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Any

from apps.reasoning.domain.errors import RequestRejected
from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.inference.aliases import Adapter, Alias
from apps.reasoning.inference.followed import followed_folder
from workers.engines.weights.exchange import Drawn, ExchangingEngine, settled
from workers.engines.weights.versions import newest_version

#: Versions of a job whose files are kept here: running calls may need one that the job has already removed.
KEPT = 16
_PREFIX, _LOCK = "lemmascope-adapters-", ".held"


class AdapterShelf:
    """The adapters of one alias, by the name that calls use."""

    def __init__(self, alias: Alias) -> None:
        self._alias = alias.name
        self._model = alias
        self._adapters = {adapter.name: adapter for adapter in alias.adapters}
        self._numbers: dict[str, int] = {}
        self._loading: dict[str, asyncio.Task[Any]] = {}
        self._copies: dict[str, Path] = {}
        self._kept, lock = _new_folder()
        weakref.finalize(self, _release, self._kept, lock)

    @property
    def trouble(self) -> str:
        """Always empty: a call whose adapter cannot be loaded is rejected."""
        return ""

    async def ready(self, engine: ExchangingEngine, request: GenerationRequest) -> Drawn:
        """See `WeightExchange.ready`."""
        adapter, own = self.requested(request), self._model.revision or self._model.model
        if adapter is None:
            return Drawn(own)
        return Drawn(f"{own} + {adapter.revision or adapter.name}", await self.load(engine.llm, adapter))

    async def restore(self, engine: ExchangingEngine) -> None:
        """See `WeightExchange.restore`; the alias has no adapters then (options.sleep_level)."""
        await engine.llm.collective_rpc("reload_weights")

    def requested(self, request: GenerationRequest) -> Adapter | None:
        """The adapter that a call names, None for the engine's own weights. Raises `RequestRejected` for an unknown one."""
        if request.alias == self._alias:
            return None
        adapter = self._adapters.get(request.alias)
        if adapter is None:
            raise RequestRejected(f"The engine of {self._alias} has no adapter {request.alias}; was models.toml changed since?")
        job = followed_folder(adapter.path)
        return adapter if job is None else _newest(adapter, job)

    async def load(self, llm: Any, adapter: Adapter) -> Any:
        """Load an adapter before a call uses it, because an error inside a step ends the engine. Returns a `LoRARequest`.

        Loading continues for the other callers when one gives up, and is retried after a failure. Raises `RequestRejected`.
        """
        task = self._loading.get(adapter.name)
        if task is None or settled(task):
            task = self._loading[adapter.name] = asyncio.create_task(self._load(llm, adapter))
            task.add_done_callback(lambda task: task.cancelled() or task.exception())
        return await asyncio.shield(task)

    async def _load(self, llm: Any, adapter: Adapter) -> Any:
        from vllm.lora.request import LoRARequest

        # Numbers are never reused: the engine caches an adapter by its number.
        number = self._numbers.setdefault(adapter.name, len(self._numbers) + 1)
        lora = LoRARequest(adapter.name, number, await asyncio.to_thread(self._folder, adapter))
        try:
            await llm.add_lora(lora)
        except Exception as error:  # An error of the engine's process arrives as a plain exception with its message.
            raise RequestRejected(f"The engine cannot load the adapter {adapter.name}: {error}") from error
        return lora

    def _folder(self, adapter: Adapter) -> str:
        """The folder that the engine reads; for a job's version our copy, since the job keeps only its latest two."""
        path = Path(adapter.path).expanduser()
        if not (path / "adapter_config.json").is_file():
            raise RequestRejected(
                f"There is no LoRA adapter in {path}. Correct `adapter` of {adapter.name} in models.toml. "
                "An alias can follow a training job's adapters, not its full weights."
            )
        if adapter.name in self._adapters:
            return str(path)
        if adapter.name not in self._copies:
            copy = self._kept / str(self._numbers[adapter.name])
            try:
                shutil.copytree(path, copy, dirs_exist_ok=True)
            except (OSError, shutil.Error) as error:
                raise RequestRejected(f"The adapter {adapter.name} was removed while it was read: {error}") from error
            self._copies[adapter.name] = copy
            for old in list(self._copies)[:-KEPT]:
                shutil.rmtree(self._copies.pop(old), ignore_errors=True)
                self._loading.pop(old, None)
        return str(self._copies[adapter.name])


def _new_folder() -> tuple[Path, int]:
    """A new locked folder. Removes the folders of killed workers, whose locks are free."""
    for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):  # No lock yet, locked by another worker, or removed by another sweep.
            lock = os.open(left / _LOCK, os.O_RDWR)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(left, ignore_errors=True)
            finally:
                os.close(lock)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    lock = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return folder, lock


def _release(folder: Path, lock: int) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    os.close(lock)


def _newest(adapter: Adapter, job: Path) -> Adapter | None:
    """The newest version in a job's folder, named after the job, because another job counts from the start."""
    version = newest_version(job)
    if version is None:
        return None
    return Adapter(name=f"{adapter.name}@{version.key}", path=str(version.path), revision=version.revision)
