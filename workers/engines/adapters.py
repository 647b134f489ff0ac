"""The LoRA adapters that an engine of vLLM serves beside its own weights."""

import asyncio
from pathlib import Path
from typing import Any

from apps.reasoning.domain.errors import RequestRejected
from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.inference.aliases import Adapter, Alias


class AdapterShelf:
    """The adapters of one alias, by the name under which calls ask for them."""

    def __init__(self, alias: Alias) -> None:
        self._alias = alias.name
        self._adapters = {adapter.name: adapter for adapter in alias.adapters}
        self._numbers = {name: number for number, name in enumerate(self._adapters, start=1)}
        self._loading: dict[str, asyncio.Task[Any]] = {}

    def asked_by(self, request: GenerationRequest) -> Adapter | None:
        """The adapter a call wants, None for the weights themselves. Raises `RequestRejected` for an unknown one."""
        if request.alias == self._alias:
            return None
        adapter = self._adapters.get(request.alias)
        if adapter is None:
            raise RequestRejected(f"The engine of {self._alias} has no adapter {request.alias}; was models.toml changed since?")
        return adapter

    async def loaded(self, llm: Any, adapter: Adapter) -> Any:
        """vLLM's `LoRARequest` of an adapter, loaded before a call uses it: what fails inside a step ends the engine.

        A caller that gives up leaves the loading to the others. One that failed is tried again. Raises `RequestRejected`.
        """
        task = self._loading.get(adapter.name)
        if task is None or (task.done() and (task.cancelled() or task.exception())):
            task = self._loading[adapter.name] = asyncio.create_task(self._load(llm, adapter))
            task.add_done_callback(lambda task: task.cancelled() or task.exception())
        return await asyncio.shield(task)

    async def _load(self, llm: Any, adapter: Adapter) -> Any:
        from vllm.lora.request import LoRARequest

        path = await asyncio.to_thread(_folder, adapter)
        lora = LoRARequest(adapter.name, self._numbers[adapter.name], path)
        try:
            await llm.add_lora(lora)
        except Exception as error:  # What the engine's process raised comes as a plain exception with its words.
            raise RequestRejected(f"The engine cannot load the adapter {adapter.name}: {error}") from error
        return lora


def _folder(adapter: Adapter) -> str:
    path = Path(adapter.path).expanduser()
    if not (path / "adapter_config.json").is_file():
        raise RequestRejected(f"There is no LoRA adapter in {path}. Correct `adapter` of {adapter.name} in models.toml.")
    return str(path)
