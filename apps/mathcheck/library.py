"""The public interface of the package `mathcheck` (clients/mathcheck): `check`, and `python -m mathcheck FILE`."""

import argparse
import json
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from apps.mathcheck.checking import check_text
from apps.mathcheck.findings import NOT_UNDERSTOOD, PROVED, REFUTED, STOPPED, SURVIVED, Anchor, Counterexample, Finding
from apps.mathcheck.proving.certificate import Certificate

__all__ = ["Anchor", "Certificate", "Counterexample", "Finding", "check", "main"]

SIZE_LIMIT = 1_000_000
_WORDS = {
    PROVED: "proved",
    REFUTED: "refuted",
    SURVIVED: "survived their tests (which proves nothing)",
    NOT_UNDERSTOOD: "not understood",
    STOPPED: "stopped by the last guard on time",
}
_COMMENT = re.compile(r"(?<!\\)%[^\n]*")


def check(text: str, assume: Iterable[str] = ()) -> list[Finding]:
    """The findings on the formulas of a Markdown or LaTeX text, ordered by place.

    Anchors count code points of `text`. `assume` has assumptions in words: "a, b are positive integers". A document with
    `\\begin{document}` is read from there; its comments are skipped.
    """
    found = check_text(_blanked(text), list(assume))
    return [_quoted(finding, text) for finding in found]


def _blanked(text: str) -> str:
    """A LaTeX document with spaces for its preamble and comments, so that places stay the same."""
    begin = text.find(r"\begin{document}")
    if begin < 0:
        return text
    start = begin + len(r"\begin{document}")
    end = text.find(r"\end{document}", start)
    body = _COMMENT.sub(lambda found: " " * len(found[0]), text[start : end if end >= 0 else len(text)])
    return re.sub(r"[^\n]", " ", text[:start]) + body


def _quoted(finding: Finding, text: str) -> Finding:
    start, end = finding.anchor.start, finding.anchor.end
    if finding.anchor.quote == text[start:end]:
        return finding
    as_written = {"anchor": Anchor(start, end, text[start:end])}
    return Finding(**{**{key: getattr(finding, key) for key in Finding.__slots__}, **as_written})


def main(arguments: Sequence[str] | None = None) -> int:
    """Check a file and print what was found. Returns 1 if a formula is refuted, 2 if the file cannot be read."""
    parser = argparse.ArgumentParser(prog="python -m mathcheck", description="Check the formulas of a proof without a model.")
    parser.add_argument("file", nargs="?", default="-", help="a Markdown or LaTeX file; without it, the standard input")
    parser.add_argument("--assume", action="append", default=[], metavar="WORDS", help='such as "a, b are positive integers"')
    parser.add_argument("--json", action="store_true", help="print all findings as JSON")
    parser.add_argument("--all", action="store_true", help="also show formulas that were not understood")
    chosen = parser.parse_args(arguments)
    try:
        text = sys.stdin.read(SIZE_LIMIT + 1) if chosen.file == "-" else Path(chosen.file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        sys.stderr.write(f"{chosen.file} cannot be read: {error}\n")
        return 2
    if len(text) > SIZE_LIMIT:
        sys.stderr.write(f"{chosen.file} is longer than {SIZE_LIMIT:,} characters.\n")
        return 2
    findings = check(text, chosen.assume)
    if chosen.json:
        sys.stdout.write(json.dumps([finding.as_json() for finding in findings], ensure_ascii=False, indent=2) + "\n")
    else:
        _print(text, [one for one in findings if chosen.all or one.outcome != NOT_UNDERSTOOD])
        counts = ((sum(one.outcome == outcome for one in findings), words) for outcome, words in _WORDS.items())
        sys.stdout.write(" · ".join(f"{count} {words}" for count, words in counts) + "\n")
    return int(any(finding.outcome == REFUTED for finding in findings))


def _print(text: str, findings: Sequence[Finding]) -> None:
    rows = [("line", "outcome", "formula", "what was found")]
    for finding in findings:
        line, quote = text.count("\n", 0, finding.anchor.start) + 1, " ".join(finding.anchor.quote.split())
        rows.append((str(line), finding.outcome.replace("_", " "), quote, _found(finding)))
    widths = [min(40, max(len(row[column]) for row in rows)) for column in range(3)]
    for row in rows:
        padded = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False))
        sys.stdout.write(f"{padded}  {row[3]}".rstrip() + "\n")


def _found(finding: Finding) -> str:
    if finding.certificate is not None:
        proof = finding.certificate
        return f"{proof.method}{', where ' + proof.where if proof.where else ''}: {'; '.join(proof.steps)}"
    if finding.counterexample is not None:
        example = finding.counterexample
        point = ", ".join(f"{name} = {value}" for name, value in example.values.items())
        return f"{f'at {point}: ' if point else ''}{example.left} against {example.right}"
    return finding.reason or f"{finding.tests} tests: {finding.tried}"
