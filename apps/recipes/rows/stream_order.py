"""Order of a job's producer, and the counts of its work."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from apps.recipes.mathematics.arrays import NotLearnable
from apps.recipes.mathematics.segments import Segments
from apps.recipes.registry import RECIPES
from apps.recipes.tallies import TALLY_KEY, Tally, added


@dataclass(frozen=True)
class StreamOrder:
    """Order of a job's producer.

    `sizes`: answers per group by role, `""` for all other roles; 0: until the group is closed. `options` are passed to the
    recipe.
    """

    recipe: str
    sizes: Mapping[str, int]
    options: Mapping[str, Any] = field(default_factory=dict)
    most_lag: int | None = None
    tokenizer: str | None = None
    segments: Segments = field(default_factory=Segments)

    def size(self, role: str) -> int:
        """Answers per group of this role. Raises `NotLearnable` where no size is given."""
        found = self.sizes.get(role, self.sizes.get("", -1))
        if found < 0:
            raise NotLearnable(f"No group size is given for the role “{role}”.")
        return found


def order_of(
    job: Path, *, sizes: Mapping[str, int] | None = None, options: Mapping[str, Any] | None = None, **more: Any
) -> StreamOrder:
    """Order from the job's `config.json`, overridden by `options`; default sizes from the recipe's paper.

    Raises `NotLearnable` where the job does not read a stream.
    """
    config = json.loads((job / "config.json").read_text(encoding="utf-8"))
    if config["source"].get("kind") != "stream":
        raise NotLearnable(f"The job in {job.name}/ does not read a stream: its source is “{config['source'].get('kind')}”.")
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
    """Counts of a stream.

    Groups: `complete` were written, `silent` have equal rewards, `unfinished` were incomplete at the end. Rows: `dropped` for
    their lag. Answers: `truncated` reached the cap, `late` ones came after their group. `quiet`: consecutive visits of problems
    without rows. `tally`: the tally of all groups.
    """

    complete: int = 0
    silent: int = 0
    unfinished: int = 0
    rows: int = 0
    dropped: int = 0
    truncated: int = 0
    late: int = 0
    roles: Counter[str] = field(default_factory=Counter)
    tally: Tally = field(default_factory=dict)
    quiet: int = 0

    def take(self, role: str, about: Mapping[str, Any]) -> None:
        """Count a written group by the metadata of its shard."""
        self.quiet = 0
        self.complete += about["rows"] > 0
        self.rows += about["rows"]
        self.dropped += about["dropped"]
        self.truncated += about["truncated"]
        self.roles[role or "trajectories"] += about["rows"]
        self.tally = added(self.tally, about.get(TALLY_KEY, {}))

    def take_silent(self, tally: Tally, quiet: int) -> None:
        """Count a silent group, and set the number of quiet visits."""
        self.silent += 1
        self.quiet = quiet
        self.tally = added(self.tally, tally)

    def as_json(self) -> dict[str, Any]:
        """Counts as JSON values."""
        values = dict(vars(self))
        values[TALLY_KEY] = values.pop("tally")
        return values
