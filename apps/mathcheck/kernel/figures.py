"""How many formulas that our provers proved a kernel confirms: `python -m apps.mathcheck.kernel.figures [--each] [FOLDER …]`.

False formulas of the corpus are asked as well, proved or not: none may be checked.
"""

import os
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from apps.mathcheck.checking import check_text, warm
from apps.mathcheck.figures import CORPUS
from apps.mathcheck.findings import PROVED
from apps.mathcheck.kernel.checker import KernelChecker, KernelResult
from apps.mathcheck.kernel.coq_checker import CoqChecker
from apps.mathcheck.kernel.reading import Place, Read, check_read, claim_at, claims_of


@dataclass(frozen=True, slots=True)
class Asked:
    """A formula of the corpus as a claim, and whether its text is of the true ones."""

    text: str
    true: bool
    method: str
    read: Read | None


def asked_in(folder: Path) -> Iterator[Asked]:
    """Yield the marked formulas: of true texts those that were proved, of false texts all."""
    for path in sorted(folder.glob("*.toml")):
        corpus = tomllib.loads(path.read_text(encoding="utf-8"))
        for true in (True, False):
            for marked in corpus["true" if true else "false"]:
                yield from _of_text(marked, true)


def _of_text(marked: str, true: bool) -> Iterator[Asked]:
    start, end = marked.index("«"), marked.index("»") - 1
    text = marked.replace("«", "").replace("»", "")
    inside = [one for one in check_text(text) if one.anchor.start < end and one.anchor.end > start]
    claims = claims_of([("text", text)])
    for one in inside if true else []:
        if one.outcome == PROVED and one.certificate is not None:
            yield Asked(marked, True, one.certificate.method, claim_at(Place("text", one.anchor.start, one.anchor.end), claims))
    if not true:
        links = [claim_at(Place("text", one.anchor.start, one.anchor.end), claims) for one in inside]
        # A false chain has true links. It would count as checked only if all its links were.
        if links and all(one is not None and one.theorems for one in links):
            yield from (Asked(marked, False, f"{len(links)} links", one) for one in links)


def answers(asked: list[Asked], checker: KernelChecker) -> list[KernelResult]:
    """The answers in order, from as many processes as there are processors."""

    def answer(one: Asked) -> KernelResult:
        missing = KernelResult("not_expressible", checker.tool, reason="the claim is made in words")
        return missing if one.read is None else check_read(one.read, checker)

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return list(pool.map(answer, asked))


def wrongly_checked(asked: list[Asked], found: list[KernelResult]) -> set[str]:
    """The texts whose false formula has only checked links."""
    false = {one.text for one in asked if not one.true}
    return false - {one.text for one, result in zip(asked, found, strict=True) if result.outcome != "checked"}


def main(arguments: list[str]) -> None:
    """Print the figures; with --each also every answer that is not as it should be."""
    folders = [Path(one) for one in arguments if not one.startswith("--")] or [CORPUS]
    checker, write = CoqChecker(), sys.stdout.write
    warm()
    asked = [one for folder in folders for one in asked_in(folder)]
    found = answers(asked, checker)
    write(f"{checker.tool} {checker.version() or 'is absent'}\n")
    for true in (True, False):
        count = Counter(result.outcome for one, result in zip(asked, found, strict=True) if one.true is true)
        shown = " · ".join(f"{outcome} {number}" for outcome, number in count.most_common())
        write(f"{'proved by us' if true else 'links of false formulas'}  {count.total()}: {shown}\n")
    write(f"false formulas checked with all their links  {len(wrongly_checked(asked, found))}\n")
    write(f"processor time  {sum(result.cpu_s for result in found):.0f} s\n")
    if "--each" in arguments:
        for one, result in zip(asked, found, strict=True):
            if (result.outcome == "checked") is not one.true:
                write(f"{one.text}\n    {one.method}: {result.outcome} {result.reason}\n    {result.statement}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
