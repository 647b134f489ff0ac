"""FSDP2: each process holds a share of every weight, gradient and optimiser state, on CUDA and on the CPU (gloo).

torch's own `fully_shard` is called directly, because accelerate ignores its FSDP configuration on a CPU. Whole tensors are
collected by all processes; only the main one keeps and writes them. So files are those of a job in one process, and any number
of processes can resume it.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor

from workers.training.config import SHARDS, JobConfig
from workers.training.problems import BadConfig

#: Environment variable with the division of jobs that name none.
VARIABLE = "LEMMASCOPE_SHARD"
#: Variables of accelerate for its own FSDP and for DeepSpeed.
OTHERS = ("ACCELERATE_USE_FSDP", "ACCELERATE_USE_DEEPSPEED")
#: Part of the names of an adapter's weights, as peft writes them.
ADAPTER = "lora_"


def chosen_shard(config: JobConfig) -> Literal["fsdp"] | None:
    """Division of a job's weights: its own `shard`, else that of `LEMMASCOPE_SHARD` where the job can have one.

    Raises `BadConfig` for a job that asks for it and cannot have it, for an unknown value of the variable, and where accelerate
    is configured to divide weights in its own way, whose checkpoints would not be whole.
    """
    for name in OTHERS:
        if os.environ.get(name, "").lower() == "true":
            raise BadConfig(f"{name} is set, but weights are divided in one way only. Use “shard” fsdp instead.")
    asked: Any = config.shard or os.environ.get(VARIABLE) or None
    if asked not in SHARDS:
        raise BadConfig(f"{VARIABLE} is {asked!r}; it must be empty or one of {', '.join(filter(None, SHARDS))}.")
    against = _against(config) if asked else ""
    if against and config.shard:
        raise BadConfig(f"“shard” does not work here: {against} Remove “shard”.")
    return None if against else asked


def _against(config: JobConfig) -> str:
    """Why a job computes outside the model's own forward pass, or needs a whole model; empty where it does not."""
    if config.training.objective == "clipped_with_values":
        return f"the value head of {config.recipe} reads hidden states."
    if config.source["kind"] == "toy":
        return "toys draw from a whole model."
    if config.loss.token_rm:
        return "“loss.token_rm” works in one process only."
    return ""


def keep_where_it_is(model: Any) -> None:
    """Let transformers' trainer leave a model on the CPU, as it does with models that arrive divided."""
    model._is_distributed_loading_by_transformers = True


def shard(model: Any, device: Any) -> None:
    """Divide a model among all processes, layer by layer, in place. Its layers are those that transformers never splits."""
    mesh = init_device_mesh(device.type, (torch.distributed.get_world_size(),))
    below = model.get_base_model() if hasattr(model, "peft_config") else model
    layers = set(below._no_split_modules or ())
    for module in reversed(list(model.modules())):
        if type(module).__name__ in layers:
            fully_shard(module, mesh=mesh)
    fully_shard(model, mesh=mesh, reshard_after_forward=True)


def whole_weights(model: Any, *, main: bool, adapter: bool) -> dict[str, Any]:
    """Weights on the CPU of the main process, {} elsewhere; all processes must call it. `adapter`: only those of adapters."""
    named = model.state_dict(keep_vars=True).items()
    return _whole(((name, value) for name, value in named if not adapter or ADAPTER in name), main=main)


def own_share(tensor: Any) -> Any:
    """Share of this process of a tensor; the tensor itself where it is whole."""
    return tensor.to_local() if isinstance(tensor, DTensor) else tensor


def whole_optimizer(optimizer: Any, *, main: bool) -> dict[str, Any]:
    """State of the optimiser, as `whole_weights` gives weights; its numbers of parameters are those of one process."""
    state = optimizer.state_dict()
    whole = {number: _whole(values.items(), main=main) for number, values in state["state"].items()}
    return {"state": whole, "param_groups": state["param_groups"]}


def load_optimizer(optimizer: Any, path: Path) -> None:
    """Load what `whole_optimizer` gave; each process takes its shares."""
    state = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    for number, values in state["state"].items():
        state["state"][number] = {name: _share(value, parameters[number]) for name, value in values.items()}
    optimizer.load_state_dict(state)


def _whole(named: Iterable[tuple[str, Any]], *, main: bool) -> dict[str, Any]:
    """Whole tensors, one after the other; tensors under several names, such as tied weights, stay one."""
    found: dict[str, Any] = {}
    known: dict[int, Any] = {}
    for name, value in named:
        if id(value) not in known:
            whole = value.full_tensor() if isinstance(value, DTensor) else value
            known[id(value)] = (whole.detach().cpu() if isinstance(whole, torch.Tensor) else whole) if main else None
        if main:
            found[name] = known[id(value)]
    return found


def _share(value: Any, like: Any) -> Any:
    if not isinstance(like, DTensor) or not isinstance(value, torch.Tensor) or value.shape != like.shape:
        return value
    return distribute_tensor(value.to(like.device), like.device_mesh, like.placements, src_data_rank=None)
