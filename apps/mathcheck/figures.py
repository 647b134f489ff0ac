"""The verifier's figures on its corpus: `python -m apps.mathcheck.figures [--each] [FOLDER]`.

A corpus file is TOML with two lists of texts, `true` and `false`. « » mark the tested formula of a text.
"""

import sys
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

from apps.mathcheck.checking import check_text, warm
from apps.mathcheck.findings import NOT_UNDERSTOOD, PROVED, REFUTED, SURVIVED, Finding

_HERE = Path(__file__).resolve()
#: The corpus of the repository, or that of the installed package.
CORPUS = next(
    (folder for folder in (_HERE.parents[2] / "tests" / "mathcheck" / "corpus", _HERE.parent / "corpus") if folder.exists()),
    _HERE.parent,
)


@dataclass(frozen=True, slots=True)
class Case:
    """A text of the corpus: whether its marked formula is true, its outcome, and true formulas that were refuted.

    `seconds` are of processor time.
    """

    topic: str
    text: str
    true: bool
    outcome: str
    reason: str
    wrongly_refuted: tuple[str, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Figures:
    """Counts and shares (0 to 1) over a corpus.

    `proved`: share of the true formulas that survived or are proved. `refuted`: share of all false formulas.
    `recall`: share of the false formulas that were understood. Seconds are of processor time for a text.
    """

    true: int
    false: int
    refuted_of_true: int
    proved_of_false: int
    proved: float
    refuted: float
    recall: float
    understood: float
    understood_of_true: float
    understood_of_false: float
    median: float
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
    began = time.process_time()
    findings = check_text(text)
    seconds = time.process_time() - began
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
    if outcomes == {PROVED}:
        return PROVED
    return SURVIVED if outcomes and outcomes <= {SURVIVED, PROVED} else NOT_UNDERSTOOD


def figures(found: list[Case]) -> Figures:
    """The figures of the checked cases."""
    true, false = [case for case in found if case.true], [case for case in found if not case.true]
    read = [case for case in false if case.outcome != NOT_UNDERSTOOD]
    held = [case for case in true if case.outcome in (PROVED, SURVIVED)]
    times = sorted(case.seconds for case in found) or [0.0]
    return Figures(
        true=len(true),
        false=len(false),
        refuted_of_true=sum(len(case.wrongly_refuted) for case in found),
        proved_of_false=sum(case.outcome == PROVED for case in false),
        proved=sum(case.outcome == PROVED for case in held) / max(len(held), 1),
        refuted=sum(case.outcome == REFUTED for case in false) / max(len(false), 1),
        recall=sum(case.outcome == REFUTED for case in read) / max(len(read), 1),
        understood=sum(case.outcome != NOT_UNDERSTOOD for case in found) / max(len(found), 1),
        understood_of_true=sum(case.outcome != NOT_UNDERSTOOD for case in true) / max(len(true), 1),
        understood_of_false=len(read) / max(len(false), 1),
        median=times[len(times) // 2],
        slowest=times[-1],
    )


def main(arguments: list[str]) -> None:
    """Print the figures; with --each also every case with a wrong outcome."""
    folders = [Path(argument) for argument in arguments if not argument.startswith("--")]
    found = cases(folders[0] if folders else CORPUS)
    result = figures(found)
    write = sys.stdout.write
    write(f"true {result.true} · false {result.false}\n")
    write(f"refuted although true  {result.refuted_of_true}\n")
    write(f"proved although false  {result.proved_of_false}\n")
    write(f"proved, of the true that hold  {result.proved:.3f}\n")
    write(f"refuted, of the false  {result.refuted:.3f} (among those understood {result.recall:.3f})\n")
    understood = f"of the true {result.understood_of_true:.3f}, of the false {result.understood_of_false:.3f}"
    write(f"understood  {result.understood:.3f} ({understood})\n")
    for topic in sorted({case.topic for case in found} if len(folders) else ()):
        part = figures([case for case in found if case.topic == topic])
        write(f"  {topic}: understood of the true {part.understood_of_true:.3f}, refuted of the false {part.refuted:.3f}\n")
    write(f"processor time of a text: median {1000 * result.median:.0f} ms, slowest {result.slowest:.2f} s\n")
    if "--each" in arguments:
        for case in found:
            if case.wrongly_refuted or case.outcome != (PROVED if case.true else REFUTED):
                side = "true" if case.true else "false"
                write(f"{case.topic}, {side}: {case.text}\n    {case.outcome} {case.reason} {case.wrongly_refuted or ''}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
