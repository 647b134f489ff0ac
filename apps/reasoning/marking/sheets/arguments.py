"""The arguments of the commands on a mark sheet; `commands` has the table of verbs."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from apps.reasoning.domain.values import Value
from apps.reasoning.marking.schemes.scheme import Points
from apps.reasoning.marking.sheets.pages import Region
from apps.reasoning.marking.sheets.sheet import REASON_LENGTH, WORDS_LENGTH, Band, Fallacy, Role

#: No database keeps a zero character, and no key needs other unseen ones.
_SEEN = r"^[^\x00-\x1f]*$"
Id = Annotated[str, Field(min_length=1, max_length=36, pattern=_SEEN)]
Reason = Annotated[str, Field(max_length=REASON_LENGTH)]
Words = Annotated[str, Field(max_length=WORDS_LENGTH)]


class Place(Value):
    """A selection in code points. Other fields of an anchor are accepted and ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    start: int
    end: int


class Nothing(Value):
    """No arguments."""


class BandArgs(Value):
    band: Band | None


class PointsArgs(Value):
    points: Points | None


class CodeArgs(Value):
    code: str


class TickArgs(Value):
    code: str
    step: int | None = None


class ClaimArgs(Value):
    line: Annotated[str, Field(max_length=2_000)]


class MixedArgs(Value):
    on: bool
    reason: Reason | None = None


class WordsArgs(Value):
    words: Reason


class VerdictArgs(Value):
    id: Id
    step: int
    fallacy: Fallacy
    role: Role = Role.INDEPENDENT
    root: Annotated[str, Field(max_length=36, pattern=_SEEN)] = ""
    anchor: Place | None = None
    region: Region | None = None
    words: Words = ""
    items: tuple[str, ...] = ()


class RoleArgs(Value):
    id: Id
    role: Role
    root: Annotated[str, Field(max_length=36, pattern=_SEEN)] = ""


class IdArgs(Value):
    id: Id


class CommentArgs(Value):
    id: Id
    step: int = 0
    words: Words
    anchor: Place | None = None
    region: Region | None = None
    audience: Literal["student", "markers"] = "student"
    items: tuple[str, ...] = ()


class GrantArgs(Value):
    step: int
    on: bool = True


class LinkArgs(Value):
    kind: Literal["verdict", "comment"]
    id: Id
    code: str
    on: bool = True
