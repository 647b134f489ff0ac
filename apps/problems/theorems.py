"""Extract lemmas from reference solutions and search them for models that request a theorem.

A search excludes the solutions of its own problem and all solutions that are held back from any user.
"""

import re
from collections.abc import Iterator

from apps.problems.holding import Text, held_back
from apps.problems.models import Problem
from apps.problems.theorem_index import Stated, TheoremIndex
from apps.reasoning.domain.tools import SearchHit, SearchJob
from apps.reasoning.reading.turns.actions import THEOREMS

_SHORTEST, _LONGEST = 15, 1_200
_KINDS = "Lemma|Claim|Theorem|Proposition|Corollary|Fact"
_ENVIRONMENT = re.compile(rf"\\begin\{{({_KINDS})\}}(?:\[([^\]]{{1,80}})\])?(.*?)\\end\{{\1\}}", re.DOTALL | re.IGNORECASE)
_EMPHASIS = re.compile(r"\*\*|__|\\(?:textbf|textit|emph)\{([^{}]*)\}")
_NAMED = re.compile(
    rf"^[#\t ]*({_KINDS})\b[ \t]*([0-9.]*[0-9]|[A-Z]\b)?[ \t]*(?:\(([^)\n]{{1,80}})\))?[ \t]*[.:—-][ \t]*"
    r"(.*?)(?=\n[ \t]*\n|\n[ \t*_]*Proof\b|\Z)",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
_WORD = re.compile(r"\w+")


def lemmas_in(text: str) -> Iterator[Stated]:
    """Statements of lemmas, claims, theorems, propositions, corollaries and facts in a solution, without proofs."""
    rest = text
    for found in _ENVIRONMENT.finditer(text):
        yield from _stated((found[1].capitalize(), f"({found[2]})" if found[2] else ""), found[3])
        rest = rest.replace(found[0], "")
    for found in _NAMED.finditer(_EMPHASIS.sub(r"\1", rest)):
        yield from _stated((found[1].capitalize(), found[2], f"({found[3]})" if found[3] else ""), found[4])


def theorem_search(job: SearchJob, *, without: Problem) -> list[SearchHit]:
    """The best lemmas by BM25 over names and statements, except those of `without` and of held-back problems."""
    words = dict.fromkeys(word.lower() for word in _WORD.findall(job.query) if len(word) > 2)
    if not words:
        return []
    held = Problem.objects.filter(held_back(Text.SOLUTIONS, None)).values_list("pk", flat=True)
    found = _INDEX.search(words, without={without.pk, *held}, top=job.top)
    return [SearchHit(library=THEOREMS, name=name, text=statement, score=-rank) for name, statement, rank in found]


def _stated(name: tuple[str | None, ...], statement: str) -> Iterator[Stated]:
    plain = " ".join(statement.split())
    if len(plain) > _SHORTEST:
        yield Stated(" ".join(part for part in name if part), plain[:_LONGEST])


_INDEX = TheoremIndex(lemmas_in)
