"""Two to four runs of one problem side by side: outcomes, costs, common lemmas, and decisions of people on them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lemmascope_client.frames import frame
from lemmascope_client.transport import Transport

if TYPE_CHECKING:
    import pandas

#: The lists of lemmas: verdicts disagree, in several runs, only in one run.
LISTS = ("disagree", "same", "single")
_RUN = (
    "letter",
    "run",
    "title",
    "owner",
    "state",
    "reason",
    "scaffold",
    "seed",
    "rounds",
    "proof",
    "proposed",
    "votes",
    "taken_over",
)
_COST = ("calls", "tokens", "seconds", "money")
_LEMMA = ("letter", "run", "lemma", "statement", "state", "verdict", "confidence")


class Comparison:
    """A comparison on the server. `data` has the fields of `ComparisonOut` as of the last request; runs have letters A to D."""

    def __init__(self, transport: Transport, runs: Sequence[str]) -> None:
        self._transport = transport
        self._runs = list(runs)
        self.data: dict[str, Any] = {}
        self.refresh()

    def __repr__(self) -> str:
        counts = ", ".join(f"{name}: {len(self.data[name])}" for name in LISTS)
        return f"<Comparison of {len(self._runs)} runs on {self.data['problem']!r}: {counts}>"

    def refresh(self) -> "Comparison":
        """Read the comparison again."""
        self.data = self._transport.get("runs/compare", {"run": self._runs})
        return self

    def difference(self, before: str = "A", after: str = "B") -> dict[str, Any]:
        """What the run `after` has, lacks and judges differently than `before`, as one graph (docs/comparing.md)."""
        ids = [self._run_of(letter) for letter in (before, after)]
        found: dict[str, Any] = self._transport.get("runs/difference", {"run": ids})
        return found

    def runs_frame(self) -> "pandas.DataFrame":
        """One row a run: outcome, settings, and the cost of its own calls. Unknown amounts are missing, never 0."""
        rows = ({name: one[name] for name in _RUN} | {name: one["cost"][name] for name in _COST} for one in self.data["runs"])
        return frame(rows, (*_RUN, *_COST)).set_index("letter")

    def costs_frame(self) -> "pandas.DataFrame":
        """One row a run and role, with the cost of its calls."""
        rows = ({"letter": one["letter"], **cost} for one in self.data["runs"] for cost in one["costs"])
        return frame(rows, ("letter", "role", *_COST))

    def lemmas_frame(self) -> "pandas.DataFrame":
        """One row a lemma of a run. `row` numbers what says the same; `list` is disagree, same or single."""
        groups = [(name, row) for name in LISTS for row in self.data[name]]
        rows = (
            {"row": number, "list": name, "how": row["how"], **{field: one[field] for field in _LEMMA}}
            for number, (name, row) in enumerate(groups)
            for one in row["lemmas"]
        )
        return frame(rows, ("row", "list", "how", *_LEMMA))

    def join(self, *lemmas: str) -> list[dict[str, Any]]:
        """Decide that lemmas say the same, named by letter and id, such as `A/s0.1`. Needs runs that you may steer."""
        return self._decided("same", lemmas)

    def part(self, *lemmas: str) -> list[dict[str, Any]]:
        """Decide that lemmas differ, pair by pair."""
        return self._decided("differ", lemmas)

    def withdraw(self, decision: int) -> dict[str, Any]:
        """Delete a decision (its `id` in `data["decisions"]`): the computed comparison counts again."""
        answer: dict[str, Any] = self._transport.delete(f"lemma-pairs/{decision}")
        self.refresh()
        return answer

    def _decided(self, say: str, lemmas: Sequence[str]) -> list[dict[str, Any]]:
        named = [one.partition("/") for one in lemmas]
        body = {"say": say, "lemmas": [{"run": self._run_of(letter), "lemma": name} for letter, _, name in named]}
        decided: list[dict[str, Any]] = self._transport.post("lemma-pairs", body)["items"]
        self.refresh()
        return decided

    def _run_of(self, letter: str) -> str:
        runs: Mapping[str, str] = {one["letter"]: one["run"] for one in self.data["runs"]}
        if letter not in runs:
            raise ValueError(f"No run has the letter {letter!r}. Use one of {', '.join(runs)}, as in A/s0.1.")
        return runs[letter]
