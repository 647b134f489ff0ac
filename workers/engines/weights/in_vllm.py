"""In vLLM's own processes: new weights for a loaded model, read from a folder of safetensors.

vLLM exchanges weights through a *weight transfer engine*. Its own ones receive tensors from the GPUs of a running trainer. This
one reads the folder that a training job writes, so that the trainer need not know of engines, and it runs on a CPU too. vLLM
imports this module in each of its workers, as the module of `worker_extension_cls`.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from vllm.config import set_current_vllm_config
from vllm.distributed.weight_transfer import WeightTransferEngineFactory
from vllm.distributed.weight_transfer.base import WeightTransferEngine, WeightTransferInitInfo, WeightTransferUpdateInfo
from vllm.model_executor.layers.quantization.base_config import QuantizeMethodBase
from vllm.model_executor.model_loader import get_model_loader
from vllm.model_executor.model_loader.reload import finalize_layerwise_reload, initialize_layerwise_reload
from vllm.model_executor.model_loader.reload.layerwise import get_layerwise_info

from workers.engines.weights.files import BACKEND, weight_files


class FollowsWeights:
    """Added by vLLM to its worker class. The import of this module registers the transfer engine."""

    vllm_config: Any
    weight_transfer_engine: Any
    _weight_update_active: bool

    def return_to_last_weights(self) -> None:
        """After a failed exchange: load what was loaded before it, on each worker, whether it failed there or not."""
        self._weight_update_active = False
        with set_current_vllm_config(self.vllm_config):
            self.weight_transfer_engine.return_to_last()

    def load_weights_again(self) -> None:
        """After a sleep that kept no weights."""
        with set_current_vllm_config(self.vllm_config):
            self.weight_transfer_engine.load_again()


@dataclass
class NoInit(WeightTransferInitInfo):
    """Nothing has to be agreed on before the first exchange."""


@dataclass
class FolderUpdate(WeightTransferUpdateInfo):
    """`folder`: what to load, empty for the weights of the model itself."""

    folder: str = ""


class Opened:
    """The weights of a folder, open: they stay readable if the folder is removed. Without a folder the model's own ones."""

    def __init__(self, folder: str) -> None:
        self._files = ExitStack()
        paths = weight_files(Path(folder)) if folder else []
        self._open = [self._files.enter_context(safe_open(path, framework="pt")) for path in paths]
        self.is_own = not folder

    def tensors(self) -> Iterator[tuple[str, torch.Tensor]]:
        for one in self._open:
            for name in one.keys():  # noqa: SIM118  (no mapping)
                yield name, one.get_tensor(name)

    def close(self) -> None:
        self._files.close()


class FolderTransfer(WeightTransferEngine[NoInit, FolderUpdate]):
    """Loads a folder at `update_weights`. A failed exchange leaves the model without whole weights until the next one."""

    init_info_cls = NoInit
    update_info_cls = FolderUpdate

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._now, self._before = Opened(""), Opened("")

    def init_transfer_engine(self, init_info: NoInit) -> None:
        """Nothing to prepare."""

    def start_weight_update(self) -> None:
        """Nothing to prepare: `receive_weights` is a whole exchange."""

    def finish_weight_update(self) -> None:
        """Nothing left to do."""

    def update_weights(self, update_info: dict[str, Any]) -> None:
        """As in vLLM, which also waits for the accelerator; a CPU has none."""
        self.receive_weights(self.parse_update_info(update_info))
        if torch.accelerator.is_available():
            torch.accelerator.synchronize()

    def receive_weights(self, update_info: FolderUpdate) -> None:
        """Load a folder. The files of the weights before it stay open until the next exchange."""
        if self._before is not self._now:
            self._before.close()
        self._before = self._now
        self._now = Opened(update_info.folder)
        self._load(self._now)

    def return_to_last(self) -> None:
        """Load the weights before the last exchange again."""
        failed, self._now = self._now, self._before
        self._load(self._now)
        if failed is not self._now:
            failed.close()

    def load_again(self) -> None:
        """Load what is loaded, even if its folder was removed meanwhile."""
        self._load(self._now)

    def shutdown(self) -> None:
        """Close the files."""
        self._now.close()
        self._before.close()

    def _load(self, opened: Opened) -> None:
        initialize_layerwise_reload(self.model)
        try:
            self.model.load_weights(self._own() if opened.is_own else opened.tensors())
        except BaseException:
            self._forget()
            raise
        finally:
            finalize_layerwise_reload(self.model, self.model_config)
        self._pack_tied()

    def _own(self) -> Any:
        return get_model_loader(self.vllm_config.load_config).get_all_weights(self.model_config, self.model)

    def _forget(self) -> None:
        """Forget weights that were read for layers not whole yet; the end of the exchange then puts back their old ones."""
        for layer in self.model.modules():
            info = get_layerwise_info(layer)
            if info.can_load():
                info.loaded_weights.clear()
                info.load_numel = 0

    def _pack_tied(self) -> None:
        """Prepare layers again that share a weight with a layer before them: vLLM prepares only the first.

        On a CPU an output layer tied to the embedding would otherwise multiply by its copy of the old weights.
        """
        seen: set[int] = set()
        for layer in self.model.modules():
            mine = {id(weight) for weight in layer.parameters(recurse=False)}
            method = getattr(layer, "quant_method", None)
            if mine & seen and isinstance(method, QuantizeMethodBase):
                method.process_weights_after_loading(layer)
            seen |= mine


WeightTransferEngineFactory.register_engine(BACKEND, FolderTransfer)
