"""Checks a text in parts, such as a lemma's statement and the steps of its proof: one scope, a limit on work for each part."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from apps.mathcheck.checking import Checker, in_order
from apps.mathcheck.findings import Anchor, Finding
from apps.mathcheck.testing.alarm import PER_TEXT_S
from apps.mathcheck.testing.work import ONE_AT_A_TIME, PER_GROUP, PER_PART, allowance
from apps.mathcheck.words.texts import Formula, Sentence, sentences

BETWEEN = "\n\n"

Part = tuple[str, str]
"""`(id, text)`."""


def check_groups(
    groups: Mapping[str, Sequence[Part]], context: str = "", seconds: float = PER_TEXT_S
) -> dict[str, list[Finding]]:
    """`check_parts` for several independent texts: the findings of each do not depend on the others."""
    return {name: check_parts(parts, context, seconds) for name, parts in groups.items()}


def check_parts(parts: Sequence[Part], context: str = "", seconds: float = PER_TEXT_S) -> list[Finding]:
    """Findings in the order of the parts; anchors count from the beginning of their part.

    Declarations, conditions and definitions in `context` (the problem) or an earlier part hold in later parts. `context` itself
    gets no findings. Claims left when the work of a part or of all parts is used up are not understood. Claims left after
    `seconds` of processor time, the last guard, are stopped.
    """
    whole = (("", context), *parts)
    found: list[Finding] = []
    start = 0
    with ONE_AT_A_TIME:
        checker = Checker(BETWEEN.join(text for _, text in whole), (), "", seconds)
        with allowance(PER_GROUP):
            for name, text in whole:
                checker.outside = not name
                with allowance(PER_PART):
                    new = in_order(finding for sentence in moved(text, start) for finding in checker.of_sentence(sentence))
                found += [_placed(finding, name, start) for finding in new if name]
                start += len(text) + len(BETWEEN)
    return found


def moved(text: str, by: int) -> Iterator[Sentence]:
    """The sentences of a part at their places in the whole. An unclosed formula of a part ends with the part."""
    for sentence in sentences(text):
        formulas = tuple(Formula(one.start + by, one.end + by, one.inner + by, one.tex) for one in sentence.formulas)
        yield Sentence(sentence.start + by, sentence.end + by, formulas)


def _placed(finding: Finding, name: str, start: int) -> Finding:
    anchor = Anchor(finding.anchor.start - start, finding.anchor.end - start, finding.anchor.quote)
    return replace(finding, text_id=name, anchor=anchor)
