"""A trainer among several processes: FSDP2's division of the weights, saving together, agreement.

The replaced methods of transformers' trainer are those that save, load and wrap a model.
"""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
from transformers.trainer import OPTIMIZER_NAME, SCHEDULER_NAME

from workers.training.processes.peers import Peers
from workers.training.processes.sharding import keep_where_it_is, load_optimizer, shard, whole_optimizer, whole_weights
from workers.training.rows.packing import may_pack
from workers.training.scoring import ScoringTrainer


class SharedTrainer(ScoringTrainer):
    """ScoringTrainer whose weights may be `divided` among the processes; in one process they never are."""

    peers: Peers | None = None
    may_pack_rows = False

    def __init__(self, model: Any, *, divided: bool, args: Any, **more: Any) -> None:
        self.is_sharded, self.is_divided = divided and args.world_size > 1, False
        if self.is_sharded:
            keep_where_it_is(model)  # Layers go to the device one by one, each already divided.
        super().__init__(model=model, args=args, **more)
        self.is_distributed_loading_by_transformers = self.is_sharded

    def choose_packing(self) -> None:
        """Pack rows where the model keeps them apart; a model that is still to be divided is tried afterwards."""
        if self.is_divided or not self.is_sharded:
            self.packs_rows = self.may_pack_rows and may_pack(self.accelerator.unwrap_model(self.model))

    def _prepare_for_training(self, *given: Any) -> Any:
        """Divide the weights, which by now are those of the checkpoint, before transformers makes the optimiser."""
        if self.is_sharded:
            shard(self.model, self.accelerator.device)
            if self.ref_model is not None:
                shard(self.ref_model, self.accelerator.device)
            self.is_divided = True
            self.choose_packing()
        return super()._prepare_for_training(*given)

    def _defer_fsdp_gradient_reduction(self) -> Any:
        """Reduce the gradients of each micro-batch, so that no process ever holds whole ones."""
        return nullcontext()

    def agreed(self, asked: bool) -> bool:
        """Whether any process asks for something. All processes must call it."""
        if self.accelerator.num_processes == 1:
            return asked
        found = self.accelerator.reduce(torch.tensor(int(asked), device=self.accelerator.device), reduction="sum")
        return bool(found.item())

    def whole_weights(self) -> dict[str, Any] | None:
        """Weights for `save_pretrained`, of shares of all processes, which must all call it; None where it needs no help."""
        if not self.is_sharded:
            return None
        return whole_weights(self.model, main=self.args.should_save, adapter=hasattr(self.model, "peft_config"))

    def save_model(self, output_dir: str | None = None, _internal_call: bool = False) -> None:
        """Save the weights, together with the other processes where they share them."""
        if self.is_sharded:
            self._save(output_dir, self.whole_weights())
        else:
            super().save_model(output_dir, _internal_call)

    def _save_optimizer_and_scheduler(self, output_dir: str) -> None:
        if not self.is_sharded:
            super()._save_optimizer_and_scheduler(output_dir)
            return
        state = whole_optimizer(self.optimizer, main=self.args.should_save)
        if self.args.should_save:
            torch.save(state, Path(output_dir) / OPTIMIZER_NAME)
            torch.save(self.lr_scheduler.state_dict(), Path(output_dir) / SCHEDULER_NAME)

    def _load_optimizer_and_scheduler(self, checkpoint: str | None) -> None:
        if not self.is_sharded or checkpoint is None:
            super()._load_optimizer_and_scheduler(checkpoint)
            return
        load_optimizer(self.optimizer, Path(checkpoint) / OPTIMIZER_NAME)
        self.lr_scheduler.load_state_dict(torch.load(Path(checkpoint) / SCHEDULER_NAME, weights_only=True))
