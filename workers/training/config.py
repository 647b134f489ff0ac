"""`config.json` of a job: read, checked and completed with the recipe's defaults (docs/learning_jobs.md)."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from math import isfinite
from pathlib import Path
from typing import Any, Literal, get_args

from apps.recipes.mathematics.losses import Aggregation
from apps.recipes.recipe import LossSettings, Training
from apps.recipes.registry import RECIPES
from workers.training.problems import BadConfig

FORMAT = 1
DEVICES = ("auto", "cpu", "cuda")
DTYPES = ("auto", "float32", "bfloat16")
SHARDS = (None, "fsdp")
ATTENTIONS = ("auto", "sdpa", "flash_attention_2", "flex_attention")
LOSS_NUMBERS = ("low", "high", "beta", "entropy_bonus", "positive", "negative")
WHOLE = ("seed", "warmup_steps", "samples", "lora.rank", "lora.alpha")
SOURCES = ("rows", "texts", "stream", "toy")


@dataclass(frozen=True)
class HeldOutSettings:
    """Measurement on held-out problems: every `every` steps, on a `share` of a dataset's problems."""

    every: int
    share: float = 0.1


@dataclass(frozen=True)
class LoraSettings:
    """A low-rank adapter instead of all weights."""

    rank: int = 16
    alpha: int = 32
    targets: str | tuple[str, ...] = "all-linear"


@dataclass(frozen=True)
class JobConfig:
    """Complete configuration of a job; missing keys of `config.json` have the recipe's values."""

    recipe: str
    base: str | dict[str, Any]
    source: dict[str, Any]
    steps: int
    format: int = FORMAT
    parent: str = ""
    dataset: dict[str, Any] = field(default_factory=dict)
    rows_per_step: int = 64
    micro_rows: int | None = None
    micro_tokens: int = 16_384
    packing: bool = True
    seed: int = 0
    learning_rate: float = 1e-6
    last_learning_rate: float = 1e-6
    warmup_steps: int = 0
    gradient_clip: float = 1.0
    weight_decay: float = 0.0
    temperature: float = 1.0
    any_template: bool = False
    loss: LossSettings = field(default_factory=LossSettings)
    lora: LoraSettings | None = None
    held_out: HeldOutSettings | None = None
    most_lag: int | None = None
    save_every: int = 50
    keep: int = 2
    log_every: int = 1
    samples: int = 2
    device: Literal["auto", "cpu", "cuda"] = "auto"
    dtype: Literal["auto", "float32", "bfloat16"] = "auto"
    attention: Literal["auto", "sdpa", "flash_attention_2", "flex_attention"] = "auto"
    threads: int | None = None
    shard: Literal["fsdp"] | None = None
    trackers: list[str] | None = None

    @property
    def training(self) -> Training:
        """Settings of the recipe."""
        return RECIPES[self.recipe].training

    @property
    def micro(self) -> int:
        """Number of rows in a micro-batch."""
        return min(self.micro_rows or self.rows_per_step, self.rows_per_step)

    def as_json(self) -> dict[str, Any]:
        """Complete configuration as JSON values."""
        return asdict(self)


def read_config(path: Path) -> JobConfig:
    """Read `config.json`. Raises `BadConfig` naming the key and the problem."""
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise BadConfig(f"config.json is not JSON: {error}") from error
    if not isinstance(given, dict):
        raise BadConfig("config.json must be one JSON object.")
    return config_of(given)


def config_of(given: Mapping[str, Any]) -> JobConfig:
    """Configuration from given values, with the recipe's defaults. Raises `BadConfig`."""
    known = {one.name for one in fields(JobConfig)}
    _reject_unknown(given, known, "config.json")
    for name in ("recipe", "base", "source", "steps"):
        if name not in given:
            raise BadConfig(f"config.json lacks “{name}”.")
    if given.get("format", FORMAT) != FORMAT:
        raise BadConfig(f"config.json has format {given['format']!r}; this trainer reads {FORMAT}.")
    if given["recipe"] not in RECIPES:
        raise BadConfig(f"Unknown recipe “{given['recipe']}”. Valid recipes: {', '.join(RECIPES)}.")
    training = RECIPES[given["recipe"]].training
    values = training.settings(int(given["steps"]) if isinstance(given["steps"], int) else 0)
    values |= {name: value for name, value in given.items() if name not in ("loss", "lora", "held_out")}
    values["loss"] = _part(LossSettings, asdict(training.loss_settings) | dict(given.get("loss") or {}), "loss")
    for name, kind in (("lora", LoraSettings), ("held_out", HeldOutSettings)):
        values[name] = _part(kind, dict(given[name]), name) if given.get(name) is not None else None
    config = JobConfig(**values)
    _check(config)
    return config


def _part(kind: type[Any], given: dict[str, Any], name: str) -> Any:
    _reject_unknown(given, {one.name for one in fields(kind)}, f"“{name}” of config.json")
    try:
        return kind(**given)
    except TypeError as error:
        raise BadConfig(f"“{name}” of config.json is incomplete: {str(error).removeprefix(kind.__name__)}.") from error


def _reject_unknown(given: Mapping[str, Any], known: set[str], where: str) -> None:
    unknown = sorted(set(given) - known)
    if unknown:
        raise BadConfig(f"{where} has “{unknown[0]}”, which is not a key. Valid keys: {', '.join(sorted(known))}.")


def _check_parts(config: JobConfig) -> None:
    """Check the types of values, which may be wrong in a file written by hand."""
    loss, lora = config.loss, config.lora
    numbers: dict[str, Any] = {"seed": config.seed, "warmup_steps": config.warmup_steps, "samples": config.samples}
    numbers |= {f"loss.{name}": getattr(loss, name) for name in LOSS_NUMBERS}
    numbers |= {"loss.mastered_below": loss.mastered_below} if loss.mastered_below is not None else {}
    numbers |= {"lora.rank": lora.rank, "lora.alpha": lora.alpha} if lora is not None else {}
    for name, value in numbers.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) and value >= 0
        if not is_number or (name in WHOLE and not isinstance(value, int)):
            kind = "a whole number" if name in WHOLE else "a number"
            raise BadConfig(f"“{name}” is {value!r}; it must be {kind}, 0 or more.")
    if not isinstance(loss.token_rm, bool):
        raise BadConfig(f"“loss.token_rm” is {loss.token_rm!r}; it must be true or false.")
    for name in ("packing", "any_template"):
        if not isinstance(getattr(config, name), bool):
            raise BadConfig(f"“{name}” is {getattr(config, name)!r}; it must be true or false.")
    names = config.trackers
    if names is not None and not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
        raise BadConfig(f"“trackers” is {names!r}; it must be null or a list of names.")
    if not isinstance(config.dataset, dict):
        raise BadConfig(f"“dataset” is {config.dataset!r}; it must be an object.")


def _check(config: JobConfig) -> None:
    _check_parts(config)
    for name in ("steps", "rows_per_step", "micro_tokens", "save_every", "keep", "log_every"):
        value = getattr(config, name)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise BadConfig(f"“{name}” is {value!r}; it must be a whole number of at least 1.")
    for name in ("learning_rate", "last_learning_rate", "gradient_clip", "weight_decay"):
        value = getattr(config, name)
        if not isinstance(value, int | float) or not 0 <= value < float("inf"):
            raise BadConfig(f"“{name}” is {value!r}; it must be a number, 0 or more.")
    if not isinstance(config.temperature, int | float) or not 0 < config.temperature < float("inf"):
        raise BadConfig(f"“temperature” is {config.temperature!r}; it must be the sampling temperature of the rows, above 0.")
    kind = config.source.get("kind") if isinstance(config.source, dict) else None
    choices: tuple[tuple[str, Any, tuple[Any, ...]], ...] = (
        ("device", config.device, DEVICES),
        ("dtype", config.dtype, DTYPES),
        ("attention", config.attention, ATTENTIONS),
        ("shard", config.shard, SHARDS),
        ("source.kind", kind, SOURCES),
        ("loss.aggregation", config.loss.aggregation, get_args(Aggregation)),
        ("loss.old", config.loss.old, ("stored", "recompute")),
    )
    for name, value, allowed in choices:
        if value not in allowed:
            raise BadConfig(f"“{name}” is {value!r}; it must be one of {', '.join(map(_word, allowed))}.")
    if kind == "texts" and config.training.needs_logprobs:
        raise BadConfig(f"“source.kind” is texts, which have no log-probabilities, but {config.recipe} needs them.")
    if config.loss.mastered_below is not None and not config.training.objective.startswith("clipped"):
        raise BadConfig(f"“loss.mastered_below” needs a recipe with a clipped loss; {config.recipe} has none.")
    if config.loss.token_rm and config.training.objective != "oreal":
        raise BadConfig(f"“loss.token_rm” needs OREAL’s loss; {config.recipe} has another.")
    if config.loss.old == "recompute" and config.training.objective == "supervised":
        raise BadConfig(f"“loss.old” needs a recipe with ratios to the rows’ policy; {config.recipe} has none.")
    _check_off_policy(config)
    if config.held_out is not None:
        _check_held_out(config, config.held_out, kind)
    if config.loss.aggregation == "fixed" and not config.loss.longest:
        raise BadConfig("The aggregation “fixed” needs loss.longest, the maximum length of a completion in tokens.")
    if config.rows_per_step % config.micro:
        raise BadConfig(f"micro_rows ({config.micro}) must divide rows_per_step ({config.rows_per_step}).")


def _word(value: str | None) -> str:
    return "null" if value is None else value


def _check_off_policy(config: JobConfig) -> None:
    """Check the limits on ratios between the model, the model of the step's begin, and the policy that wrote the rows."""
    loss = config.loss
    least = {
        "ratio_cap": 1 + loss.high if config.training.objective != "oreal" else 1.0,
        "correction_cap": 1.0,
        "mask_above": 0.0,
    }
    for name, above in least.items():
        value = getattr(loss, name)
        if value is None:
            continue
        if not isinstance(value, int | float) or isinstance(value, bool) or not above < value < float("inf"):
            raise BadConfig(f"“loss.{name}” is {value!r}; it must be null or a number above {above:g}.")
        if config.training.objective == "supervised":
            raise BadConfig(f"“loss.{name}” needs a recipe with ratios to the rows’ policy; {config.recipe} has none.")
    if loss.correction_cap is not None and loss.old != "recompute":
        raise BadConfig("“loss.correction_cap” needs “loss.old” recompute: stored probabilities need no correction.")


def _check_held_out(config: JobConfig, held_out: HeldOutSettings, kind: str | None) -> None:
    every, share = held_out.every, held_out.share
    if not isinstance(every, int) or isinstance(every, bool) or every < 1:
        raise BadConfig(f"“held_out.every” is {every!r}; it must be a whole number of steps, at least 1.")
    if not isinstance(share, int | float) or isinstance(share, bool) or not 0 < share <= 0.5:
        raise BadConfig(f"“held_out.share” is {share!r}; it must be above 0 and at most 0.5.")
    if kind == "stream" or (kind != "toy" and config.training.objective != "supervised"):
        raise BadConfig(
            "“held_out” is for toys and supervised recipes only. Measure a job that learns by reinforcement from runs by a "
            "comparison with its parent."
        )
