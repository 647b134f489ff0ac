"""`manage.py check_math FILE`: run the computational verifier on a text, in a process with time limits."""

import json
import subprocess
import sys
from argparse import ArgumentParser
from io import StringIO
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.table import Table

SIZE_LIMIT = 1_000_000
STYLES = {"proved": "bold green", "refuted": "bold red", "survived": "green", "not_understood": "dim", "stopped": "yellow"}
#: The limit counts processor time, which can take several times as long on a busy machine.
WALL_FACTOR, START_UP_SECONDS = 5, 20


class Command(BaseCommand):
    """Print the findings of the verifier for a file, or for standard input if FILE is "-"."""

    help = "Check the formulas of a text (Markdown with TeX): proved, refuted at a point, survived tests, or not understood."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", help='a text file, or "-" for standard input')
        parser.add_argument("--assume", action="append", default=[], help='an assumption, such as "a, b are positive integers"')
        parser.add_argument(
            "--seconds", type=float, default=120.0, help="last guard on the text, in seconds of processor time (120)"
        )
        parser.add_argument("--kernel", action="store_true", help="also let Coq check each formula (docs/mathcheck_kernel.md)")
        parser.add_argument("--kernel-files", type=Path, metavar="DIR", help="keep the files that Coq checked in this folder")
        parser.add_argument("--json", action="store_true", help="print the findings as JSON")
        parser.add_argument("--all", action="store_true", help="also show formulas that were not understood")

    def handle(self, *args: Any, **options: Any) -> None:
        text = _read(options["file"])
        findings = _findings(text, options["assume"], options["seconds"])
        if options["kernel"] or options["kernel_files"]:
            _ask_kernel(text, options["assume"], findings, options["kernel_files"])
        if options["json"]:
            self.stdout.write(json.dumps(findings, ensure_ascii=False, indent=2))
            return
        written = StringIO()
        console = Console(file=written, force_terminal=self.stdout.isatty(), width=None if self.stdout.isatty() else 140)
        shown = [finding for finding in findings if options["all"] or finding["outcome"] != "not_understood"]
        if shown:
            console.print(_table(text, shown))
        if options["kernel"] or options["kernel_files"]:
            console.print(_kernel_table(text, shown))
        console.print(_summary(findings))
        self.stdout.write(written.getvalue(), ending="")


def _read(name: str) -> str:
    try:
        text = sys.stdin.read(SIZE_LIMIT + 1) if name == "-" else Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{name} cannot be read: {error}") from error
    if len(text) > SIZE_LIMIT:
        raise CommandError(f"{name} is longer than {SIZE_LIMIT:,} characters.")
    return text


def _findings(text: str, assumptions: list[str], seconds: float) -> list[dict[str, Any]]:
    job = {"texts": [{"id": "text", "text": text}], "assumptions": assumptions, "time_s": seconds}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "apps.mathcheck"],
            input=json.dumps(job),
            capture_output=True,
            encoding="utf-8",
            timeout=WALL_FACTOR * seconds + START_UP_SECONDS,
            cwd=settings.BASE_DIR,
            check=True,
        )
    except subprocess.TimeoutExpired as error:
        waited = WALL_FACTOR * seconds + START_UP_SECONDS
        raise CommandError(
            f"The check was stopped after {waited:g} seconds, so there are no findings. Try again when this machine does less, "
            "with a larger --seconds, or with a part of the file."
        ) from error
    except subprocess.CalledProcessError as error:
        raise CommandError(f"The check failed: {error.stderr.strip()[-500:]}") from error
    findings: list[dict[str, Any]] = json.loads(done.stdout)["findings"]
    return findings


def _ask_kernel(text: str, assumptions: list[str], findings: list[dict[str, Any]], folder: Path | None) -> None:
    """Add Coq's answer to each finding that is not refuted, as `kernel`; write the checked files into `folder`."""
    asked = [finding for finding in findings if finding["outcome"] in ("proved", "survived", "not_understood")]
    places = [{"text_id": "text", "start": one["anchor"]["start"], "end": one["anchor"]["end"]} for one in asked]
    job = {"tool": "coq", "program": settings.COQ_BIN, "parts": [["text", text]], "assumptions": assumptions, "places": places}
    command = [sys.executable, "-m", "apps.mathcheck.kernel"]
    done = subprocess.run(
        command, input=json.dumps(job), capture_output=True, encoding="utf-8", cwd=settings.BASE_DIR, check=False
    )
    if done.returncode != 0:
        raise CommandError(f"Coq could not be asked: {done.stderr.strip()[-500:]}")
    for number, (finding, result) in enumerate(zip(asked, json.loads(done.stdout)["results"], strict=True), 1):
        finding["kernel"] = result
        if folder is not None and result["file"]:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{number:03}_{result['file_name']}").write_text(result["file"], encoding="utf-8")


def _kernel_table(text: str, findings: list[dict[str, Any]]) -> Table:
    table = Table("line", "Coq", "formula", "statement or reason", show_lines=True)
    for finding in findings:
        if result := finding.get("kernel"):
            line = text.count("\n", 0, finding["anchor"]["start"]) + 1
            said = " ".join(finding["anchor"]["quote"].split())
            shown = result["statement"] if result["outcome"] == "checked" else result["reason"]
            word = f"{result['tool']} {result['version']}: {result['outcome'].replace('_', ' ')}"
            table.add_row(str(line), word, _plain(said), _plain(shown))
    return table


def _table(text: str, findings: list[dict[str, Any]]) -> Table:
    table = Table("line", "outcome", "kind", "formula", "what was found", show_lines=False)
    for finding in findings:
        line = text.count("\n", 0, finding["anchor"]["start"]) + 1
        quote = " ".join(finding["anchor"]["quote"].split())
        outcome = finding["outcome"].replace("_", " ")
        table.add_row(
            str(line), f"[{STYLES[finding['outcome']]}]{outcome}[/]", finding["kind"], _plain(quote), _plain(_found(finding))
        )
    return table


def _plain(words: str) -> str:
    """Escape brackets, which Rich reads as markup."""
    return words.replace("[", r"\[")


def _found(finding: dict[str, Any]) -> str:
    if finding["outcome"] in ("not_understood", "stopped"):
        return str(finding["reason"])
    if finding["outcome"] == "proved":
        proof = finding["certificate"]
        return f"{proof['method']}{', where ' + proof['where'] if proof['where'] else ''}: {'; '.join(proof['steps'])}"
    if finding["outcome"] == "survived":
        return f"{finding['tests']} test{'s' if finding['tests'] != 1 else ''}: {finding['tried']}"
    example = finding["counterexample"]
    point = ", ".join(f"{name} = {value}" for name, value in example["values"].items())
    sides = f"{example['left']} against {example['right']}"
    return f"at {point}: {sides}" if point else sides


def _summary(findings: list[dict[str, Any]]) -> str:
    count = {outcome: sum(finding["outcome"] == outcome for finding in findings) for outcome in STYLES}
    summary = (
        f"{count['proved']} proved · {count['refuted']} refuted · "
        f"{count['survived']} survived their tests (which proves nothing) · {count['not_understood']} not understood"
    )
    return summary if not count["stopped"] else f"{summary} · {count['stopped']} stopped by the last guard; --seconds moves it"
