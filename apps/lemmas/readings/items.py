"""What came of one formula that a model read."""

from typing import Literal

from apps.reasoning.domain.tools import MathFinding
from apps.reasoning.domain.values import Value

ItemState = Literal["counts", "different", "unsure", "unread"]


class ReadItem(Value):
    """A formula at its place, with the sentence that a model wrote for it.

    Only a reading with the state `counts` is tested; `finding` is the test's, on the sentence, or None if it said nothing.
    Otherwise `reason` says why it does not count.
    """

    text_id: str
    start: int
    end: int
    quote: str
    state: ItemState
    sentence: str = ""
    reason: str = ""
    finding: MathFinding | None = None

    @property
    def place(self) -> tuple[str, int, int]:
        return self.text_id, self.start, self.end
