"""`python -m apps.recipes.rows.following --job DIR --feed FILE --tokens DIR`: turn a growing feed into a stream.

A feed grows by lines of JSON (docs/datasets.md); a line without a newline is incomplete. After a restart the program reads
from the start and writes nothing twice. Exit status 0: the feed ended; 3: stopped; 1: rejected, with the reason in
`stream.json`, or only on standard error where another producer owns the job's folder.
"""

import argparse
import json
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any

from apps.recipes.mathematics.arrays import NotLearnable
from apps.recipes.mathematics.segments import Segments
from apps.recipes.rows.pieces import Piece
from apps.recipes.rows.reading import problem_read
from apps.recipes.rows.stream_order import order_of
from apps.recipes.rows.streaming import Producer
from apps.recipes.rows.tokens import Shards

POLL_EVERY_S = 0.2
REPORT_EVERY_S = 0.5
STOPPED = 3


@dataclass
class Stop:
    """Flag set by a signal to stop."""

    asked: bool = False

    def ask(self, number: int = 0, frame: FrameType | None = None) -> None:
        """Handle a signal."""
        self.asked = True


def lines_of(feed: Path, job: Path, stop: Stop) -> Iterator[dict[str, Any]]:
    """Complete lines of a growing file, until `stop` or the end of the job's trainer."""
    while not feed.exists() and not _has_ended(job, stop):
        time.sleep(POLL_EVERY_S)
    if not feed.exists():
        return
    rest = b""
    with feed.open("rb") as file:
        while not stop.asked:
            got = file.readline()
            rest += got
            if rest.endswith(b"\n"):
                yield _line(rest)
                rest = b""
            elif not got:
                if _has_ended(job, stop):
                    return
                time.sleep(POLL_EVERY_S)


def _line(data: bytes) -> dict[str, Any]:
    try:
        found = json.loads(data)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise NotLearnable(f"A line of the feed is not a JSON object: {data[:80].decode(errors='replace').strip()}")
    return found


def follow(producer: Producer, lines: Iterator[dict[str, Any]], tokens: Path, *, form: str = "logodds") -> bool:
    """Feed all lines to the producer; return whether the feed ended. Raises `NotLearnable` (`Leak`, `BrokenShard`)."""
    shards, benchmarks, reported_at = Shards(tokens), frozenset[str](), 0.0
    for line in lines:
        if line.get("end"):
            producer.end()
            return True
        if "benchmarks" in line:
            benchmarks |= frozenset(line["benchmarks"])
        elif "close" in line:
            producer.close_problem(line["close"], visit=line.get("visit", ""), under=line.get("under", ""))
        else:
            if line.get("trajectories") == []:
                continue  # A run that gives no rows; a closing line follows.
            try:
                _take(producer, line, shards, benchmarks, form)
            except KeyError as missing:
                raise NotLearnable(f"A line of the feed has no {missing}.") from missing
        if time.monotonic() - reported_at >= REPORT_EVERY_S:
            reported_at = time.monotonic()
            producer.write_status("running")
    return False


def _take(producer: Producer, line: dict[str, Any], shards: Shards, benchmarks: frozenset[str], form: str) -> None:
    problem = problem_read(line, shards, benchmarks, form)
    if not problem.has_tokens:
        raise NotLearnable(f"{problem.title}: only texts were recorded, but a stream needs tokens.")
    where = {"visit": line.get("visit", ""), "tokenizer": line.get("tokenizer")}
    for plain, one in zip(line["trajectories"], problem.trajectories, strict=True):
        if all("piece" not in turn for turn in plain["turns"]):
            producer.take(one, finished=plain.get("finished", True), first=plain.get("first", 0), **where)
            continue
        for place, (given, turn) in enumerate(zip(plain["turns"], one.turns, strict=True), plain.get("first", 0)):
            bare = replace(one, turns=())
            producer.take_piece(Piece(bare, turn, given["piece"], given["finished"], given.get("place", place)), **where)


def _has_ended(job: Path, stop: Stop) -> bool:
    try:
        state = json.loads((job / "state.json").read_text(encoding="utf-8"))["state"]
    except (OSError, ValueError, KeyError):
        state = ""
    return stop.asked or state in ("finished", "failed")


def _sizes(given: list[str]) -> dict[str, int]:
    return {role: int(size) for role, _, size in (one.rpartition("=") for one in given)}


def main(given: list[str], stop: Stop) -> int:
    """Run the program and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m apps.recipes.rows.following")
    parser.add_argument("--job", type=Path, required=True)
    parser.add_argument("--feed", type=Path, required=True)
    parser.add_argument("--tokens", type=Path, required=True, help="folder of token shards")
    parser.add_argument(
        "--group",
        action="append",
        default=[],
        metavar="[ROLE=]N",
        help="answers per group; 0: until the group is closed (default: as in the paper)",
    )
    parser.add_argument("--segments", type=int, nargs=2, metavar=("TOKENS", "MOST"), default=(16_384, 4))
    parser.add_argument("--options", type=json.loads, default={}, help="options of the recipe, as JSON")
    arguments = parser.parse_args(given)
    try:
        segments = Segments(*arguments.segments)
        order = order_of(arguments.job, sizes=_sizes(arguments.group), options=arguments.options, segments=segments)
        with Producer(arguments.job, order) as producer:
            lines = lines_of(arguments.feed, arguments.job, stop)
            ended = follow(producer, lines, arguments.tokens, form=order.options.get("form", "logodds"))
    except (NotLearnable, OSError) as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    return 0 if ended else STOPPED


if __name__ == "__main__":
    asked = Stop()
    for one in (signal.SIGTERM, signal.SIGINT):
        signal.signal(one, asked.ask)
    sys.exit(main(sys.argv[1:], asked))
