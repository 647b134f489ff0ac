"""A marker's work on one script, as one value. The rules of sealing are in `sealing`, changes in `commands`.

A sheet holds judgements only; its points are computed (`sheet_points`) from the ticks, or typed where nothing is ticked.
"""

from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from apps.reasoning.domain.values import Value
from apps.reasoning.marking.schemes.scheme import Code, Points
from apps.reasoning.marking.sheets.pages import Region
from apps.reasoning.texts.anchors import Anchor

NOTES_AT_MOST = 200
WORDS_LENGTH = 4_000
REASON_LENGTH = 500


class Band(StrEnum):
    """Is this essentially a solution? Chosen before any points."""

    SOLUTION = "solution"  # 7−
    BEGINNING = "beginning"  # 0+


class Fallacy(StrEnum):
    """The type of an error in a step: the seven fallacies of RefGrader (App. B), and further types in people's proofs."""

    EXAMPLE = "proof-by-example"
    UNVERIFIED = "proposal-without-verification"
    INVENTED = "inventing-wrong-facts"
    CIRCULAR = "begging-the-question"
    TRIAL = "solution-by-trial-and-error"
    CALCULATION = "calculation-mistakes"
    CONCLUSION = "wrong-logical-conclusion"
    GAP = "gap"
    CASE = "missing-case"
    UNCLEAR = "unclear"


class Role(StrEnum):
    """How an error relates to others. A consequence is not counted again; a harmless error changes nothing."""

    ROOT = "root"
    CONSEQUENCE = "consequence"
    INDEPENDENT = "independent"
    HARMLESS = "harmless"


class StepVerdict(Value):
    """An error in a step or on a page. `root` names the verdict that this one follows from; `items` the codes that it is
    evidence for. `region`: its place on the page.

    `origin`: who found and worded it, where the marker took over a suggestion of a model or of a program.
    """

    id: Annotated[str, Field(min_length=1, max_length=36)]
    step: Annotated[int, Field(ge=1)]
    anchor: Anchor | None = None
    region: Region | None = None
    fallacy: Fallacy
    role: Role = Role.INDEPENDENT
    root: Annotated[str, Field(max_length=36)] = ""
    words: Annotated[str, Field(max_length=WORDS_LENGTH)] = ""
    items: tuple[Code, ...] = ()
    origin: Literal["", "model", "program"] = ""


class Comment(Value):
    """Words at a step or page, or about the whole script where `step` is 0. `audience`: students read it, or markers only."""

    id: Annotated[str, Field(min_length=1, max_length=36)]
    step: Annotated[int, Field(ge=0)] = 0
    anchor: Anchor | None = None
    region: Region | None = None
    words: Annotated[str, Field(max_length=WORDS_LENGTH)]
    audience: Literal["student", "markers"] = "student"
    items: tuple[Code, ...] = ()


class MarkSheet(Value):
    """A marker's whole judgement of one script.

    `places`: the step or page at which an item was ticked, which is evidence for it. `typed`: points without ticks, or instead
    of what the ticks give, which then needs `reason`. `granted`: steps taken as given, so that what follows can be judged.
    `approach`: empty, or what is new about it.
    """

    band: Band | None = None
    ticks: frozenset[Code] = frozenset()
    places: dict[Code, Annotated[int, Field(ge=1)]] = {}
    is_mixed: bool = False
    typed: Points | None = None
    reason: Annotated[str, Field(max_length=REASON_LENGTH)] = ""
    verdicts: Annotated[tuple[StepVerdict, ...], Field(max_length=NOTES_AT_MOST)] = ()
    comments: Annotated[tuple[Comment, ...], Field(max_length=NOTES_AT_MOST)] = ()
    granted: frozenset[int] = frozenset()
    approach: Annotated[str, Field(max_length=REASON_LENGTH)] = ""

    def with_ticks(self, ticks: frozenset[str], **changes: Any) -> Self:
        """The sheet with these ticks only; a place goes with its tick."""
        places = {code: step for code, step in self.places.items() if code in ticks}
        return self.model_copy(update={"ticks": ticks, "places": places, **changes})

    @property
    def first_error(self) -> int | None:
        """The first step with an error that matters: derived, never typed."""
        return min((verdict.step for verdict in self.verdicts if verdict.role is not Role.HARMLESS), default=None)


class SheetPoints(Value):
    """The points of a sheet. `computed` is None if nothing is ticked; `points` is None if the sheet has no judgement."""

    points: Decimal | None
    computed: Decimal | None
    derivation: str = ""
