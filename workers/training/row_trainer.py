"""TRL's GRPOTrainer on given rows instead of its own rollouts.

`_generate_and_score_completions` is replaced, where TRL would generate and score; `scoring` replaces how a step is cut and
computed. Losses, clipping, KL, adapters and several devices are TRL's. Therefore its minor version is pinned, and
tests/training compares its losses with `tests/learning/numpy_losses.py`.
"""

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from accelerate.utils import broadcast_object_list
from datasets import Dataset
from trl import GRPOConfig
from trl.trainer.utils import use_adapter

from apps.recipes.mathematics.rows import Row
from workers.training.config import JobConfig
from workers.training.measuring.drift import MOST
from workers.training.measuring.measures import measures_of
from workers.training.policy import Policy
from workers.training.problems import BadConfig, BadRows, NoRows, NotANumber
from workers.training.processes.shared_trainer import SharedTrainer
from workers.training.rows.batches import Tensors, silence_mastered, silent_rows, tensors_of
from workers.training.rows.sources import EndOfRows, RowSource

#: TRL's names of our aggregations. Its "dr_grpo" divides by rows × longest completion; a longest of 1 gives "sum".
LOSS_TYPES = {"token": "dapo", "seq": "grpo", "fixed": "dr_grpo", "sum": "dr_grpo"}
Seen = Callable[[int, Sequence[Row], dict[str, float]], None]


def arguments(config: JobConfig, output: Path, *, bf16: bool, cpu: bool) -> Any:
    """TRL's configuration of a job. Its generation settings are unused, because rows are given."""
    longest = config.loss.longest if config.loss.aggregation == "fixed" else 1
    return GRPOConfig(
        output_dir=str(output),
        max_steps=config.steps,
        per_device_train_batch_size=2,
        num_generations=2,
        gradient_accumulation_steps=config.rows_per_step // config.micro,
        steps_per_generation=config.rows_per_step // config.micro,
        max_completion_length=longest,
        learning_rate=config.learning_rate,
        lr_scheduler_type="constant",
        weight_decay=config.weight_decay,
        max_grad_norm=config.gradient_clip,
        beta=config.loss.beta,
        use_bias_correction_kl=False,
        epsilon=config.loss.low,
        epsilon_high=config.loss.high,
        loss_type=LOSS_TYPES[config.loss.aggregation],
        delta=config.loss.ratio_cap,
        off_policy_mask_threshold=config.loss.mask_above,
        temperature=config.temperature,
        seed=config.seed,
        bf16=bf16,  # Arithmetic in autocast; trained weights are float32.
        use_cpu=cpu,
        gradient_checkpointing=not cpu,
        ignore_data_skip=True,
        remove_unused_columns=False,
        logging_steps=config.log_every,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        dataloader_pin_memory=False,
    )


def check_masters(model: Any) -> None:
    """Raise `BadConfig` where a trained weight is not float32: bfloat16 cannot represent most steps at 1e-6."""
    for name, weights in model.named_parameters():
        if weights.requires_grad and weights.dtype != torch.float32:
            kind = str(weights.dtype).removeprefix("torch.")
            raise BadConfig(
                f"The trained weight {name} is {kind}, which loses small steps. Load the model with float32 weights; “dtype” "
                "bfloat16 sets the arithmetic only."
            )


class RowTrainer(SharedTrainer):
    """Trains on the rows that `source` gives for each step; calls `seen(step, rows, measures)` before each step."""

    lr_scheduler: Any

    def __init__(
        self,
        model: Any,
        source: RowSource,
        config: JobConfig,
        args: Any,
        tokenizer: Any,
        *,
        seen: Seen | None = None,
        **more: Any,
    ) -> None:
        nothing = Dataset.from_dict({"prompt": [""] * 64})
        known: dict[str, Any] = {"reward_funcs": _none, "args": args, "train_dataset": nothing, "processing_class": tokenizer}
        super().__init__(model, divided=config.shard is not None, **known, **more)
        check_masters(self.model)
        self.most_tokens = config.micro_tokens
        self.may_pack_rows = config.packing
        self.choose_packing()
        self.source, self.job, self._seen = source, config, seen
        self.served_in: str | None = None
        self.rows_trained = self.tokens_trained = 0
        self.without_rows_s = 0.0
        self._filled = 1.0

    def create_scheduler(self, num_training_steps: int, optimizer: Any = None) -> Any:
        """Schedule: warm-up, then a cosine from the first to the last learning rate, which may be equal."""
        if self.lr_scheduler is None:
            self.lr_scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer or self.optimizer, self._share_of_rate)
        return self.lr_scheduler

    def _share_of_rate(self, step: int) -> float:
        first, last, warmup = self.job.learning_rate, self.job.last_learning_rate, self.job.warmup_steps
        if step < warmup:
            return (step + 1) / (warmup + 1)
        done = min(1.0, (step - warmup) / max(1, self.job.steps - warmup))
        floor = last / first if first else 1.0
        return float(floor + (1 - floor) * 0.5 * (1 + torch.cos(torch.tensor(torch.pi * done)).item()))

    def training_step(self, model: Any, inputs: Any, num_items_in_batch: Any = None) -> Any:
        """Run TRL's step. Raises `NotANumber` for a loss that is not finite, before the optimiser changes a weight."""
        loss = super().training_step(model, inputs, num_items_in_batch)
        if not bool(torch.isfinite(loss)):
            raise NotANumber(f"The loss of step {self.state.global_step + 1} is {loss.item()}; no weight was changed.")
        return loss

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        """Save trained weights in float32; `config.json` keeps the base's type, in which engines serve them."""
        if not self.args.should_save:
            return
        super()._save(output_dir, state_dict)
        path = Path(output_dir or self.args.output_dir) / "config.json"
        if self.served_in and path.exists():  # An adapter has no such file.
            known = json.loads(path.read_text(encoding="utf-8"))
            path.write_text(json.dumps(known | {"dtype": self.served_in}, indent=2) + "\n")

    def save_now(self) -> None:
        """Save a checkpoint at the end of a stream, unless one was just saved. Raises `NoRows` before the first step."""
        if not self.state.global_step:
            raise NoRows("The stream ended without any rows.")
        if self.state.global_step % self.job.save_every:
            self._save_checkpoint(self.model, trial=None)
            self.callback_handler.on_save(self.args, self.state, self.control)

    def create_model_card(self, *_: Any, **__: Any) -> None:
        """Skip TRL's model card; the manifest describes a checkpoint."""

    def policy(self, step: int) -> Policy:
        """Current model, for sampling."""
        model = self.accelerator.unwrap_model(self.model)
        seed = self.job.seed * 1_000_003 + step
        given: dict[str, Any] = {"temperature": self.job.temperature, "arithmetic": self.accelerator.autocast}
        return Policy(model, self.processing_class, version=step, seed=seed, **given)

    def _generate_and_score_completions(self, inputs: Any) -> Tensors:
        step = self.state.global_step
        began = time.monotonic()
        rows = self._rows_of(step)
        self.without_rows_s += time.monotonic() - began
        if self._seen is not None and (self.peers is None or self.peers.is_main):
            version = None if self.job.source["kind"] in ("rows", "texts") else step
            self._seen(step + 1, rows, measures_of(rows, version=version) | dict(self.source.measures()))
        world, rank = self.accelerator.num_processes, self.accelerator.process_index
        share = rows[rank::world] or rows[:1]
        batch = tensors_of(share, pad=self.processing_class.pad_token_id, device=self.accelerator.device)
        self._check_ids(batch)
        if not rows[rank::world]:
            batch["tool_mask"] = torch.zeros_like(batch["tool_mask"])
        if self.job.loss.mastered_below is not None:
            self._metrics["train"]["mastered"].append(silence_mastered(batch, self.job.loss.mastered_below))
        pieces = self.args.steps_per_generation
        batch = self.arranged(silent_rows(batch, -len(share) % pieces))
        self._filled = len(batch["prompt_ids"]) * world / len(rows)
        own = sum(map(sum, (row.loss_mask for row in rows)))
        self.rows_trained += len(rows)
        self.tokens_trained += own
        self._with_reference(batch)
        self._with_own_logprobs(batch)
        self.prepare(batch)
        batch["num_items_in_batch"] = torch.tensor(max(own, 1), device=self.accelerator.device)
        torch.manual_seed(self.job.seed * 1_000_003 + step)  # For dropout: a resumed job draws the same.
        return batch

    def _rows_of(self, step: int) -> Sequence[Row]:
        """Rows of a step, the same for all processes. Those of a stream or a toy come from the main process.

        The others would read a stream a moment later, or draw other answers on another device.
        """
        if self.peers is None or self.job.source["kind"] in ("rows", "texts"):
            return self.source.rows(step, self.policy(step))
        said: list[Any] = [None, None]
        if self.peers.is_main:
            try:
                said[0] = self.source.rows(step, self.policy(step))
            except EndOfRows as nothing:
                said[1] = str(nothing)
            self.peers.announce(f"rows/{step}")
        else:
            self.peers.wait_for(f"rows/{step}")
        rows, end = broadcast_object_list(said)
        if end is not None:
            raise EndOfRows(end)
        return list(rows)

    def _check_ids(self, batch: Tensors) -> None:
        """Raise `BadRows` for a token without weights, because a device would give no clear error."""
        size = self.accelerator.unwrap_model(self.model).get_input_embeddings().num_embeddings
        for name in ("prompt_ids", "completion_ids"):
            lowest, highest = (int(value) for value in batch[name].aminmax())
            if lowest < 0 or highest >= size:
                wrong = lowest if lowest < 0 else highest
                raise BadRows(
                    f"A row has the token {wrong}, but the base model has {size} tokens. Another tokenizer wrote the row."
                )

    def prepare(self, batch: Tensors) -> None:
        """Hook for objectives: extend a batch before it is split into micro-batches."""

    @torch.no_grad()
    def _with_reference(self, batch: Tensors) -> None:
        """Add the reference's log-probabilities, which TRL needs for a KL term."""
        if not self.beta:
            return
        model = self.accelerator.unwrap_model(self.model)
        if self.ref_model is not None:
            batch["ref_per_token_logps"] = self.in_pieces(self.ref_model, batch)
            return
        # The reference of a new adapter is the model without it; that of a continued adapter is TRL's copy of it.
        with use_adapter(model, "ref" if "ref" in model.peft_config else None):
            batch["ref_per_token_logps"] = self.in_pieces(model, batch)

    @torch.no_grad()
    def _with_own_logprobs(self, batch: Tensors) -> None:
        """For `loss.old = recompute` (UloRL's pseudo on-policy): replace the old log-probabilities by the current model's.

        Drift and masks of rows are still measured from the policy that wrote the rows. With `loss.correction_cap`, advantages
        are multiplied by min(model ÷ that policy, cap) per token: truncated importance sampling, or decoupled PPO.
        """
        if self.job.loss.old != "recompute" or "old_per_token_logps" not in batch:
            return
        model = self.accelerator.unwrap_model(self.model)
        own = batch["tool_mask"] * batch["completion_mask"]
        fresh = self.in_pieces(model, batch)
        wrote = batch["sampling_per_token_logps"] = batch["old_per_token_logps"]
        batch["old_per_token_logps"] = torch.where(own > 0, fresh.float(), 0.0)
        if (cap := self.job.loss.correction_cap) is None:
            return
        weights = (batch["old_per_token_logps"] - wrote).clamp(-MOST, MOST).exp()
        advantages = batch["advantages"]
        spread = advantages[:, None] if advantages.dim() == 1 else advantages
        batch["advantages"] = spread * weights.clamp(max=cap) * own
        count = own.sum().clamp(min=1)
        self._metrics["train"]["capped"].append(float(((weights > cap) * own).sum() / count))

    def _compute_loss(self, model: Any, inputs: Tensors) -> Any:
        loss = super()._compute_loss(model, inputs)
        if self.job.loss.entropy_bonus and self._entropies is not None:
            loss = loss - self.job.loss.entropy_bonus * self._total(self._entropies, inputs)
        self.note_drift(inputs)
        # Means over rows include the padding rows of the batch; the mean over tokens does not.
        if self.job.loss.aggregation != "token":
            loss = loss * self._filled * self.part_share
        return loss

    def _total(self, values: Any, inputs: Tensors) -> Any:
        """Values of own tokens (N, T), added up as the loss adds its own; TRL's entropy bonus is always a mean over tokens."""
        own = inputs["tool_mask"] * inputs["completion_mask"]
        totals, loss = (values * own).sum(dim=1), self.job.loss
        if loss.aggregation == "token":
            return totals.sum() / inputs["num_items_in_batch"] * self.accelerator.num_processes
        if loss.aggregation == "seq":
            totals = totals / own.sum(dim=1).clamp(min=1)
        longest = loss.longest if loss.aggregation == "fixed" and loss.longest else 1
        return totals.mean() / longest / self.current_gradient_accumulation_steps


def _none(**_: Any) -> list[float]:
    """Unused reward function, which TRL requires; rows have their rewards."""
    raise AssertionError("Rows have their rewards; this function must not be called.")
