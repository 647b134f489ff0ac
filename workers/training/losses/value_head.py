"""PPO's value head: a linear layer on the last hidden state, trained together with the policy (AlphaApollo's turn-level PPO).

Advantages per token are GAE over the policy's own tokens (`recipes/mathematics/ppo.py`), with the values before the step. TRL
1.16 has no PPO trainer, so this module adds the head to TRL's clipped loss.
"""

from typing import Any

import torch
from safetensors.torch import load_file, save_file

from apps.recipes.mathematics.ppo import token_advantages
from workers.training.problems import BadConfig
from workers.training.row_trainer import RowTrainer
from workers.training.rows.batches import Tensors

VALUE_SHARE = 0.5
VALUE_CLIP = 0.2
HEAD = "value_head"


class ValueTrainer(RowTrainer):
    """Clipped loss with advantages from a value head; a row's reward is given at its last own token."""

    def __init__(self, model: Any, *others: Any, **more: Any) -> None:
        model.add_module(HEAD, torch.nn.Linear(model.config.hidden_size, 1, dtype=model.dtype))
        torch.nn.init.zeros_(model.value_head.weight)
        torch.nn.init.zeros_(model.value_head.bias)
        if more.get("peft_config") is not None or hasattr(model, "peft_config"):
            raise BadConfig("turn_ppo trains a value head together with all weights and cannot be combined with “lora”.")
        super().__init__(model, *others, **more)

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        """Save the head in a separate file, because engines that load the weights do not know it."""
        state = state_dict if state_dict is not None else self.model.state_dict()
        folder = output_dir or self.args.output_dir
        super()._save(folder, {name: value for name, value in state.items() if not name.startswith(HEAD)})
        own = {name: value.contiguous() for name, value in state.items() if name.startswith(HEAD)}
        save_file(own, f"{folder}/{HEAD}.safetensors")

    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: Any = None) -> None:
        super()._load_from_checkpoint(resume_from_checkpoint, model)
        own = load_file(f"{resume_from_checkpoint}/{HEAD}.safetensors")
        self.model.value_head.load_state_dict({name.removeprefix(f"{HEAD}."): value for name, value in own.items()})

    def values(self, model: Any, batch: Tensors) -> Any:
        """Value before each token of the completions, shape (N, T)."""
        ids = torch.cat([batch["prompt_ids"], batch["completion_ids"]], dim=1)
        mask = torch.cat([batch["prompt_mask"], batch["completion_mask"]], dim=1)
        inner = self.accelerator.unwrap_model(model)
        length = batch["completion_ids"].shape[1]
        if self.is_packed(mask):

            def scored(ids: Any, positions: Any, kept: Any) -> Any:
                hidden = inner.model(input_ids=ids, position_ids=positions, use_cache=False).last_hidden_state[0, :-1]
                return torch.nn.functional.pad(inner.value_head(hidden).float(), (0, 0, 1, 0))

            with self.accelerator.autocast():
                return self.in_packs(model, ids, mask, length, scored).squeeze(-1)
        with self.accelerator.autocast():
            hidden = inner.model(input_ids=ids, attention_mask=mask, use_cache=False).last_hidden_state
            return inner.value_head(hidden[:, -length - 1 : -1]).squeeze(-1).float()

    @torch.no_grad()
    def prepare(self, batch: Tensors) -> None:
        """Add `advantages`, whitened over the step's own tokens as in PPO, `returns` and `old_values`, all (N, T)."""
        own = batch["tool_mask"] * batch["completion_mask"]
        values = self.values(self.model, batch)
        rewards = torch.zeros_like(values)
        last = (own * torch.arange(1, own.shape[1] + 1, device=own.device)).argmax(dim=1)
        rewards[torch.arange(len(last)), last] = batch.pop("rewards") * (own.sum(dim=1) > 0)
        found = [
            token_advantages(reward.tolist(), value.tolist(), mask.tolist())
            for reward, value, mask in zip(rewards, values, own, strict=True)
        ]
        advantages, returns = (torch.tensor([pair[part].tolist() for pair in found], device=own.device) for part in (0, 1))
        inside = advantages[own > 0]
        spread = inside.std() if len(inside) > 1 else torch.ones((), device=own.device)
        batch["advantages"] = ((advantages - inside.mean()) / (spread + 1e-8) * own).float()
        batch["returns"], batch["old_values"] = returns.float(), values

    def _compute_loss(self, model: Any, inputs: Tensors) -> Any:
        loss = super()._compute_loss(model, inputs)
        own = inputs["tool_mask"] * inputs["completion_mask"]
        values = self.values(model, inputs)
        held = inputs["old_values"] + (values - inputs["old_values"]).clamp(-VALUE_CLIP, VALUE_CLIP)
        error = torch.maximum((values - inputs["returns"]) ** 2, (held - inputs["returns"]) ** 2)
        missed = 0.5 * (error * own).sum() / inputs["num_items_in_batch"] * self.accelerator.num_processes
        self._metrics["train"]["value_loss"].append(self.accelerator.gather(missed.detach()).float().mean().item())
        return loss + VALUE_SHARE * missed
