"""A text in parts, such as a lemma's statement and the steps of its proof: one scope for all, a limit on time for each."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from workers.mathcheck.checking import Checker
from workers.mathcheck.findings import Anchor, Finding
from workers.mathcheck.texts import Formula, Sentence, sentences

_BETWEEN = "\n\n"
#: All groups together; the sandbox ends what takes longer than 20 s, and all findings with it.
TOTAL_S = 15.0

Part = tuple[str, str]
"""`(id, text)`."""


def check_groups(groups: Mapping[str, Sequence[Part]], context: str = "", seconds: float = 2.0) -> dict[str, list[Finding]]:
    """`check_parts` for several texts that know nothing of each other; each may use its share of what is left of `TOTAL_S`."""
    end = time.monotonic() + TOTAL_S
    found: dict[str, list[Finding]] = {}
    for done, (name, parts) in enumerate(groups.items()):
        share = max(0.0, end - time.monotonic()) / (len(groups) - done)
        found[name] = check_parts(parts, context, seconds, share)
    return found


def check_parts(parts: Sequence[Part], context: str = "", seconds: float = 2.0, total: float = TOTAL_S) -> list[Finding]:
    """Findings in the order of the parts; anchors count from the beginning of their part.

    What is declared, given or defined in `context` (the problem) or an earlier part holds in later ones; nothing in `context`
    is reported. What is left of a part after `seconds`, or of all after `total`, is not understood for want of time.
    """
    whole = (("", context), *parts)
    checker = Checker(_BETWEEN.join(text for _, text in whole), (), "", seconds)
    found: list[Finding] = []
    start, end = 0, time.monotonic() + total
    for name, text in whole:
        checker.outside = not name
        checker.deadline = min(time.monotonic() + seconds, end)
        told = [finding for sentence in _moved(text, start) for finding in checker.of_sentence(sentence)]
        told.sort(key=lambda finding: (finding.anchor.start, finding.anchor.end))
        found += [_placed(finding, name, start) for finding in told if name]
        start += len(text) + len(_BETWEEN)
    return found


def _moved(text: str, by: int) -> Iterator[Sentence]:
    """The sentences of a part at their places in the whole: a formula left open in one part ends with it."""
    for sentence in sentences(text):
        formulas = tuple(Formula(one.start + by, one.end + by, one.inner + by, one.tex) for one in sentence.formulas)
        yield Sentence(sentence.start + by, sentence.end + by, formulas)


def _placed(finding: Finding, name: str, start: int) -> Finding:
    anchor = Anchor(finding.anchor.start - start, finding.anchor.end - start, finding.anchor.quote)
    return replace(finding, text_id=name, anchor=anchor)
