"""Log-probabilities of given rows: in packs without padding where the model allows it, otherwise cut to the longest row.

These are the replaced private methods of TRL's GRPOTrainer that decide what a step computes. `row_trainer` adds the rows.
"""

from collections.abc import Callable
from typing import Any

import torch
from trl import GRPOTrainer
from trl.trainer.utils import split_tensor_dict

from workers.training.measuring.drift import Drift
from workers.training.rows.batches import Tensors, lengths_of, silent_rows
from workers.training.rows.packing import DENSE, ONLY_WITHIN_ROWS, SHORT, balanced, by_length, cut, per_token


class ScoringTrainer(GRPOTrainer):
    """GRPOTrainer whose micro-batches are chosen by length, and whose model never computes padding that it can avoid."""

    packs_rows = False
    #: Most tokens of one backward pass.
    most_tokens = 16_384
    #: Share of the rows of a micro-batch that the current backward pass has.
    part_share = 1.0
    #: Whether processes share the weights, so that all must call the model equally often.
    is_sharded = False
    _part: Tensors | None = None
    _buffered_inputs: list[Tensors] | None

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.drift = Drift()
        self._latest: Any = None
        self._entropies: Any = None
        self.tokens_needed = self.tokens_computed = 0

    def _prepare_inputs(self, generation_batch: Any) -> Tensors:
        """Micro-batches of a step: TRL shuffles rows here; ours are together by length."""
        if self._part is not None:
            return self._part
        every: int = self.args.steps_per_generation
        if self._step % every == 0 or self._buffered_inputs is None:
            self._buffered_inputs = split_tensor_dict(self._generate_and_score_completions(generation_batch), every)
        found: Tensors = self._buffered_inputs[self._step % every]
        return found

    def training_step(self, model: Any, inputs: Any, num_items_in_batch: Any = None) -> Any:
        """TRL's step of a micro-batch, in parts of at most `most_tokens`; their gradients add up, and so do their losses."""
        whole = self._prepare_inputs(inputs)
        parts = self._parts(whole)
        lost = 0.0
        try:
            for number, part in enumerate(parts):
                self._part, self.part_share = part, len(part["prompt_ids"]) / len(whole["prompt_ids"])
                is_last = number == len(parts) - 1  # TRL counts a step; its base class does not.
                step = super().training_step if is_last else super(GRPOTrainer, self).training_step
                lost = lost + step(model, part, num_items_in_batch)
        finally:
            self._part, self.part_share = None, 1.0
        return lost

    def _parts(self, whole: Tensors) -> list[Tensors]:
        """Parts of a micro-batch. Processes need equal numbers, so some add a part of one row without own tokens."""
        rows = cut(lengths_of(whole), self.most_tokens, padded=not self.packs_rows)
        parts = [{name: tensor[part] if tensor.dim() else tensor for name, tensor in whole.items()} for part in rows]
        silent = {name: tensor[-1:] if tensor.dim() else tensor for name, tensor in silent_rows(whole, 1).items()}
        return [silent] * self._missing(len(parts)) + parts

    def _missing(self, count: int) -> int:
        """How many more parts another process has than this one, which has `count`."""
        if self.accelerator.num_processes == 1:
            return 0
        return int(self.accelerator.gather(torch.tensor([count], device=self.accelerator.device)).max()) - count

    def arranged(self, batch: Tensors) -> Tensors:
        """Batch in the order of its micro-batches."""
        lengths = lengths_of(batch)
        order = balanced(lengths, self.args.steps_per_generation) if self.packs_rows else by_length(lengths)
        return {name: tensor[order] if tensor.dim() else tensor for name, tensor in batch.items()}

    def is_packed(self, mask: Any) -> bool:
        """Whether to pack these rows (N, L): rows of almost equal length are faster side by side, without a mask of pairs."""
        needed, columns = int(mask.sum()), int(mask.any(dim=0).sum())
        return self.packs_rows and needed < DENSE * len(mask) * columns

    def in_packs(self, model: Any, ids: Any, mask: Any, keep: int, scored: Callable[[Any, Any, Any], Any]) -> Any:
        """Values of the last `keep` columns (N, keep, values); see `packing.per_token`.

        Attention over the whole square of a pack gets short packs; ranks that share weights need equal numbers of calls.
        """
        config = self.accelerator.unwrap_model(model).config
        most = int(mask.sum()) if self.is_sharded or config._attn_implementation in ONLY_WITHIN_ROWS else SHORT
        self.tokens_computed += int(mask.sum())
        return per_token(ids, mask, keep, most, scored)

    def _get_per_token_logps_and_entropies(
        self, model: Any, input_ids: Any, attention_mask: Any, logits_to_keep: int, *given: Any, **more: Any
    ) -> Any:
        """As TRL's, in packs or without the columns that are padding in every row; keeps the result for drift and bonus."""
        self.tokens_needed += int(attention_mask.sum())
        if self.is_packed(attention_mask) and not more.get("compute_aux_loss"):

            def scored(ids: Any, positions: Any, kept: Any) -> Any:
                labels = torch.where(kept, ids, -100)
                with self.accelerator.autocast():
                    found = model(input_ids=ids, position_ids=positions, labels=labels, fused_lm_head=True)
                values = [found.log_probs, found.log_probs if found.entropy is None else found.entropy]
                return torch.nn.functional.pad(torch.stack(values, dim=-1)[0], (0, 0, 1, 0))

            values = self.in_packs(model, input_ids, attention_mask, logits_to_keep, scored)
            found = values[..., 0], values[..., 1], None
        else:
            found = self._without_empty_columns(model, input_ids, attention_mask, logits_to_keep, *given, **more)
        self._latest, self._entropies = found[0], found[1]
        return found

    def _without_empty_columns(self, model: Any, ids: Any, mask: Any, keep: int, *given: Any, **more: Any) -> Any:
        used = mask.any(dim=0).nonzero().flatten()
        first, last = int(used[0]), int(used[-1]) + 1
        cut = mask.shape[1] - last
        self.tokens_computed += len(mask) * (last - first)
        logps, entropies, aux = super()._get_per_token_logps_and_entropies(
            model, ids[:, first:last], mask[:, first:last], keep - cut, *given, **more
        )
        widen = [None if one is None else torch.nn.functional.pad(one, (0, cut)) for one in (logps, entropies)]
        return widen[0], widen[1], aux

    def logprobs(self, model: Any, batch: Tensors, *, entropy: bool = False) -> tuple[Any, Any]:
        """Log-probabilities of the completions' tokens (N, T), and their entropies with `entropy`."""
        ids = torch.cat([batch["prompt_ids"], batch["completion_ids"]], dim=1)
        mask = torch.cat([batch["prompt_mask"], batch["completion_mask"]], dim=1)
        found = self._get_per_token_logps_and_entropies(
            model, ids, mask, batch["completion_ids"].shape[1], compute_entropy=entropy
        )
        return found[0], found[1]

    def in_pieces(self, model: Any, batch: Tensors) -> Any:
        """Log-probabilities (N, T) of a whole step, in parts of at most `most_tokens`."""
        names = ("prompt_ids", "prompt_mask", "completion_ids", "completion_mask")
        found = torch.zeros(batch["completion_ids"].shape, device=batch["completion_ids"].device)
        parts = cut(lengths_of(batch), self.most_tokens, padded=not self.packs_rows)
        for part in parts + parts[:1] * self._missing(len(parts)):
            found[part] = self.logprobs(model, {name: batch[name][part] for name in names})[0].float()
        return found

    def note_drift(self, inputs: Tensors) -> None:
        """Compare the last log-probabilities with those of the policy that wrote the rows."""
        latest, self._latest = self._latest, None
        if latest is not None and "old_per_token_logps" in inputs:  # TRL's fused loss computes none.
            wrote = inputs.get("sampling_per_token_logps", inputs["old_per_token_logps"])
            self.drift.take(latest, wrote, inputs["tool_mask"] * inputs["completion_mask"])
            if self.off_policy_mask_threshold is not None:
                kept = self.kept_rows(latest, inputs)
                self._metrics["train"]["masked_rows"].append(float(1 - kept.amin(dim=1).float().mean()))

    def kept_rows(self, logprobs: Any, inputs: Tensors) -> Any:
        """(N, 1): 0 for rows of negative advantage whose policy was too far, as in DeepSeek-V3.2; else 1.

        The distance is the mean log-ratio of a row's own tokens, of the policy that wrote it to the model.
        """
        advantages = inputs["advantages"]
        return self.get_off_policy_mask(
            advantages=advantages.unsqueeze(-1) if advantages.dim() == 1 else advantages,
            per_token_logps=logprobs,
            sampling_per_token_logps=inputs.get("sampling_per_token_logps", inputs["old_per_token_logps"]),
            mask=inputs["tool_mask"] * inputs["completion_mask"],
            off_policy_threshold=self.off_policy_mask_threshold,
        )

    def useful(self) -> float:
        """Share of tokens of rows among the computed ones since the last call, 0 to 1."""
        share = self.tokens_needed / max(1, self.tokens_computed)
        self.tokens_needed = self.tokens_computed = 0
        return share
