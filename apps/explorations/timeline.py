"""The round timeline: progress of reasoning, summarising and verifying, and surviving lemmas, by rollout and round."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, Q, Sum

from apps.explorations.words import role_word, round_title
from apps.lemmas.models import Lemma
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.story.course import Course, Place
from apps.runs.models import Run
from apps.runs.selectors import phase_summary, run_story

MOST_ROWS = 8
FINAL_ROLES = ("writer", "process_verifier", "reviser")
#: The role whose calls count rounds of the knock-out, not of the search.
KNOCK_OUT_ROLE = "judge"
_ORDER = tuple(dict.fromkeys(("solver", *(role.name for scaffold in SCAFFOLDS.values() for role in scaffold.roles))))


@dataclass
class Bar:
    """Calls of one role in one cell: recorded, failed and running; for verifiers also the number of requested votes.

    `inherited` of the recorded calls were taken over from the parent run.
    """

    role: str
    done: int = 0
    failed: int = 0
    inherited: int = 0
    running: int = 0
    tokens: int = 0
    seconds: float = 0.0
    votes: int = 0
    votes_of: int = 0

    @property
    def word(self) -> str:
        return role_word(self.role)

    @property
    def total(self) -> int:
        return max(self.votes_of, self.done + self.running)

    @property
    def share(self) -> float:
        return self.done / self.total if self.total else 0.0

    @property
    def state(self) -> str:
        """running, done, or failed if every call failed."""
        if self.running or self.done < self.total:
            return "running"
        return "failed" if self.failed and self.failed == self.done else "done"


@dataclass
class Cell:
    """One rollout in one round (all rollouts in a run with many). `survived` is None until the round has ended.

    `place` selects its calls in a replay: `0/3`, `*/3` for all rollouts, `last` for the phases after the rounds.
    """

    bars: list[Bar] = field(default_factory=list)
    place: str = ""
    lemmas: int = 0
    verified: int = 0
    proposed: int | None = None
    survived: int | None = None
    stop: str = ""


@dataclass(frozen=True)
class Row:
    title: str
    cells: list[Cell]


@dataclass(frozen=True)
class Step:
    """One column in the strip above the graph. `place` is its round, or its title after the rounds; `words` say how many lemmas
    hold, without merged ones. `bars` are the ids of its bars in the table.
    """

    title: str
    place: str
    done: int
    total: int
    running: int
    words: str = ""
    bars: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        return self.done / self.total if self.total else 0.0


@dataclass(frozen=True)
class Timeline:
    """Columns are rounds, then the knock-out and the proof; more than `MOST_ROWS` rollouts become one row of sums."""

    columns: list[str]
    rounds: list[int]
    rows: list[Row]
    knock_out: Cell
    proof: Cell
    rollouts: int

    @property
    def titles(self) -> list[tuple[int, str]]:
        """Number and title of each round."""
        return list(zip(self.rounds, self.columns, strict=True))

    @property
    def last_cells(self) -> list[tuple[str, Cell]]:
        """Cells after the rounds, with titles."""
        return [(title, cell) for title, cell in (("Knock-out", self.knock_out), ("Proof", self.proof)) if cell.bars]

    @property
    def steps(self) -> list[Step]:
        """The columns in short, with the calls of all rollouts together."""
        columns = [[row.cells[at] for row in self.rows] for at in range(len(self.rounds))]
        rounds = [_step(title, str(round_), cells) for (round_, title), cells in zip(self.titles, columns, strict=True)]
        return [*rounds, *(_step(title, title, [cell]) for title, cell in self.last_cells)]

    @property
    def is_empty(self) -> bool:
        return not self.rows and not self.last_cells


def _step(title: str, place: str, cells: list[Cell]) -> Step:
    bars = [bar for cell in cells for bar in cell.bars]
    done, running = sum(bar.done for bar in bars), sum(bar.running for bar in bars)
    lemmas, holding = sum(cell.lemmas for cell in cells), sum(cell.verified for cell in cells)
    return Step(
        title, place, done, sum(bar.total for bar in bars), running,
        words=f"{holding} of {lemmas} hold" if lemmas else "",
        bars=tuple(f"{cell.place}/{bar.role}" for cell in cells for bar in cell.bars),
    )  # fmt: skip


def timeline(run: Run, open_calls: list[dict[str, Any]]) -> Timeline:
    """The timeline of `run`, with three grouped queries."""
    bars: dict[Place, dict[str, Bar]] = defaultdict(dict)
    knock_out: dict[str, Bar] = {}
    proof: dict[str, Bar] = {}

    def bar_of(row: dict[str, Any]) -> Bar:
        role = row["role"]
        last = {**dict.fromkeys(FINAL_ROLES, proof), KNOCK_OUT_ROLE: knock_out}.get(role)
        return (bars[row["rollout"], row["round"]] if last is None else last).setdefault(role, Bar(role))

    for phase in phase_summary(run):
        bar = bar_of(phase)
        bar.done += phase["calls"]
        bar.failed += phase["failed"]
        bar.inherited += phase["inherited"]
        bar.tokens += phase["completion"] or 0
        bar.seconds += phase["seconds"] or 0.0
    for call in open_calls:
        bar_of(call).running += 1
    course = run_story(run, Course.ROUNDS).course
    order = _order_of(run.scaffold)
    cells = {
        place: Cell(_ordered(bars.get(place, {}), order), f"{place[0]}/{place[1]}")
        for place in {*bars, *course.began, *course.ended}
    }
    for place, ended in course.ended.items():
        cell = cells[place]
        cell.proposed, cell.survived, cell.stop = ended.proposed, ended.survived, ended.stop
    _add_lemmas(run, cells)
    rollouts = sorted({rollout for rollout, _ in cells})
    rounds = sorted({round_ for _, round_ in cells})
    return Timeline(
        columns=[round_title(run, round_) for round_ in rounds],
        rounds=rounds,
        rows=_rows(cells, rollouts, rounds, order),
        knock_out=Cell(_ordered(knock_out, order), "last"),
        proof=Cell(_ordered(proof, order), "last"),
        rollouts=len(rollouts),
    )


def _order_of(scaffold: str) -> tuple[str, ...]:
    """The scaffold's roles in its order, then all others."""
    own = SCAFFOLDS[scaffold].roles if scaffold in SCAFFOLDS else ()
    return tuple(dict.fromkeys((*(role.name for role in own), *_ORDER)))


def _ordered(bars: dict[str, Bar], order: tuple[str, ...]) -> list[Bar]:
    return sorted(bars.values(), key=lambda bar: order.index(bar.role) if bar.role in order else len(order))


def _add_lemmas(run: Run, cells: dict[Place, Cell]) -> None:
    counts = (
        Lemma.objects.filter(run=run)
        .values("rollout", "round")
        .annotate(
            n=Count("pk", filter=~Q(status="merged")),
            holding=Count("pk", filter=Q(status="verified")),
            votes=Sum("total"),
            votes_of=Sum("expected"),
        )
        .order_by("rollout", "round")
    )
    for row in counts:
        cell = cells.get((row["rollout"], row["round"]))
        if cell is None:
            continue
        cell.lemmas, cell.verified = row["n"], row["holding"]
        for bar in cell.bars:
            if bar.role == "theorem_verifier":
                bar.votes, bar.votes_of = row["votes"], row["votes_of"]


def _rows(cells: dict[Place, Cell], rollouts: list[int], rounds: list[int], order: tuple[str, ...]) -> list[Row]:
    if not rollouts:
        return []
    if len(rollouts) <= MOST_ROWS:
        titles = {rollout: f"Rollout {rollout}" if len(rollouts) > 1 else "" for rollout in rollouts}
        return [Row(titles[rollout], [cells.get((rollout, round_), Cell()) for round_ in rounds]) for rollout in rollouts]
    together = [
        _sum([cells[rollout, round_] for rollout in rollouts if (rollout, round_) in cells], f"*/{round_}", order)
        for round_ in rounds
    ]
    return [Row(f"All {len(rollouts)} rollouts", together)]


def _sum(cells: list[Cell], place: str, order: tuple[str, ...]) -> Cell:
    bars: dict[str, Bar] = {}
    whole = Cell(place=place)
    stops: Counter[str] = Counter()
    for cell in cells:
        for bar in cell.bars:
            into = bars.setdefault(bar.role, Bar(bar.role))
            for name in ("done", "failed", "inherited", "running", "tokens", "seconds", "votes", "votes_of"):
                setattr(into, name, getattr(into, name) + getattr(bar, name))
        whole.lemmas += cell.lemmas
        whole.verified += cell.verified
        if cell.survived is not None:
            whole.proposed = (whole.proposed or 0) + (cell.proposed or 0)
            whole.survived = (whole.survived or 0) + cell.survived
        if cell.stop:
            stops[cell.stop] += 1
    whole.bars = _ordered(bars, order)
    whole.stop = "; ".join(f"{count} stopped: {stop}" for stop, count in stops.most_common(2))
    return whole
