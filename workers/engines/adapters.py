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
        self._loaded: dict[str, Any] = {}
        self._loading = asyncio.Lock()

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

        Raises `RequestRejected`.
        """
        from vllm.lora.request import LoRARequest

        async with self._loading:
            if adapter.name not in self._loaded:
                path = await asyncio.to_thread(_folder, adapter)
                lora = LoRARequest(adapter.name, self._numbers[adapter.name], path)
                try:
                    await llm.add_lora(lora)
                except Exception as error:  # What the engine's process raised comes as a plain exception with its words.
                    raise RequestRejected(f"The engine cannot load the adapter {adapter.name}: {error}") from error
                self._loaded[adapter.name] = lora
            return self._loaded[adapter.name]


def _folder(adapter: Adapter) -> str:
    path = Path(adapter.path).expanduser()
    if not (path / "adapter_config.json").is_file():
        raise RequestRejected(f"There is no LoRA adapter in {path}. Correct `adapter` of {adapter.name} in models.toml.")
    return str(path)
