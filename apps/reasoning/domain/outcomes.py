"""How a scaffold run ended."""

from typing import Literal

from apps.reasoning.domain.values import Value


class Outcome(Value):
    """The result of a run. `accepted` is None if no proof was judged; `proof` is the id of the selected version.

    `reason` is a sentence for the page: why the proof was accepted or not, or what could not be read.
    """

    accepted: bool | None
    proof: str = ""
    reason: str
    ended_by: Literal["accepted", "exhausted", "nothing-readable", "budget", "written-up"] = "exhausted"
