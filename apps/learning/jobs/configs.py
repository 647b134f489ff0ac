"""`config.json` of the values of a job's form, and the form's values of a `config.json`."""

from collections.abc import Mapping
from typing import Any

from apps.datasets.models import DatasetVersion
from apps.learning.jobs.bases import Base
from apps.learning.jobs.more_fields import OFF, PLAIN, config_of_more, fields_of_more
from apps.learning.jobs.settings import FIELDS, Learner, Settings, lines_of, settings_read
from apps.learning.models import TrainingJob
from apps.learning.rollouts.forms import ROLLOUTS, fields_of_plan
from apps.learning.rollouts.plan import STREAM_WAIT_S, plan_of

#: Rows as text of a logged step: those of the highest, median and lowest reward.
SAMPLES = 3


def config_from(values: dict[str, Any], base: Base, dataset: DatasetVersion | None) -> dict[str, Any]:
    """Content of `config.json` for a form's values, without the empty fields."""
    source: dict[str, Any] = {"kind": "rows" if dataset is None or dataset.has_tokens else "texts"}
    if values["source"] == ROLLOUTS:
        source = {"kind": "stream", "wait": STREAM_WAIT_S}
    elif dataset is None:
        source = {"kind": "toy", "toy": values["source"].removeprefix("toy:")}
        source |= {"demonstrations": True} if values["demonstrations"] else {}
    config: dict[str, Any] = {"recipe": values["recipe"], "base": base.config, "parent": base.parent, "source": source}
    config["samples"] = SAMPLES
    config |= {name: values[name] for name in ("steps", "seed", "save_every", "keep", "device", "dtype")}
    config |= {name: values[name] for name in PLAIN if values.get(name) is not None}
    more = settings_of(values)
    source |= {name: given for name, given in (("recipe_options", more.recipe), ("options", more.toy)) if given}
    config |= {"held_out": more.held_out} if more.held_out else {}
    loss = loss_of(values, more)
    config |= {"loss": loss} if loss else {}
    config |= config_of_more(values)
    if values["lora"]:
        config["lora"] = {"rank": values["lora_rank"] or 16, "alpha": values["lora_alpha"] or 32, "targets": "all-linear"}
    return config


def loss_of(values: dict[str, Any], more: Settings) -> dict[str, Any]:
    """Settings of `loss` in `config.json`: those of fields and those of lines."""
    given = {name: values[name] for name in FIELDS if values.get(name) is not None}
    return {name: None if value == OFF else value for name, value in given.items()} | more.loss


def fields_of(job: TrainingJob) -> dict[str, Any]:
    """Form values of a job like this one, without its base: the inverse of `config_from`."""
    config = job.config
    names = ("recipe", "steps", "seed", "save_every", "keep", "device", "dtype", *PLAIN)
    found = {name: config[name] for name in names if config.get(name) is not None}
    loss = {name: value for name, value in (config.get("loss") or {}).items() if name in FIELDS}
    found |= {name: "off" if value is None else value for name, value in loss.items()}
    lora = config.get("lora")
    if lora:
        found |= {"lora": True, "lora_rank": lora["rank"], "lora_alpha": lora["alpha"]}
    if job.rollouts:
        found |= {"source": ROLLOUTS, **fields_of_plan(plan_of(job.rollouts))}
    else:
        found["source"] = f"dataset:{job.dataset.pk}" if job.dataset is not None else f"toy:{job.toy}"
    found |= fields_of_more(config)
    return found | {"settings": lines_of(config), "demonstrations": bool(config["source"].get("demonstrations"))}


def settings_of(values: dict[str, Any]) -> Settings:
    """Settings from the lines of a form. Raises `ValidationError`."""
    toy = values["source"].removeprefix("toy:") if values["source"].startswith("toy:") else ""
    makes_rows = bool(toy) or values["source"] == ROLLOUTS
    learner = Learner(values["recipe"], toy, makes_rows, has_teacher=bool(toy and values["demonstrations"]))
    return settings_read(values.get("settings") or "", learner)


def learner_of(config: Mapping[str, Any]) -> Learner:
    """The job of a `config.json`, as its settings without a field need it."""
    source = config.get("source") or {}
    kind, shows = source.get("kind"), bool(source.get("demonstrations"))
    toy = str(source.get("toy", "")) if kind == "toy" else ""
    return Learner(config["recipe"], toy, kind in ("toy", "stream"), has_teacher=bool(toy and shows))


def form_of(job: TrainingJob, base: Base) -> dict[str, Any]:
    """Everything that a job's form needs to make the same job again."""
    defaults = {"save_every": 50, "keep": 2, "seed": 0, "device": "auto", "dtype": "auto"}
    return defaults | {"title": job.title, **fields_of(job), "base": base.value}
