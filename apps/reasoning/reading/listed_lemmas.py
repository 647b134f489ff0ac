"""Lemmas in Markdown: under headings (`## Lemma 1`, `**Lemma 2.** …`), or as a numbered list of results with their proofs.

Strict in structure: every lemma has one number, one statement and one line that begins its proof. Other lemmas are reported. If
it is unclear which text belongs to which lemma, the whole answer is unread.
"""

import re
import textwrap
from collections.abc import Iterator
from typing import NamedTuple

from apps.reasoning.domain.values import Unscored

#: A block ```geometry is kept: it is part of a lemma (docs/geometry.md).
_FENCE = re.compile(
    r"(?P<kept>^[ \t]*```geometry[ \t]*$[^`]*^[ \t]*```[ \t]*$)"
    r"|<<<CONTENT (?P<mark>\w{4,64})>>>.*?(?:<<<END (?P=mark)>>>|\Z)|^[ \t]*```[a-z]*[ \t]*$",
    re.DOTALL | re.MULTILINE,
)
_KINDS = r"(?:Lemma|Result|Theorem|Proposition|Corollary|Claim)"
_NAMED = re.compile(
    rf"^[ \t]*(?P<marks>(?:#{{1,6}}[ \t]*|[-*+][ \t]+)?(?:\*\*|__)?)[ \t]*{_KINDS}[ \t]+"
    r"(?P<number>\d{1,6}(?:-fixed\d*)?)[ \t]*"
    r"(?:\([^()\n]{0,200}\))?[ \t]*(?:(?P<stop>[.:)])[ \t]*(?:\*\*|__)?|(?:\*\*|__)[ \t]*[.:]?|$)",
    re.IGNORECASE | re.MULTILINE,
)
_RESULTS = re.compile(
    r"^[ \t]*(?P<level>#{1,6})[ \t]*\**(?:\d+[.)][ \t]*)?(?:new[ \t]+|proved[ \t]+)?(?:results?|lemmas?)\**[ \t]*[.:]?"
    r"\**[ \t]*$"
    r"|^[ \t]*\*\*(?:new[ \t]+|proved[ \t]+)?(?:results?|lemmas?)[.:]?\*\*[.:]?[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_HEADING = re.compile(r"^[ \t]*(#{1,6})(?!#)[ \t]*([^\n]*)$", re.MULTILINE)
_ITEM = re.compile(r"^(\d{1,3})[.)][ \t]+", re.MULTILINE)
_PROOF = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]*|[-*+][ \t]+)?(?:\*\*|__|\*|_)?Proof(?:[ \t]+of[ \t]+\w+[ \t]+\d+|[ \t]+\d+)?"
    r"(?:[ \t]*[.:][ \t]*(?:\*\*|__|\*|_)?|(?:\*\*|__|\*|_)[ \t]*[.:]?|[ \t]*$)",
    re.IGNORECASE | re.MULTILINE,
)
_LABEL = re.compile(r"\A[\s*_]*(?:claim|statement|result|lemma|theorem)\b[ \t]*[*_]*[ \t]*[.:][ \t]*[*_]*", re.IGNORECASE)
_BULLET = re.compile(r"^(?:[-*+]|\d{1,3}[.)]|\**Step[ \t]+\d{1,3}[ \t]*[.:)]\**)[ \t]+", re.IGNORECASE | re.MULTILINE)
_PARAGRAPHS = re.compile(r"\n\s*\n")
_SAYS = re.compile(r"\w\W+\w")
UNCLEAR = Unscored(reason="it is not clear which text belongs to which lemma")


class Listed(NamedTuple):
    """One lemma as it was written; `proofs` are the texts after lines that begin a proof."""

    number: str
    statement: str
    proofs: tuple[str, ...]

    @property
    def steps(self) -> list[str]:
        """The list items of the proof, or its paragraphs."""
        return [step for proof in self.proofs for step in _steps(proof)]


def listed_lemmas(answer: str) -> list[Listed] | Unscored:
    """The lemmas of a text in Markdown, in order; none if it proves none. `UNCLEAR` if its structure is unclear.

    Text inside the fences of a prompt is left out: it is copied.
    """
    text = _FENCE.sub(lambda found: found["kept"] or "", answer)
    if named := [match for match in _NAMED.finditer(text) if _is_head(text, match)]:
        found = [_listed(match["number"], body) for match, body in _bodies(text, named)]
    else:
        found = [_listed(number, _LABEL.sub("", body)) for number, body in _results(text)]
    numbers = [one.number.lower() for one in found]
    if len(set(numbers)) < len(numbers) or any(len(one.proofs) > 1 for one in found):
        return UNCLEAR
    return found if any(one.proofs for one in found) else []


def _is_head(text: str, match: re.Match[str]) -> bool:
    """Is it a heading, or does it begin a paragraph in bold, as a list item or with a full stop?"""
    if match["marks"]:
        return True
    before = text[: match.start()].rstrip(" \t")
    return bool(match["stop"]) and (not before.strip() or before.endswith("\n\n"))


def _bodies(text: str, heads: list[re.Match[str]]) -> Iterator[tuple[re.Match[str], str]]:
    """The text under each head, up to the next head or to another heading that begins no proof."""
    ends = [*(match.start() for match in heads[1:]), len(text)]
    for match, end in zip(heads, ends, strict=True):
        others = (one.start() for one in _HEADING.finditer(text, match.end(), end) if not _PROOF.match(one[0]))
        yield match, text[match.end() : next(others, end)]


def _results(text: str) -> list[tuple[str, str]]:
    """The items of the one numbered list under a heading "Results", which must count from 1; none where it does not."""
    sections = list(_RESULTS.finditer(text))
    if len(sections) != 1:
        return []
    (head,) = sections
    depth = len(head["level"] or "")
    ends = (one.start() for one in _HEADING.finditer(text, head.end()) if len(one[1]) <= (depth or 6))
    section = textwrap.dedent(text[head.end() : next(ends, len(text))])
    items = list(_ITEM.finditer(section))
    numbers = [int(item[1]) for item in items]
    if not items or numbers != list(range(1, len(items) + 1)) or section[: items[0].start()].strip():
        return []
    bounds = [*(item.start() for item in items[1:]), len(section)]
    return [(item[1], section[item.end() : end]) for item, end in zip(items, bounds, strict=True)]


def _listed(number: str, body: str) -> Listed:
    proofs = list(_PROOF.finditer(body))
    bounds = [*(match.start() for match in proofs), len(body)]
    texts = tuple(body[match.end() : end] for match, end in zip(proofs, bounds[1:], strict=True))
    statement = body[: bounds[0]].strip().strip("*_").strip()
    return Listed(number, statement if _SAYS.search(statement) else "", texts)


def _steps(proof: str) -> list[str]:
    first, _, rest = proof.partition("\n")
    text = f"{first.strip()}\n{textwrap.dedent(rest)}".strip()
    if (bullets := list(_BULLET.finditer(text))) and not text[: bullets[0].start()].strip():
        bounds = [*(match.start() for match in bullets[1:]), len(text)]
        return [text[match.end() : end].strip() for match, end in zip(bullets, bounds, strict=True)]
    return [part.strip() for part in _PARAGRAPHS.split(text)]
