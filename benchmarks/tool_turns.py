"""`python -m benchmarks.tool_turns ALIAS [--problem SLUG]…`: measure a model's use of tools in the turns of AlphaApollo.

Starts one run for each problem on the running stack (tools in its sandbox), waits for their end, and prints the rates as a
table. `--run ID` reads existing runs instead. Only turns in which tools may be used count: all but the last of a conversation.
"""

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.values import Unscored
from apps.reasoning.reading.turns.actions import read_action
from apps.reasoning.scaffolds.alpha_apollo.conversing import STOPS

ROOT = Path(__file__).resolve().parent.parent
EASY = ("handshakes", "odd-squares", "prime-before-a-square", "sum-of-odd-numbers")
LIVE = {"queued", "running", "paused"}
POLL_S = 15.0
TOOLS = ("python_code", "local_rag")
#: Beginnings of a call in models' texts: our blocks, Hermes' blocks, a fence, or JSON with arguments.
_TRIES = re.compile(
    r"<(?:python_code|local_rag|tool_call|tools)\b|^[ \t]*```[ \t]*i?py|\"(?:arguments|parameters)\"\s*:", re.I | re.M
)


@dataclass(frozen=True)
class Rates:
    """Counts of turns. `tried`: a call in the first answer; `well_formed`: one that can be made. `called`: a call was made,
    perhaps after a repeated request. `ran`: Python ran; `without_error`: to its end. `found`: the documentation had hits."""

    turns: int = 0
    tried: int = 0
    well_formed: int = 0
    as_function: int = 0
    called: int = 0
    ran: int = 0
    without_error: int = 0
    asked: int = 0
    found: int = 0

    def __add__(self, other: "Rates") -> "Rates":
        return Rates(*(getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__))

    @property
    def table(self) -> str:
        """The rates as a Markdown table."""
        rows = (
            ("turns whose first answer writes a call", self.tried, self.turns),
            ("of these calls, well-formed", self.well_formed, self.tried),
            ("of the well-formed, as a function's call", self.as_function, self.well_formed),
            ("turns that use a tool, asked once more where needed", self.called, self.turns),
            ("Python that ran without an error", self.without_error, self.ran),
            ("questions to the documentation that were answered", self.found, self.asked),
        )
        lines = (f"| {what} | {count} of {of} | {f'{count / of:.2f}' if of else '–'} |" for what, count, of in rows)
        return "\n".join(("| | count | share |", "|---|--:|--:|", *lines))


def rates(lines: Iterable[str]) -> Rates:
    """The rates of one run, from the lines of its export."""
    rows = [json.loads(line) for line in lines]
    first = {row["key"]: row for row in rows if row["type"] == "call"}
    taken = [row["body"] for row in rows if row["type"] == "event" and row["kind"] == "turn.taken"]
    return sum((_of(turn, first.get(_asked_first(turn["call"]))) for turn in taken if turn["turn"] < turn["of"]), Rates())


def _asked_first(call: str) -> str:
    return re.sub(r"/again(?:/in_words)?\Z", "", call)


def _of(turn: dict[str, Any], call: dict[str, Any] | None) -> Rates:
    text = call["text"] if call else ""
    action = read_action(Final(text=text, finish_reason=(call or {}).get("finish_reason") or "stop"), "answer", STOPS)
    well_formed = not isinstance(action, Unscored) and action.kind in TOOLS
    used, worked = turn["action"], bool(turn["succeeded"])
    return Rates(
        turns=1,
        tried=int(well_formed or _TRIES.search(text) is not None),
        well_formed=int(well_formed),
        as_function=int(well_formed and not isinstance(action, Unscored) and action.called),
        called=int(used in TOOLS),
        ran=int(used == "python_code"),
        without_error=int(used == "python_code" and worked),
        asked=int(used == "local_rag"),
        found=int(used == "local_rag" and worked),
    )


def main() -> None:
    """Start the runs, wait, count, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("alias", nargs="?", help="model of models.toml")
    parser.add_argument("--problem", action="append", default=[], help=f"problem to try (default: {', '.join(EASY)})")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="parameter of the scaffold")
    parser.add_argument("--max-new-tokens", type=int, default=500)
    parser.add_argument("--run", action="append", default=[], help="existing run to read; no model is called")
    given = parser.parse_args()
    if not given.alias and not given.run:
        parser.error("name a model of models.toml, or a run with --run")
    runs = given.run or [_started(given, problem) for problem in given.problem or EASY]
    print(f"{len(runs)} runs: {' '.join(runs)}", flush=True)
    while any(_status(run) in LIVE for run in runs):
        time.sleep(POLL_S)
    print(sum((rates(_manage("export_run", run).splitlines()) for run in runs), Rates()).table)


def _started(given: argparse.Namespace, problem: str) -> str:
    params: Sequence[str] = given.set or ("rounds=1", "stop_early=false")
    chosen = [part for one in params for part in ("--set", one)]
    return _manage(
        *("explore", problem, "--scaffold", "alpha_apollo", "--preset", "quick", "--alias", given.alias, *chosen),
        *("--max-new-tokens", str(given.max_new_tokens), "--yes", "--no-follow"),
    ).strip()


def _status(run: str) -> str:
    return str(json.loads(_manage("export_run", run, "--no-texts").partition("\n")[0])["status"])


def _manage(*words: str) -> str:
    done = subprocess.run([sys.executable, "manage.py", *words], cwd=ROOT, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr.strip() or f"manage.py {words[0]} failed.")
    return done.stdout


if __name__ == "__main__":
    main()
