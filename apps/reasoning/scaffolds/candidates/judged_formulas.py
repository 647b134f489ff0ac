"""Marks of the formula check in the prompts of judges of candidates: each candidate is checked once, before its first judge."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from apps.reasoning.domain.generation import Place
from apps.reasoning.scaffolds.candidates.candidate import Candidate
from apps.reasoning.scaffolds.running.checking_first import Formulas, formulas_of, marks_of, step_parts

if TYPE_CHECKING:
    from apps.reasoning.scaffolds.candidates.desk import Desk


@dataclass
class JudgedFormulas:
    """The checked candidates of a run. `shown` is the option `verifier_marks`: without it nothing is checked here."""

    shown: bool = False
    found: dict[str, Formulas] = field(default_factory=dict)
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def marks(self, desk: "Desk", candidate: Candidate) -> str:
        """The marks in words, for the end of a judge's prompt; "" without the option, and if nothing is marked."""
        return await self.marks_of(desk, {"": candidate})

    async def marks_of(self, desk: "Desk", candidates: Mapping[str, Candidate]) -> str:
        """The same of several candidates, each under its heading."""
        if not self.shown:
            return ""
        return marks_of({name: await self._formulas(desk, one) for name, one in candidates.items()}, desk.content)

    async def _formulas(self, desk: "Desk", candidate: Candidate) -> Formulas:
        async with self._asking:
            if candidate.id not in self.found:
                place = Place(round=candidate.round, subject=f"candidate {candidate.id}")
                key, context = f"formulas/{candidate.id}", desk.problem.statement
                parts = step_parts(candidate.steps)
                self.found[candidate.id] = await formulas_of(desk.ctx, key, parts, context=context, place=place)
        return self.found[candidate.id]
