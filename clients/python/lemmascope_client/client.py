"""The entry: problems, runs and experiments of one installation."""

import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import httpx

from lemmascope_client.comparison import Comparison
from lemmascope_client.experiments import Experiment
from lemmascope_client.frames import frame
from lemmascope_client.runs import Run
from lemmascope_client.transport import Transport

if TYPE_CHECKING:
    import pandas

COMPARED = (
    "run", "title", "scaffold", "preset", "status", "accepted", "lemmas", "verified", "rejected", "calls", "prompt_tokens",
    "completion_tokens", "inherited_calls",
)  # fmt: skip


class Client:
    """A connection to an installation with a token of your profile page.

    `url` and `token` default to the environment variables LEMMASCOPE_URL and LEMMASCOPE_TOKEN. Starting and steering need a
    token that may write. Use it as a context manager, or call `close`.
    """

    def __init__(
        self, url: str = "", token: str = "", *, timeout_s: float = 30.0, transport: httpx.BaseTransport | None = None
    ) -> None:
        url = url or os.environ.get("LEMMASCOPE_URL", "http://127.0.0.1:8000")
        token = token or os.environ.get("LEMMASCOPE_TOKEN", "")
        if not token:
            raise ValueError("Pass a token, or set LEMMASCOPE_TOKEN. Your profile page creates tokens.")
        self._transport = Transport(url, token, timeout_s, transport)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    # --- problems ---

    def problems(self, q: str = "", *, topic: str = "") -> Iterator[dict[str, Any]]:
        """Problems by title, with all words of `q`; `topic`: A, C, G, N or O."""
        return self._items("problems", {"q": q, "topic": topic})

    def problem(self, slug: str) -> dict[str, Any]:
        """The newest statement of a problem; for those who may read them also answer, scheme and solutions."""
        found: dict[str, Any] = self._transport.get(f"problems/{slug}")
        return found

    # --- runs ---

    def start(
        self,
        problem: str,
        *,
        scaffold: str,
        preset: str = "",
        model: str = "",
        roles: Mapping[str, str] | None = None,
        params: Mapping[str, Any] | None = None,
        budget: Mapping[str, float] | None = None,
        seed: int | None = None,
        confirm: bool = False,
        **sampling: Any,
    ) -> Run:
        """Start a run on the problem with this slug.

        `model`: alias for all roles that `roles` does not name. `params`: parameters that differ from the preset. `budget`:
        limits of `tokens`, `calls` and `seconds`. `confirm`: start it even if it may make more than 5,000 calls. `sampling`:
        `max_new_tokens`, `temperature`, `capture`. Raises `Invalid` for a wrong field.
        """
        body = {
            "problem": problem, "scaffold": scaffold, "preset": preset, "model": model, "roles": dict(roles or {}),
            "params": dict(params or {}), "budget": dict(budget) if budget else None, "seed": seed, "confirm": confirm,
        }  # fmt: skip
        return Run(self._transport, self._transport.post("runs", body | sampling))

    def run(self, run_id: str) -> Run:
        """A run by its identifier. Raises `NotFound`."""
        return Run(self._transport, self._transport.get(f"runs/{run_id}"))

    def runs(
        self,
        q: str = "",
        *,
        status: str = "",
        outcome: str = "",
        scaffold: str = "",
        topic: str = "",
        problem: str = "",
        model: str = "",
        owner: str = "",
        tag: str = "",
        since: date | str = "",
        until: date | str = "",
        sort: str = "",
    ) -> Iterator[dict[str, Any]]:
        """Rows of runs, newest first or by the column `sort` (with a minus, descending), as `RunRow`."""
        filters = {
            "q": q, "status": status, "outcome": outcome, "scaffold": scaffold, "topic": topic, "problem": problem,
            "model": model, "owner": owner, "tag": tag, "since": since, "until": until, "sort": sort,
        }  # fmt: skip
        return self._items("runs", {name: str(value) for name, value in filters.items() if value})

    def compare(self, runs: Iterable[Run | str]) -> "pandas.DataFrame":
        """A data frame with a row for each run: outcome, lemmas by status, calls and tokens."""
        found = (run.refresh() if isinstance(run, Run) else self.run(run) for run in runs)
        return frame((_compared(run) for run in found), COMPARED).set_index("run")

    def comparison(self, runs: Iterable[Run | str]) -> Comparison:
        """Two to four runs of one problem side by side: common lemmas, those of one run, verdicts that disagree, costs."""
        return Comparison(self._transport, [run.id if isinstance(run, Run) else run for run in runs])

    # --- experiments ---

    def start_experiment(self, manifest: Mapping[str, Any] | Path, *, planned: bool = False) -> Experiment:
        """Start an experiment on solving. `manifest`: its values, or the path of a TOML file (docs/solving_experiments.md).

        `planned`: only create it; `Experiment.start` begins it.
        """
        values = tomllib.loads(manifest.read_text(encoding="utf-8")) if isinstance(manifest, Path) else manifest
        body = {"manifest": _plain(values), "planned": planned}
        return Experiment(self._transport, self._transport.post("experiments", body))

    def experiment(self, experiment_id: str) -> Experiment:
        """An experiment by its identifier. Raises `NotFound`."""
        return Experiment(self._transport, self._transport.get(f"experiments/{experiment_id}"))

    def experiments(self) -> Iterator[dict[str, Any]]:
        """Rows of experiments, newest first."""
        return self._items("experiments", {})

    def _items(self, path: str, params: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        page, pages = 1, 1
        while page <= pages:
            found = self._transport.get(path, {**params, "page": page})
            yield from found["items"]
            page, pages = page + 1, found["pages"]


def _compared(run: Run) -> dict[str, Any]:
    statuses = [lemma["status"] for lemma in run.lemmas()]
    return {
        **{name: run.data[name] for name in COMPARED if name in run.data},
        "run": run.id,
        "accepted": (run.outcome or {}).get("accepted"),
        "lemmas": len(statuses),
        "verified": statuses.count("verified"),
        "rejected": statuses.count("rejected"),
    }


def _plain(values: Any) -> Any:
    """Values of TOML as JSON: dates become text."""
    if isinstance(values, Mapping):
        return {name: _plain(value) for name, value in values.items()}
    if isinstance(values, list | tuple):
        return [_plain(value) for value in values]
    return values.isoformat() if hasattr(values, "isoformat") else values
