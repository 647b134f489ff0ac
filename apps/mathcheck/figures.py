"""The verifier's figures on its corpus: `python -m apps.mathcheck.figures [--each] [FOLDER]`.

A corpus file is TOML with two lists of texts, `true` and `false`. « » mark the tested formula of a text.
"""

import sys
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

from apps.mathcheck.checking import check_text, warm
from apps.mathcheck.findings import NOT_UNDERSTOOD, REFUTED, SURVIVED, Finding

CORPUS = Path(__file__).resolve().parents[2] / "tests" / "mathcheck" / "corpus"


@dataclass(frozen=True, slots=True)
class Case:
    """A text of the corpus: whether its marked formula is true, its outcome, and true formulas that were refuted."""

    topic: str
    text: str
    true: bool
    outcome: str
    reason: str
    wrongly_refuted: tuple[str, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Figures:
    """Shares over a corpus, each 0 to 1."""

    true: int
    false: int
    refuted_of_true: int
    recall: float
    understood: float
    understood_of_false: float
    slowest: float


def cases(folder: Path = CORPUS) -> list[Case]:
    """Every text of every file, checked."""
    warm()
    found = []
    for path in sorted(folder.glob("*.toml")):
        corpus = tomllib.loads(path.read_text(encoding="utf-8"))
        for true in (True, False):
            found += [_case(path.stem, text, true) for text in corpus["true" if true else "false"]]
    return found


def _case(topic: str, marked: str, true: bool) -> Case:
    start, end = marked.index("«"), marked.index("»") - 1
    text = marked.replace("«", "").replace("»", "")
    began = time.perf_counter()
    findings = check_text(text)
    seconds = time.perf_counter() - began
    inside = [finding for finding in findings if finding.anchor.start < end and finding.anchor.end > start]
    outside = [finding for finding in findings if finding not in inside]
    blamed = [*outside, *(inside if true else [])]
    wrong = tuple(finding.anchor.quote for finding in blamed if finding.outcome == REFUTED)
    reason = next((finding.reason for finding in inside if finding.reason), "")
    return Case(topic, marked, true, _outcome(inside), reason, wrong, seconds)


def _outcome(findings: list[Finding]) -> str:
    outcomes = {finding.outcome for finding in findings}
    if REFUTED in outcomes:
        return REFUTED
    return SURVIVED if outcomes == {SURVIVED} else NOT_UNDERSTOOD


def figures(found: list[Case]) -> Figures:
    """The figures of the checked cases."""
    true, false = [case for case in found if case.true], [case for case in found if not case.true]
    read = [case for case in false if case.outcome != NOT_UNDERSTOOD]
    return Figures(
        true=len(true),
        false=len(false),
        refuted_of_true=sum(len(case.wrongly_refuted) for case in found),
        recall=sum(case.outcome == REFUTED for case in read) / max(len(read), 1),
        understood=sum(case.outcome != NOT_UNDERSTOOD for case in found) / max(len(found), 1),
        understood_of_false=len(read) / max(len(false), 1),
        slowest=max((case.seconds for case in found), default=0.0),
    )


def main(arguments: list[str]) -> None:
    """Print the figures; with --each also every case with a wrong outcome."""
    folders = [Path(argument) for argument in arguments if not argument.startswith("--")]
    found = cases(folders[0] if folders else CORPUS)
    result = figures(found)
    write = sys.stdout.write
    write(f"true {result.true} · false {result.false}\n")
    write(f"refuted although true  {result.refuted_of_true}\n")
    write(f"recall on false, among those understood  {result.recall:.3f}\n")
    write(f"understood  {result.understood:.3f} (of the false {result.understood_of_false:.3f})\n")
    write(f"slowest text  {result.slowest:.2f} s\n")
    if "--each" in arguments:
        for case in found:
            if case.wrongly_refuted or case.outcome != (SURVIVED if case.true else REFUTED):
                side = "true" if case.true else "false"
                write(f"{case.topic}, {side}: {case.text}\n    {case.outcome} {case.reason} {case.wrongly_refuted or ''}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
