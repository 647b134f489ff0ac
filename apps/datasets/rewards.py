"""Sources of the rewards in a dataset."""

from typing import Literal

Judge = Literal["verifiers", "answer"]
JUDGES: tuple[tuple[Judge, str], ...] = (
    ("verifiers", "share of passes or points from the run's own verifiers"),
    ("answer", "agreement of the final answer with the problem's answer"),
)
