"""`python -m benchmarks [NAME …] [--quick] [--json FILE]`: measure, print a table, and write docs/benchmarks*.md.

The benchmarks run one after the other, each in its own process. Benchmarks that are not named keep their last figures.
`--quick` does less work and writes no document.
"""

import argparse
import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.figures import Figure, Skipped
from benchmarks.reports import report

#: Name → module with `figures(quick) -> list[Figure]`, and title.
BENCHMARKS = {
    "journal": ("benchmarks.journal", "The durable journal alone"),
    "orchestration": ("benchmarks.orchestration", "A call without its model: orchestrator, broker, worker, journal"),
    "engine": ("benchmarks.engines.throughput", "The engine alone and through the whole stack, SmolLM2 on OpenVINO"),
    "engine_vllm": (
        "benchmarks.engines.throughput_vllm",
        "The engine alone and through the whole stack, SmolLM2 on vLLM's CPU build",
    ),
    "contest": ("benchmarks.contest.contest", "A simulated contest run: four workers, an orchestrator killed half-way"),
    "fairness": ("benchmarks.contest.fairness", "Urgent calls while a contest run fills the workers"),
    "closing": ("benchmarks.closing", "A closing by grammar: the time of a call with and without it"),
    "prefix": ("benchmarks.engines.prefix", "Votes on lemmas share a long prompt: the gain of prefix caching"),
    "fanout": ("benchmarks.pages.fanout", "A text streamed to 20, 100 and 300 viewers: here, group_send, Chainlit, Gradio"),
    "latency": ("benchmarks.pages.latency", "From the worker to the screen"),
    "main_thread": ("benchmarks.pages.main_thread", "The page while sixteen agents write"),
    "startup": ("benchmarks.startup", "The second start"),
    "clean": ("benchmarks.clean", "From a clean clone to the first token of SmolLM2, downloads included"),
    "scaffolds": ("benchmarks.scaffolds", "Every scaffold without its models"),
    "sandbox": ("benchmarks.sandbox", "Code that models write, behind the fence of this machine"),
    "proofs": ("benchmarks.mathcheck.proofs", "The formula check on random claims: no wrong proof, no wrong refutation"),
    "fuzz": ("benchmarks.mathcheck.fuzz", "The formula check on random formulas and random text: no crash, no hang"),
    "formulas": ("benchmarks.mathcheck.formulas", "The formula check: equal findings on a busy machine, and long texts"),
    "lemma_search": ("benchmarks.pages.lemma_search", "A search over the lemmas of all runs"),
    "graph": ("benchmarks.pages.graph", "The lemma graph in the browser"),
    "graph_layout": ("benchmarks.pages.layout", "The layout of the lemma graph next to plain Graphviz"),
    "live_pages": ("benchmarks.pages.live_pages", "Pages of a run while lemmas arrive"),
    "comparing": ("benchmarks.pages.comparing", "Four runs side by side: server time"),
    "marking_office": ("benchmarks.contest.marking_office", "A scheme changed after 5,000 marks, a list of 10,000 papers"),
    "marking": ("benchmarks.contest.marking", "Marking: seal to next script, lists, ten markers at once"),
    "claims": ("benchmarks.contest.claims", "Fifty markers claim 10,000 scripts at once, on PostgreSQL"),
    "scans": ("benchmarks.contest.scans", "A box of 1,800 scanned pages: codes, places, time and memory"),
    "handwriting": ("benchmarks.pages.handwriting", "A marker's browser: the next scanned page"),
    "marking_browser": (
        "benchmarks.pages.marking_browser",
        "A marker's browser: seal to a readable next script, 20 kB typeset",
    ),
    "first_load": ("benchmarks.pages.first_load", "A phone on slow 3G: the editor's first load"),
    "reading": ("benchmarks.reading", "Recorded answers of real models, read again and compared with labels made by hand"),
    "grading": ("benchmarks.grading", "An experiment: 1,000 scripts by one grader, without its model"),
    "agreement": ("benchmarks.agreement", "The statistics of an agreement page"),
    "coverage": ("benchmarks.coverage", "Coverage of agreement intervals with few problems"),
    "experiment_coverage": ("benchmarks.experiments.coverage", "Coverage of the intervals of experiments"),
    "experiment_claims": ("benchmarks.experiments.claims", "How often “A is better” is said of equal methods"),
    "experiment_cells": ("benchmarks.experiments.cells", "An experiment of 10,000 cells with simulated agents"),
    "rehearsal": ("benchmarks.experiments.rehearsal", "A rehearsal of twelve methods without a model"),
    "datasets": ("benchmarks.learning.datasets", "The export of 100,000 rows for learning"),
    "two_sides": ("benchmarks.learning.two_sides", "Log-probabilities of the engine and of the trainer, of the same tokens"),
    "rollouts": ("benchmarks.learning.rollouts", "A training job with 1,024 of its own runs under way"),
    "training_page": ("benchmarks.pages.training_page", "The curves of a training job, 50,000 points each"),
    "sign_in": ("benchmarks.pages.sign_in", "Twenty simultaneous sign-ins under invented names"),
    "formula_check": ("benchmarks.pages.formula_check", "The formula check while a student writes"),
    "autosave": ("benchmarks.pages.autosave", "500 students write at once: the time until a draft is saved"),
    "run_list": ("benchmarks.pages.run_list", "The list of 10,000 runs: sorts, filters and pages"),
    "agreement_page": ("benchmarks.pages.agreement_page", "The agreement page: server time over 10,000 pairs"),
    "hint_leaks": ("benchmarks.feedback.hint_leaks", "The leak test over the hints of the sample library"),
}
WITHIN_S = 3600


def main() -> int:
    """Run the named benchmarks. Returns 1 if one broke or missed its target."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"benchmarks to run (default: all): {', '.join(BENCHMARKS)}")
    parser.add_argument("--quick", action="store_true", help="do less work and leave docs/benchmarks.md unchanged")
    parser.add_argument("--json", type=Path, help="file to write the figures to")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    unknown = [name for name in chosen.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; choose from {', '.join(BENCHMARKS)}")
    if chosen.child:
        print(json.dumps(_measure(chosen.names[0], chosen.quick)))
        return 0
    results: dict[str, dict[str, Any]] = {}
    for name in chosen.names or BENCHMARKS:
        results[name] = _in_a_process(name, chosen.quick)
        _show(name, results[name])
        if not chosen.quick:
            report.keep({name: results[name]}, {known: title for known, (_, title) in BENCHMARKS.items()})
    if chosen.json:
        chosen.json.write_text(json.dumps({"machine": report.machine(), "results": results}, indent=2) + "\n")
    return int(any(_is_bad(result) for result in results.values()))


def _measure(name: str, quick: bool) -> dict[str, Any]:
    try:
        found: list[Figure] = importlib.import_module(BENCHMARKS[name][0]).figures(quick)
    except Skipped as reason:
        return {"skipped": str(reason)}
    return {"figures": [figure.as_json() for figure in found]}


def _in_a_process(name: str, quick: bool) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks", name, "--child", *(["--quick"] if quick else [])]
    others = report.BusyMeter()
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=WITHIN_S, check=False)
    except subprocess.TimeoutExpired:
        return {"broken": f"did not finish within {WITHIN_S} s"}
    lines = done.stdout.splitlines()
    if done.returncode or not lines:
        return {"broken": f"ended with code {done.returncode}"}
    found: dict[str, Any] = json.loads(lines[-1])
    return found | {"others": others.share(), "at": report.today()}


def _show(name: str, result: dict[str, Any]) -> None:
    console = Console()
    if "figures" not in result:
        console.print(f"[bold]{name}[/]: {result.get('skipped') or result['broken']}")
        return
    table = Table("figure", "value", "target", "met", title=f"{name}: {BENCHMARKS[name][1]}", title_justify="left")
    for row in result["figures"]:
        table.add_row(*Figure.from_json(row).row())
    console.print(table)
    console.print(f"Other programs used {result['others']:.0%} of the processor meanwhile.\n")


def _is_bad(result: dict[str, Any]) -> bool:
    return "broken" in result or any(Figure.from_json(row).is_met is False for row in result.get("figures", ()))


if __name__ == "__main__":
    sys.exit(main())
