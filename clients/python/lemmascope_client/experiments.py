"""One experiment: its state, commands, table, and the cells and scores of one on solving."""

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lemmascope_client.frames import frame
from lemmascope_client.transport import Transport

if TYPE_CHECKING:
    import pandas

POLL_S = 5.0


class Experiment:
    """An experiment on the server. `data` has the fields of `ExperimentOut` as of the last request."""

    def __init__(self, transport: Transport, data: Mapping[str, Any]) -> None:
        self._transport = transport
        self.data = dict(data)

    def __repr__(self) -> str:
        ended = f"{self.data['cells_ended']} of {self.data['cells']} cells ended"
        return f"<Experiment {self.id} {self.data['title']!r}: {self.state}, {ended}>"

    @property
    def id(self) -> str:
        """The identifier, as in the address of its page."""
        return str(self.data["id"])

    @property
    def state(self) -> str:
        """planned, running, paused, done or cancelled."""
        return str(self.data["state"])

    def refresh(self) -> "Experiment":
        """Read the experiment again."""
        self.data = self._transport.get(f"experiments/{self.id}")
        return self

    def wait(self, poll_s: float = POLL_S) -> "Experiment":
        """Wait while it runs, reading its state every `poll_s` seconds."""
        while self.refresh().state == "running":
            time.sleep(poll_s)
        return self

    def start(self) -> "Experiment":
        """Start a planned experiment."""
        return self._command("start")

    def pause(self) -> "Experiment":
        """Start no more cells; running ones end."""
        return self._command("pause")

    def resume(self) -> "Experiment":
        """Continue a paused experiment."""
        return self._command("resume")

    def cancel(self) -> "Experiment":
        """Cancel waiting cells and stop running ones."""
        return self._command("cancel")

    def retry(self) -> "Experiment":
        """Queue failed cells again."""
        return self._command("retry")

    def cells(self) -> Iterator[dict[str, Any]]:
        """The cells, with the columns of `cells.csv` (docs/experiment_files.md)."""
        return self._rows("cells")

    def scores(self) -> Iterator[dict[str, Any]]:
        """The scores of answers, with the columns of `scores.csv`. An unscored answer has no share, never 0."""
        return self._rows("scores")

    def table(self, scorer: str = "") -> dict[str, Any]:
        """The table by a scorer (default: the first), as `TableOut`."""
        found: dict[str, Any] = self._transport.get(f"experiments/{self.id}/table", {"scorer": scorer})
        return found

    def cells_frame(self) -> "pandas.DataFrame":
        """One row a cell."""
        return frame(self.cells())

    def scores_frame(self) -> "pandas.DataFrame":
        """One row a score of an answer."""
        return frame(self.scores())

    def table_frame(self, scorer: str = "") -> "pandas.DataFrame":
        """One row a method with its team and budget."""
        return frame(self.table(scorer)["rows"])

    def _command(self, name: str) -> "Experiment":
        self.data = self._transport.post(f"experiments/{self.id}/commands", {"name": name})
        return self

    def _rows(self, name: str) -> Iterator[dict[str, Any]]:
        since: int | None = 0
        while since is not None:
            page = self._transport.get(f"experiments/{self.id}/{name}", {"since": since})
            yield from page["items"]
            since = page["next"]
