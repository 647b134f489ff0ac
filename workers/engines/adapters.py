"""The LoRA adapters that an engine of vLLM serves beside its own weights.

An adapter may be one folder, or the newest of the numbered folders that a training job leaves while it learns (`…/*`): each
call then gets the newest version there is, and the engine's own weights as long as there is none.
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

#: Versions of a job whose files are kept here: calls under way may need one that the job itself has removed.
KEPT = 16
_PREFIX, _HELD = "lemmascope-adapters-", ".held"


class AdapterShelf:
    """The adapters of one alias, by the name under which calls ask for them."""

    def __init__(self, alias: Alias) -> None:
        self._alias = alias.name
        self._adapters = {adapter.name: adapter for adapter in alias.adapters}
        self._numbers: dict[str, int] = {}
        self._loading: dict[str, asyncio.Task[Any]] = {}
        self._copies: dict[str, Path] = {}
        self._kept, held = _a_folder()
        weakref.finalize(self, _let_go, self._kept, held)

    def asked_by(self, request: GenerationRequest) -> Adapter | None:
        """The adapter a call wants, None for the weights themselves. Raises `RequestRejected` for an unknown one."""
        if request.alias == self._alias:
            return None
        adapter = self._adapters.get(request.alias)
        if adapter is None:
            raise RequestRejected(f"The engine of {self._alias} has no adapter {request.alias}; was models.toml changed since?")
        job = followed_folder(adapter.path)
        return adapter if job is None else _newest(adapter, job)

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

        # Numbers are never used twice: the engine knows an adapter by its number, and what it holds under one stays.
        number = self._numbers.setdefault(adapter.name, len(self._numbers) + 1)
        lora = LoRARequest(adapter.name, number, await asyncio.to_thread(self._folder, adapter))
        try:
            await llm.add_lora(lora)
        except Exception as error:  # What the engine's process raised comes as a plain exception with its words.
            raise RequestRejected(f"The engine cannot load the adapter {adapter.name}: {error}") from error
        return lora

    def _folder(self, adapter: Adapter) -> str:
        """Where the engine reads an adapter; of a version of a job a copy of ours, since the job keeps the latest two."""
        path = Path(adapter.path).expanduser()
        if not (path / "adapter_config.json").is_file():
            raise RequestRejected(
                f"There is no LoRA adapter in {path}. Correct `adapter` of {adapter.name} in models.toml; "
                "of a training job only adapters can be followed, not whole weights."
            )
        if adapter.name in self._adapters:
            return str(path)
        if adapter.name not in self._copies:
            copy = self._kept / str(self._numbers[adapter.name])
            try:
                shutil.copytree(path, copy, dirs_exist_ok=True)
            except (OSError, shutil.Error) as error:
                raise RequestRejected(f"The adapter {adapter.name} went away while it was read: {error}") from error
            self._copies[adapter.name] = copy
            for old in list(self._copies)[:-KEPT]:
                shutil.rmtree(self._copies.pop(old), ignore_errors=True)
                self._loading.pop(old, None)
        return str(self._copies[adapter.name])


def _a_folder() -> tuple[Path, int]:
    """A folder of our own with its lock. Those of workers that were killed go: nobody holds their locks."""
    for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):  # It has none yet, somebody holds it, or another sweeps as well.
            held = os.open(left / _HELD, os.O_RDWR)
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(left, ignore_errors=True)
            finally:
                os.close(held)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    held = os.open(folder / _HELD, os.O_CREAT | os.O_RDWR)
    fcntl.flock(held, fcntl.LOCK_EX)
    return folder, held


def _let_go(folder: Path, held: int) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    os.close(held)


def _newest(adapter: Adapter, job: Path) -> Adapter | None:
    """The newest version in a job's folder, with the job in its name: another job begins to count anew."""
    folder = job.resolve()
    version = max((int(path.name) for path in folder.glob("[0-9]*") if path.name.isdecimal()), default=None)
    if version is None:
        return None
    try:
        made = (folder / str(version)).stat().st_mtime_ns  # A job that was killed and resumed gives a number out twice.
    except FileNotFoundError:
        return _newest(adapter, job)
    name = f"{adapter.name}@{folder.parent.name}/{version}.{made}"
    return Adapter(name=name, path=str(folder / str(version)), revision=f"policy/{version}")
