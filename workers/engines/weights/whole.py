"""An engine of vLLM that follows the whole weights of a training job: the newest numbered folder of `weights = "…/*"`.

Calls under way are held while the weights are exchanged. They continue under the new ones, and vLLM reads their tokens so far
again, so that no keys and values of old weights are used. vLLM reports which version drew each token.
"""

import asyncio
import logging
from pathlib import Path
from typing import Any

from apps.reasoning.domain.errors import EngineLost, RequestRejected
from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.inference.followed import followed_folder
from workers.engines.weights.exchange import Drawn, ExchangingEngine
from workers.engines.weights.files import WrongWeightsError, check_weights, own_folder
from workers.engines.weights.versions import Version, newest_version

log = logging.getLogger(__name__)

#: The longest time that an exchange may take. Calls have deadlines of their own.
LONGEST_S = 1800.0


class WholeWeights:
    """The weights of one alias; None is the alias' own model, before the first version of a job."""

    def __init__(self, alias: Alias) -> None:
        folder = followed_folder(alias.weights)
        assert folder is not None
        self._alias = alias
        self._folder: Path = folder
        self._loaded: Version | None = None
        self._refused = ""
        self._task: asyncio.Task[None] | None = None
        self._trouble = ""

    @property
    def trouble(self) -> str:
        """See `WeightExchange.trouble`."""
        return self._trouble

    async def ready(self, engine: ExchangingEngine, request: GenerationRequest) -> Drawn:
        """See `WeightExchange.ready`. An exchange continues for the other callers when one gives up."""
        if request.alias != self._alias.name:
            raise RequestRejected(f"The engine of {self._alias.name} follows whole weights and has no adapter {request.alias}.")
        while (wanted := await asyncio.to_thread(newest_version, self._folder)) != self._loaded:
            if wanted is not None and wanted.key == self._refused:
                break
            if self._task is None or self._task.done():
                self._task = asyncio.create_task(self._exchange(engine, wanted), name=f"exchange weights of {self._alias.name}")
                self._task.add_done_callback(lambda task: task.cancelled() or task.exception())
            await asyncio.shield(self._task)
        return Drawn(self._policy(self._loaded))

    async def restore(self, engine: ExchangingEngine) -> None:
        """See `WeightExchange.restore`."""
        await engine.llm.collective_rpc("load_weights_again")

    def _policy(self, version: Version | None) -> str:
        own = self._alias.revision or self._alias.model
        return own if version is None else f"{version.revision} of {own}"

    async def _exchange(self, engine: ExchangingEngine, wanted: Version | None) -> None:
        """Exchange the weights, or refuse the version and continue. Raises `EngineLost` if the engine has none of both."""
        if wanted is not None:
            try:
                await asyncio.to_thread(self._check, wanted)
            except WrongWeightsError as wrong:
                if wanted.path.is_dir():  # Else the job has removed it meanwhile, and there is a newer one.
                    self._refuse(wanted, str(wrong))
                return
        with engine.holding():
            try:
                async with asyncio.timeout(LONGEST_S):
                    await self._exchanged(engine.llm, wanted)
            except Exception as error:
                reason = f"The weights of {self._alias.name} could not be exchanged: {error or 'it took too long'}"
                engine.give_up(reason)
                raise EngineLost(f"{reason}. The engine restarts.") from error

    def _check(self, wanted: Version) -> None:
        check_weights(wanted.path, own_folder(self._alias.model))

    async def _exchanged(self, llm: Any, wanted: Version | None) -> None:
        from vllm.distributed.weight_transfer.base import WeightTransferUpdateRequest

        await llm.pause_generation(mode="keep", clear_cache=True)
        try:
            await llm.start_weight_update()
            await llm.update_weights(WeightTransferUpdateRequest({"folder": str(wanted.path) if wanted is not None else ""}))
            await llm.finish_weight_update(weight_version=self._policy(wanted))
            log.info("%s has the weights %s", self._alias.name, self._policy(wanted))
            self._loaded, self._trouble = wanted, ""
        except Exception as error:
            if wanted is None:
                raise
            await llm.collective_rpc("return_to_last_weights")
            self._refuse(wanted, f"vLLM says: {' '.join(str(error).split())[:300]}")
        finally:
            await llm.resume_generation()

    def _refuse(self, version: Version, reason: str) -> None:
        self._refused = version.key
        self._trouble = (
            f"The weights in {version.path} cannot be used: {reason}. The engine keeps {self._policy(self._loaded)}."
        )
        log.error("%s", self._trouble)
