"""The formula check: equal findings in 200 plays, half of them on a busy machine, and texts that once took minutes.

`python -m benchmarks.mathcheck.formulas [PLAYS [BUSY]]` measures only the plays, with BUSY computing processes for each core in
the second half (default: 1; 0 if the machine is busy anyway). A play checks every lemma and proof of the worked example, as a
run does, and 50 texts of the seen corpus. All findings of a play are compared byte by byte with those of the first.
"""

import hashlib
import json
import multiprocessing
import os
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from statistics import median

from apps.explorations.worked_example.authored import read_lemmas, read_problem, read_proof
from apps.mathcheck.checking import check_text, warm
from apps.mathcheck.findings import REFUTED, STOPPED
from apps.mathcheck.parts import Part, check_parts
from benchmarks.figures import Figure

PLAYS, QUICK_PLAYS = 200, 4
#: Processes for each core that only compute. With more, two hundred plays take hours.
BUSY_PER_CORE = 1
SPACES, FRACTIONS = 50_000, 150
SEEN, SEEN_TEXTS = Path(__file__).resolve().parents[2] / "tests" / "mathcheck" / "seen" / "steps.toml", 50
AFTER = " And $2+2=5$."
WITHIN_S = 5.0

Play = tuple[str, int, float, int]
"""Digest of all findings, their number, seconds, and the number that the last guard stopped."""


def figures(quick: bool = False) -> list[Figure]:
    """Different findings over the plays, time per claim, and seconds of the two long texts."""
    found = both(QUICK_PLAYS if quick else PLAYS)
    texts = {
        f"{SPACES:,} spaces": "Let $n$" + " " * SPACES + f"be odd.{AFTER}",
        f"{FRACTIONS} nested fractions": "We have $" + r"\frac{1}{1+" * FRACTIONS + "1" + "}" * FRACTIONS + f"=2$.{AFTER}",
    }
    return [
        Figure(f"findings of {len(found)} plays that differ from the first", different(found), target=0),
        Figure("formulas that the last guard stopped, of all plays", sum(stopped for *_, stopped in found), target=0),
        Figure("time per claim, median of the plays", 1000 * median(seconds / claims for _, claims, seconds, _ in found), "ms"),
        *(Figure(name, _seconds(text), "s", target=WITHIN_S) for name, text in texts.items()),
    ]


def both(count: int, busy: int = BUSY_PER_CORE) -> list[Play]:
    """Half of the plays without other load, half of them with `busy` computing processes for each core."""
    return [*plays(count - count // 2, 0), *plays(count // 2, busy)]


def plays(count: int, busy: int = BUSY_PER_CORE) -> list[Play]:
    """Check all texts `count` times, in one process for each core, with `busy` computing processes for each core."""
    cores = os.cpu_count() or 2
    context = multiprocessing.get_context("spawn")
    with _busy(cores * busy), context.Pool(cores, initializer=warm) as pool:
        return list(pool.imap_unordered(_play, range(count)))


def different(found: list[Play]) -> int:
    """The number of plays with other findings than the first."""
    return sum(digest != found[0][0] for digest, *_ in found)


def _play(_number: int) -> Play:
    began, problem = time.perf_counter(), read_problem()[1]
    found = [finding.as_json() for parts in _texts() for finding in check_parts(parts, problem)]
    found += [finding.as_json() for text in _seen() for finding in check_text(text)]
    seconds = time.perf_counter() - began
    digest = hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()
    return digest, len(found), seconds, sum(one["outcome"] == STOPPED for one in found)


@cache
def _texts() -> list[list[Part]]:
    lemmas = [lemma for rollout in (0, 1) for round_ in (1, 2, 3) for lemma in read_lemmas(rollout, round_)[1]]
    texts = [[("statement", lemma.statement), *_steps(lemma.steps)] for lemma in lemmas]
    return [*texts, *(_steps(read_proof(number).steps) for number in (1, 2))]


@cache
def _seen() -> list[str]:
    corpus = tomllib.loads(SEEN.read_text(encoding="utf-8"))
    texts = [text.replace("«", "").replace("»", "") for text in (*corpus["true"], *corpus["false"])]
    return texts[:: len(texts) // SEEN_TEXTS][:SEEN_TEXTS]


def _steps(steps: tuple[str, ...]) -> list[Part]:
    return [(f"step {number}", text) for number, text in enumerate(steps, 1)]


@contextmanager
def _busy(count: int) -> Iterator[None]:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_compute, daemon=True) for _ in range(count)]
    for process in processes:
        process.start()
    try:
        yield
    finally:
        for process in processes:
            process.kill()


def _compute() -> None:
    while True:
        sum(number * number for number in range(10_000))


def _seconds(text: str) -> float:
    began = time.perf_counter()
    found = check_text(text)
    seconds = time.perf_counter() - began
    if found[-1].outcome != REFUTED:
        raise AssertionError(f"The last finding of the text was lost: {found[-1]}")
    return seconds


if __name__ == "__main__":
    result = both(*map(int, sys.argv[1:3] or [str(PLAYS)]))
    sys.stdout.write(
        f"{len(result)} plays, {result[0][1]} findings each: {different(result)} differ from the first; "
        f"{sum(stopped for *_, stopped in result)} stopped; "
        f"{1000 * median(seconds / claims for _, claims, seconds, _ in result):.1f} ms a claim\n"
    )
