"""What a job's producer is asked to do, and what it counts while it does it."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workers.learning.arrays import NotLearnable
from workers.learning.segments import Segments
from workers.recipes.registry import RECIPES
from workers.recipes.tallies import Tally, added


@dataclass(frozen=True)
class StreamOrder:
    """What a job's producer does. `sizes` are answers a group, by role, `""` for all others, 0: until it is closed; `options`
    go to the recipe."""

    recipe: str
    sizes: Mapping[str, int]
    options: Mapping[str, Any] = field(default_factory=dict)
    most_lag: int | None = None
    tokenizer: str | None = None
    segments: Segments = field(default_factory=Segments)

    def size(self, role: str) -> int:
        """The answers of a group of this role. Raises `NotLearnable` where none is given."""
        found = self.sizes.get(role, self.sizes.get("", -1))
        if found < 0:
            raise NotLearnable(f"How many answers a group of the role “{role}” has was not said.")
        return found


def order_of(
    job: Path, *, sizes: Mapping[str, int] | None = None, options: Mapping[str, Any] | None = None, **more: Any
) -> StreamOrder:
    """As the job's `config.json` has it, with `options` over its own; sizes as the recipe's paper.

    Raises `NotLearnable` where the job reads no stream.
    """
    config = json.loads((job / "config.json").read_text(encoding="utf-8"))
    if config["source"].get("kind") != "stream":
        raise NotLearnable(f"The job in {job.name}/ reads no stream: its source is “{config['source'].get('kind')}”.")
    training = RECIPES[config["recipe"]].training
    group = training.rollouts.group if training.rollouts else 1
    lag = config.get("most_lag")
    return StreamOrder(
        recipe=config["recipe"],
        sizes=sizes or {"": group},
        options={**config["source"].get("recipe_options", {}), **(options or {})},
        most_lag=training.most_lag if lag is None else lag,
        tokenizer=config.get("dataset", {}).get("tokenizer"),
        **more,
    )


@dataclass
class StreamCounts:
    """Groups: `complete` were written, `silent` teach nothing, `unfinished` were left when the stream ended. Rows: `dropped`
    for their lag. `truncated` answers came to their cap, `late` ones after their group had gone. `told`: what all groups tell
    beside their rewards, as sums with their counts. `quiet`: visits of problems that taught nothing since one last did."""

    complete: int = 0
    silent: int = 0
    unfinished: int = 0
    rows: int = 0
    dropped: int = 0
    truncated: int = 0
    late: int = 0
    roles: Counter[str] = field(default_factory=Counter)
    told: Tally = field(default_factory=dict)
    quiet: int = 0

    def take(self, role: str, about: Mapping[str, Any]) -> None:
        """A group that was handed over, as its shard's metadata has it."""
        self.quiet = 0
        self.complete += about["rows"] > 0
        self.rows += about["rows"]
        self.dropped += about["dropped"]
        self.truncated += about["truncated"]
        self.roles[role or "trajectories"] += about["rows"]
        self.told = added(self.told, about.get("told", {}))

    def take_silent(self, told: Tally, quiet: int) -> None:
        """A group that teaches nothing, and the quiet visits so far."""
        self.silent += 1
        self.quiet = quiet
        self.told = added(self.told, told)
