"""Run of one job from its folder to its end state. `run_job` never raises; errors are recorded in `state.json`."""

import random
import traceback
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import PrinterCallback

from apps.recipes.registry import RECIPES
from workers.training import checkpoints
from workers.training.config import JobConfig, read_config
from workers.training.devices import has_cuda
from workers.training.folder import EXIT, JobFolder
from workers.training.losses.objectives import OrealTrainer, SupervisedTrainer
from workers.training.losses.value_head import ValueTrainer
from workers.training.measuring.held_out import MOST_ROWS, HeldOut, HeldOutRows, HeldOutToy, split_problems
from workers.training.measuring.watching import StopAsked, Watch
from workers.training.models import (
    architecture_of,
    base_folder,
    check_architecture,
    dtype_of,
    load_for_training,
    load_tokenizer,
    template_hash,
    tokenizer_hash,
)
from workers.training.problems import BadConfig, check_dataset, check_tokenizers, explain
from workers.training.processes.peers import Peers
from workers.training.processes.sharding import chosen_shard
from workers.training.row_trainer import RowTrainer, arguments
from workers.training.rows.sources import EndOfRows, RowSource, StoredRows, StreamedRows, ToyRows
from workers.training.rows.tables import TableRows, check_shards
from workers.training.rows.texts import tokenise_job
from workers.training.toys.registry import TOYS

TRAINERS: dict[str, type[RowTrainer]] = {
    "supervised": SupervisedTrainer,
    "clipped": RowTrainer,
    "clipped_with_values": ValueTrainer,
    "oreal": OrealTrainer,
}


#: Seconds in which the reason of another process is awaited after an error that may only follow from it.
OTHERS_S = 5.0


def run_job(path: Path, *, resume: bool = False, stop: StopAsked | None = None, peers: Peers | None = None) -> int:
    """Train until finished, stopped or failed; return the exit status. `peers`: the other processes on several devices.

    Only the main process writes the folder, and its exit status is the end state; the others return 0 or 1.
    """
    folder, stop, main = JobFolder(path), stop or StopAsked(), peers is None or peers.is_main
    try:
        if main:
            folder.start_heartbeat()
            folder.write_state()
        if peers is not None:
            peers.watch(stop, lambda found: _write_failure(folder, *found))
        ended, why = _train(folder, resume=resume, stop=stop, peers=peers)
        if peers is not None:
            torch.distributed.barrier()  # Until here the end of another process is a failure.
            peers.end()
        if main:
            folder.write_state(state=ended, message=why)
        return EXIT[ended if main else "finished"]
    except BaseException as error:
        traceback.print_exc()
        reason, message = explain(error, path)
        if peers is not None and reason == "crashed" and (found := peers.failure_soon(OTHERS_S)):
            reason, message = found
        if main:
            _write_failure(folder, reason, message)
        elif peers is not None:
            peers.report(reason, message)
        return EXIT["failed"]
    finally:
        if peers is not None:
            peers.end()
        folder.stop_heartbeat()


def _write_failure(folder: JobFolder, reason: str, message: str) -> None:
    for path in folder.checkpoints.glob(f"{checkpoints.PREFIX}*"):
        if not (path / checkpoints.MANIFEST).exists():
            checkpoints.latest(folder.checkpoints)  # Delete incomplete checkpoints to free their space.
            break
    try:
        folder.write_state(state="failed", reason=reason, message=message)
    except OSError:  # No space even for this; the exit status and log.txt remain.
        traceback.print_exc()


def _train(folder: JobFolder, *, resume: bool, stop: StopAsked, peers: Peers | None) -> tuple[Any, str]:
    """Train; return the final state and a message, which may be empty."""
    main = peers is None or peers.is_main
    config = _configured(folder)
    base = base_folder(config, folder.path)
    tokenizer = load_tokenizer(base)
    own = tokenizer_hash(tokenizer)
    _check_data(config, tokenizer, own)
    if config.source["kind"] == "texts" and not tokenise_job(folder, tokenizer, asked=lambda: stop.asked, main=main):
        return "stopped", ""

    def report(shard: str, held: int) -> None:
        if main:
            folder.write_state(reading=shard, held=held)

    source = source_of(config, folder.path, asked=lambda: stop.asked, report=report, tokenizer=own)
    begin, damaged = _start(folder, base, resume=resume, main=main)
    watch = Watch(config, folder if main else None, stop, facts_of(config, base, tokenizer))
    watch.held_out = held_out_of(config, source)
    trainer = trainer_of(config, folder.checkpoints, base, tokenizer, source, watch)
    trainer.peers = peers
    if begin is not None:
        _restore(trainer, checkpoints.read_manifest(begin))
    if main:
        done = checkpoints.read_manifest(begin)["step"] if begin else 0
        folder.write_state(state="running", step=done, steps=config.steps, checkpoint=_relative(begin, folder), message=damaged)
    why = damaged
    try:
        trainer.train(resume_from_checkpoint=str(begin) if begin else None)
    except EndOfRows as end:
        if stop.asked and not trainer.state.global_step:
            return "stopped", ""  # It was waiting for its first rows.
        why = " ".join(filter(None, (damaged, str(end))))
        trainer.save_now()
    if trainer.state.global_step < config.steps and (stop.asked or watch.is_stopping):
        return "stopped", damaged
    return "finished", why


def _configured(folder: JobFolder) -> JobConfig:
    """Configuration of the job; torch and the random states are set by it."""
    config = read_config(folder.path / "config.json")
    config = replace(config, shard=chosen_shard(config))
    if config.threads:
        torch.set_num_threads(config.threads)
    for seed in (random.seed, np.random.seed, torch.manual_seed):
        seed(config.seed)
    return config


def _check_data(config: JobConfig, tokenizer: Any, own: str) -> None:
    check_tokenizers(config.dataset.get("tokenizer"), own)
    check_dataset(
        config.dataset,
        temperature=config.temperature if config.training.needs_logprobs else None,
        template=None if config.any_template else template_hash(tokenizer),
    )


def _start(folder: JobFolder, base: Path, *, resume: bool, main: bool) -> tuple[Path | None, str]:
    """Checkpoint to continue from, if any, with a message about damaged ones."""
    begin, damaged = checkpoints.latest_whole(folder.checkpoints, main=main) if resume else (None, "")
    if begin is not None:
        check_architecture(checkpoints.read_manifest(begin), base)
    elif not resume and checkpoints.complete(folder.checkpoints):
        raise BadConfig("This folder has checkpoints of an earlier attempt. Resume it, or use a new folder.")
    return begin, damaged


def _restore(trainer: RowTrainer, manifest: dict[str, Any]) -> None:
    trainer.rows_trained, trainer.tokens_trained = manifest["rows_trained"], manifest["tokens_trained"]
    if manifest.get("source_place") and hasattr(trainer.source, "place"):
        trainer.source.place = manifest["source_place"]


def _relative(path: Path | None, folder: JobFolder) -> str | None:
    return str(path.relative_to(folder.path)) if path else None


def trainer_of(
    config: JobConfig, output: Path, base: Path, tokenizer: Any, source: RowSource, watch: Watch | None = None
) -> RowTrainer:
    """Trainer of the recipe's objective, on the configured device."""
    cuda = has_cuda(config.device)
    bf16 = config.dtype == "bfloat16" or (config.dtype == "auto" and cuda)
    model, adapter = load_for_training(base, config, bf16=bf16, cuda=cuda)
    trainer = TRAINERS[config.training.objective](
        model,
        source,
        config,
        arguments(config, output, bf16=bf16, cpu=not cuda),
        tokenizer,
        seen=watch.seen if watch else None,
        peft_config=adapter,
        callbacks=[watch] if watch else [],
    )
    trainer.remove_callback(PrinterCallback)
    trainer.served_in = dtype_of(base)
    if watch:
        watch.trainer = trainer
    return trainer


def source_of(
    config: JobConfig,
    job: Path,
    asked: Callable[[], bool] = lambda: False,
    *,
    report: Callable[[str, int], None] = lambda *_: None,
    tokenizer: str = "",
) -> RowSource:
    """Source of the configured rows. `asked`, `report`: see `StreamedRows`; `tokenizer`: the base's hash.

    Raises `BadConfig`, `BadRows`.
    """
    source = dict(config.source)
    kind = source.pop("kind")
    training = config.training
    needs = {
        "needs_logprobs": training.needs_logprobs,
        "needs_advantage": training.needs_advantage,
        "needs_reward": training.needs_reward or config.loss.mastered_below is not None or config.loss.token_rm,
    }
    if kind in ("rows", "texts"):
        if kind == "rows" and config.dataset.get("shards"):
            check_shards(job / "rows", config.dataset["shards"])
        table = TableRows(job / "rows", **needs)
        places = split_problems(table.problems, config.held_out.share)[0] if config.held_out else None
        return StoredRows(table, config.rows_per_step, seed=config.seed, places=places)
    if kind == "stream":
        known: dict[str, Any] = {"wait": float(source.get("wait", 600)), "most_lag": config.most_lag}
        return StreamedRows(
            job / "rows", config.rows_per_step, asked=asked, report=report, tokenizer=tokenizer, **known, **needs
        )
    return _toy_rows(config, source)


def _toy_rows(config: JobConfig, source: dict[str, Any]) -> ToyRows:
    """Rows of a toy. Raises `BadConfig` for an unknown toy or option."""
    name, shown = source.pop("toy", None), bool(source.pop("demonstrations", False))
    options, more = dict(source.pop("options", {})), dict(source.pop("recipe_options", {}))
    if name not in TOYS:
        raise BadConfig(f"Unknown toy “{name}”. Valid toys: {', '.join(TOYS)}.")
    if source:
        raise BadConfig(f"“source” has “{next(iter(source))}”, which is not a key for toys.")
    try:
        toy = TOYS[name](**options)
    except TypeError as error:
        raise BadConfig(f"The toy “{name}” does not accept these options: {error}.") from error
    rules = {"demonstrations": shown, "refills": config.recipe == "turn_dapo"}
    return ToyRows(toy, partial(RECIPES[config.recipe].rows, **more), config.rows_per_step, seed=config.seed, **rules)


def held_out_of(config: JobConfig, source: RowSource) -> HeldOut | None:
    """Held-out problems of the job; None where it has none."""
    if config.held_out is None:
        return None
    if isinstance(source, StoredRows):
        return HeldOutRows(source.held_out(MOST_ROWS), at_once=config.micro)
    name = config.source["toy"]
    return HeldOutToy(TOYS[name](**config.source.get("options", {})), name, seed=config.seed)


def facts_of(config: JobConfig, base: Path, tokenizer: Any) -> dict[str, Any]:
    """Facts in every manifest of the job."""
    return {
        "parent": config.parent,
        "base": str(base),
        "recipe": config.recipe,
        "dataset": config.dataset,
        "config": config.as_json(),
        "seed": config.seed,
        "architecture": architecture_of(base),
        "tokenizer": tokenizer_hash(tokenizer),
        "chat_template": template_hash(tokenizer),
        "adapter": config.lora is not None,
    }
