"""Labels: what a careful person reads in an answer, made by hand before any reader saw it (`labels.jsonl`).

Each has the `id` of its answer, the `role` that it was given in, and one of
* `value`: what is to be read, in the form of `values.py`;
* `text`: the solution or state that is to be read. It goes from `begins` to `ends` at least, and has nothing of `without`.
  `is_whole`: it is no fragment, so that losing it loses a proof; `answer`: which of the two answers has it;
* `nothing`: why nothing is to be read: an echo, a refusal, a contradiction;
* `babble`: it has words of its own and no solution. Handed on or not, nothing is lost and nothing is misread: not counted.
Two marks take an answer out of the count, unless it is read as labelled; they were set later, with the readers at hand:
* `near_copy`: the given solution with a few other words was handed in, which may be read or asked for once more;
* `older_question`: the second question has other words today, so a copy of its form is no copy of today's form.
"""

import json
import re
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from apps.reasoning.domain.values import Value

LABELS = Path(__file__).with_name("labels.jsonl")
Verdict = Literal["equal", "unread", "wrong", "either"]
_MARKS = re.compile(r"[\s*#`]+")


class Extent(Value):
    """A text by its first and last words, and words of others that it must not have."""

    begins: str
    ends: str
    without: tuple[str, ...] = ()

    def fits(self, text: str) -> bool:
        """Is this text within `text`, and nothing of others? White space and marks of Markdown do not count."""
        plain, begins, ends = (_MARKS.sub("", one) for one in (text, self.begins, self.ends))
        start, end = plain.find(begins), plain.rfind(ends)
        return 0 <= start <= end and not any(_MARKS.sub("", other) in plain for other in self.without)


class Right(Value):
    """What is to be read in an answer. Exactly one of `value`, `text`, `nothing` and `babble` is given."""

    value: dict[str, Any] | None = None
    text: Extent | None = None
    nothing: str = ""
    babble: bool = False

    def verdict(self, read: dict[str, Any] | None) -> Verdict:
        """What becomes of the answer where a reader finds `read` in it; None: nothing."""
        if self.babble:
            return "either"
        if self.nothing:
            return "equal" if read is None else "wrong"
        if read is None:
            return "unread"
        if self.text is not None:
            return "equal" if self.text.fits(str(read.get("text", ""))) else "wrong"
        return "equal" if read == self.value else "wrong"


class Label(Right):
    """The same with the answer that it is about, and who read it."""

    id: str
    role: str
    by: Literal["hand"]
    is_whole: bool = False
    answer: int = Field(default=1, ge=1, le=2)
    near_copy: bool = False
    older_question: bool = False
    note: str = ""

    @property
    def is_fragment(self) -> bool:
        """Is it a text that was cut off, so that asking for it once more loses nothing?"""
        return self.text is not None and not self.is_whole

    @property
    def first_is_whole(self) -> bool:
        """Does the first answer hold a whole proof?"""
        return self.is_whole and self.answer == 1


def labels_read(path: Path = LABELS) -> dict[str, Label]:
    """The labels by the id of their answer."""
    found = [Label.model_validate(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    return {one.id: one for one in found}
